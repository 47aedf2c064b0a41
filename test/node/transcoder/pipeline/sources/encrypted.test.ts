// In charge of: whole attempts at sources that are fully encrypted, or in a track that is not used, in every container.
// Not in charge of: keys of HLS playlists (test/worker/taskApi/hlsSource/playlistReader.test.ts).
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const run = promisify(execFile)
const fixtures = await useAttemptFixture()
const taskApi = useTaskApi()

const H264 = '-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p -c:a aac'
const KEYS =
  '-encryption_scheme cenc-aes-ctr -encryption_key 76a6c65c5ea762046bd749a2e632ccbb -encryption_kid a7e61c373e219033c21091fa607bf3b8'

/** Video and two audio streams of two seconds. */
async function made(extension: string, args: string): Promise<Buffer> {
  const file = join(fixtures.directory, `clip.${extension}`)
  const tone = (pitch: number) => `-f lavfi -i sine=frequency=${pitch}:sample_rate=48000:duration=2`
  const inputs = `-f lavfi -i testsrc2=s=320x180:r=25:d=2 ${tone(440)} ${tone(880)} -map 0 -map 1 -map 2`
  await run(fixtures.engine.ffmpeg, [...`-nostdin -y -v error ${inputs} ${args}`.split(' '), file])
  return readFile(file)
}

/** ISO/IEC 14496-12, 8.12: renames the sample entries of these tracks (counted from 0) to those of encrypted ones. */
function entriesOf(mp4: Buffer, tracks: readonly number[]): Buffer {
  const copy = Buffer.from(mp4)
  for (let at = 0, track = 0; (at = copy.indexOf('stsd', at)) >= 0; at += 4, track++) {
    if (!tracks.includes(track)) continue
    const name = at + 16
    copy.write(copy.toString('latin1', name, name + 4) === 'mp4a' ? 'enca' : 'encv', name, 'latin1')
  }
  return copy
}

/** ISO/IEC 13818-1, 2.4.3.3: marks packets of these PIDs as scrambled with the even key. */
function scrambled(ts: Buffer, pids: readonly number[]): Buffer {
  const copy = Buffer.from(ts)
  for (let at = 0; at + 188 <= copy.length; at += 188) {
    if (!pids.includes(copy.readUInt16BE(at + 1) & 0x1fff)) continue
    const control = copy.readUInt8(at + 3)
    copy.writeUInt8(control | 0x80, at + 3)
    const begin = (control & 0x20) === 0 ? 4 : 5 + copy.readUInt8(at + 4)
    for (let n = begin; n < 188; n++) copy.writeUInt8(copy.readUInt8(at + n) ^ 0xa5 ^ n, at + n)
  }
  return copy
}

/** Four bytes of id, eight of size: RFC 8794 permits sizes of any length. */
function element(name: string, body: Buffer): Buffer {
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE((1n << 56n) | BigInt(body.length))
  return Buffer.concat([Buffer.from(name, 'hex'), size, body])
}

/** A Matroska file of unknown size, with encryption in these tracks (counted from 0). */
function withEncryption(matroska: Buffer, tracks: readonly number[]): Buffer {
  const whole = element(
    '6d80',
    element('6240', Buffer.concat([element('5033', Buffer.from([1])), element('5035', Buffer.alloc(0))])),
  )
  // The seek index at the start contains the id too.
  const at = matroska.lastIndexOf(Buffer.from('1654ae6b', 'hex'), matroska.indexOf(Buffer.from('1f43b675', 'hex')))
  const sizeAt = (from: number) => {
    const bytes = Math.clz32(matroska.readUInt8(from)) - 23
    const value = BigInt(`0x${matroska.toString('hex', from, from + bytes)}`)
    return { bytes, size: Number(value - (1n << BigInt(7 * bytes))) }
  }
  const outer = sizeAt(at + 4)
  const begin = at + 4 + outer.bytes
  const entries: Buffer[] = []
  // A checksum may come first; it would no longer match.
  let from = matroska[begin] === 0xbf ? begin + 6 : begin
  for (let track = 0; matroska[from] === 0xae; track++) {
    const { bytes, size } = sizeAt(from + 1)
    const body = matroska.subarray(from + 1 + bytes, from + 1 + bytes + size)
    entries.push(element('ae', tracks.includes(track) ? Buffer.concat([body, whole]) : body))
    from += 1 + bytes + size
  }
  const list = element('1654ae6b', Buffer.concat(entries))
  return Buffer.concat([matroska.subarray(0, at), list, matroska.subarray(begin + outer.size)])
}

/** A header with a Content Encryption Object in it (ASF specification, 3.14). */
function licensed(asf: Buffer): Buffer {
  const object = Buffer.alloc(24 + 4 * 4 + 12)
  Buffer.from('fbb3112223bdd211b4b700a0c955fc6e', 'hex').copy(object)
  object.writeBigUInt64LE(BigInt(object.length), 16)
  object.writeUInt32LE(12, 24)
  const copy = Buffer.concat([asf.subarray(0, 30), object, asf.subarray(30)])
  copy.writeBigUInt64LE(asf.readBigUInt64LE(16) + BigInt(object.length), 16)
  copy.writeUInt32LE(asf.readUInt32LE(24) + 1, 24)
  return copy
}

async function attempt(bytes: Buffer, sourceStream: '1' | '2' = '1'): Promise<void> {
  taskApi.source = { bytes }
  taskApi.task = describeTask({ container: 'mp4' })
  taskApi.task.config.audioProfiles[0]!.source_stream = sourceStream
  await runTask(runRequest(taskApi), fixtures.context())
}

const LIVE = '-f matroska -live 1'
const whole: [string, () => Promise<Buffer>, RegExp][] = [
  ['an MP4 (Common Encryption)', () => made('mp4', `${H264} ${KEYS}`), /video, audio stream 1; scheme cenc/],
  [
    'a fragmented MP4',
    async () => entriesOf(await made('mp4', `${H264} -movflags +frag_keyframe+empty_moov`), [0, 1, 2]),
    /Common Encryption/,
  ],
  ['the video of an MP4 alone', async () => entriesOf(await made('mp4', H264), [0]), /\(video; /],
  ['a transport stream', async () => scrambled(await made('ts', H264), [256, 257, 258]), /scrambled/],
  ['the video of a transport stream alone', async () => scrambled(await made('ts', H264), [256]), /\(video; scrambled/],
  ['the audio of a transport stream alone', async () => scrambled(await made('ts', H264), [257]), /\(audio stream 1; /],
  ['a Matroska file', async () => withEncryption(await made('mkv', `${H264} ${LIVE}`), [0, 1, 2]), /ContentEncryption/],
  ['a WMV', async () => licensed(await made('wmv', '-c:v wmv2 -c:a wmav2')), /Windows Media DRM/],
]

test.each(whole)('%s ends as source_unsupported before anything is encoded', async (_name, make, words) => {
  await attempt(await make())
  expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_unsupported' } }])
  expect(taskApi.fails[0]?.error?.message).toMatch(words)
  expect(taskApi.beats.map(({ phase }) => phase)).not.toContain('transcoding')
  expect(taskApi.finished).toBeNull()
})

const partial: [string, () => Promise<Buffer>][] = [
  ['an MP4', async () => entriesOf(await made('mp4', H264), [2])],
  ['a transport stream', async () => scrambled(await made('ts', H264), [258])],
  ['a Matroska file', async () => withEncryption(await made('mkv', `${H264} ${LIVE}`), [2])],
]

test.each(partial)('%s of which only an unused track is encrypted is transcoded', async (_name, make) => {
  const bytes = await make()
  await attempt(bytes)
  expect(taskApi.fails).toEqual([])
  expect([...taskApi.objects().keys()]).toEqual(['out/v0.mp4'])
  await attempt(bytes, '2')
  expect(taskApi.fails).toMatchObject([{ error: { code: 'source_unsupported' } }])
})
