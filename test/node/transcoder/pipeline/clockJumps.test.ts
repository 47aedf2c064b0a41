// Recordings whose clock jumps: whole attempts, whose outputs are decoded.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { ffmpeg, makeClip } from '../../../support/media/media.ts'
import { audioSamples } from '../../../support/media/audioSamples.ts'
import { frameNumbers } from '../../../support/media/numberedClip.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { extractTask, runExtracts } from '../../../support/transcoder/extractTasks.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi(() => Buffer.alloc(0))
const PIECE_SECONDS = 2

/** A script tag as nginx-rtmp writes it, without the rest of its object. ffmpeg knows such a recording as live_flv. */
function serverTag(): Buffer {
  const text = (word: string) => Buffer.concat([Buffer.from([word.length >> 8, word.length]), Buffer.from(word)])
  const server = text('NGINX RTMP (github.com/arut/nginx-rtmp-module)')
  const body = [
    Buffer.of(2),
    text('onMetaData'),
    Buffer.of(3),
    text('Server'),
    Buffer.of(2),
    server,
    Buffer.of(0, 0, 9),
  ]
  const bytes = Buffer.concat([Buffer.from([18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), ...body, Buffer.alloc(4)])
  bytes.writeUIntBE(bytes.length - 15, 1, 3)
  bytes.writeUInt32BE(bytes.length - 4, bytes.length - 4)
  return bytes
}

/** Up to the first tag. */
const FLV_HEADER_BYTES = 13

/** Pieces that begin at these times, as an encoder writes them that starts again. */
async function recording(container: 'ts' | 'mpg' | 'flv' | 'nginx', starts: readonly number[]): Promise<Buffer> {
  const clip = await makeClip(join(fixtures.directory, 'piece.mp4'), {
    seconds: PIECE_SECONDS,
    width: 192,
    height: 48,
    audio: [1],
    flags: ['-bf', '0', '-g', '25', '-shortest'],
  })
  const pieces = []
  for (const [index, start] of starts.entries()) {
    const piece = join(fixtures.directory, `piece-${index}.${container === 'nginx' ? 'flv' : container}`)
    const flags = {
      ts: ['-c', 'copy', '-mpegts_flags', '+initial_discontinuity'],
      mpg: ['-c:v', 'mpeg2video', '-q:v', '2', '-bf', '0', '-c:a', 'mp2', '-f', 'vob'],
      flv: ['-c', 'copy', '-flvflags', 'no_duration_filesize'],
    }[container === 'nginx' ? 'flv' : container]
    await ffmpeg(['-i', clip, ...flags, '-output_ts_offset', `${start}`, piece])
    const bytes = await readFile(piece)
    if (container === 'nginx' && index === 0) pieces.push(bytes.subarray(0, FLV_HEADER_BYTES), serverTag())
    const isWhole = container === 'ts' || container === 'mpg' || (container === 'flv' && index === 0)
    pieces.push(isWhole ? bytes : bytes.subarray(FLV_HEADER_BYTES))
  }
  return Buffer.concat(pieces)
}

async function transcoded(source: Buffer): Promise<{ pictures: number; soundSeconds: number; codes: string[] }> {
  taskApi.source = { bytes: source }
  taskApi.task = describeTask({ container: 'mp4' })
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  const path = join(fixtures.directory, 'out.mp4')
  await writeFile(path, taskApi.objects().get('out/v0.mp4')!)
  return {
    pictures: (await frameNumbers(path)).length,
    soundSeconds: (await audioSamples(path, 0, 0)).length / 48_000,
    codes: taskApi.finished!.warnings.map(({ code }) => code),
  }
}

test.each<[container: Parameters<typeof recording>[0], name: string, starts: number[]]>([
  ['ts', 'back', [1000, 5]],
  ['ts', 'forward', [5, 4000]],
  ['ts', 'three pieces', [1000, 5, 40_000]],
  ['ts', 'joined recordings, each from 0', [0, 0]],
  ['mpg', 'forward', [5, 4000]],
  ['flv', 'joined recordings, each from 0', [0, 0]],
  ['flv', 'back and forward', [1000, 5, 4000]],
  ['nginx', 'forward', [5, 4000]],
])('%s, %s: all of it is in the output, with a warning', async (container, _name, starts) => {
  const { pictures, soundSeconds, codes } = await transcoded(await recording(container, starts))
  const seconds = PIECE_SECONDS * starts.length
  expect(codes).toContain('clock_jumps')
  expect(Math.abs(pictures / 25 - seconds)).toBeLessThan(0.2 * starts.length)
  expect(Math.abs(soundSeconds - seconds)).toBeLessThan(0.2 * starts.length)
  expect(taskApi.plans.at(-1)!.plan.durationSeconds).toBeCloseTo(seconds, 0)
})

/** Packets that come twice behind a header that states no length, as a server's recorder writes it that starts again. */
async function asfThatBeginsAgain(): Promise<Buffer> {
  const path = join(fixtures.directory, 'piece.asf')
  const clip = await makeClip(join(fixtures.directory, 'asf.mp4'), { seconds: PIECE_SECONDS, width: 192, height: 48 })
  await ffmpeg(['-i', clip, '-c:v', 'wmv2', '-q:v', '4', path])
  const bytes = await readFile(path)
  const [headerBytes, dataObjectBytes] = [Number(bytes.readBigUInt64LE(16)), 50]
  const properties = bytes.indexOf(Buffer.from('a1dcab8c47a9cf118ee400c00c205365', 'hex'))
  const packetsEnd = headerBytes + Number(bytes.readBigUInt64LE(headerBytes + 16))
  bytes.writeUInt32LE(1, properties + 88)
  bytes.writeBigUInt64LE(BigInt(dataObjectBytes), headerBytes + 16)
  return Buffer.concat([bytes.subarray(0, packetsEnd), bytes.subarray(headerBytes + dataObjectBytes, packetsEnd)])
}

test('ASF without a length whose clock goes back: an error that says where, and the part before can be made', async () => {
  const source = join(fixtures.directory, 'again.asf')
  await writeFile(source, await asfThatBeginsAgain())
  const video = { videoProfiles: [{ output: 'v0.mp4', width: 192, height: 48, video_bitrate: 400 }], audioProfiles: [] }
  const whole = await runExtracts(fixtures, source, extractTask(video))
  await whole.taskApi.stop()
  const message = expect.stringMatching(/goes back \(at 2\.\d+ s by 2\.\d+ s\).*end_seconds/) as string
  expect(whole.taskApi.fails[0]!.error).toEqual({ code: 'source_damaged', message })
  const part = await runExtracts(fixtures, source, extractTask({ ...video, end_seconds: PIECE_SECONDS }))
  await part.taskApi.stop()
  expect(part.taskApi.fails).toEqual([])
})
