// In charge of: whole attempts at sources that are damaged, encrypted or declare wrong values: the outputs, and the
// reports about the damage.
// Not in charge of: sources that break off while they are read (../runTask.test.ts), mutated files
// (node/service/security/hostileSources.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jobErrorPolicies } from '#contract/errorCodes.ts'
import { probe } from '../../../../../transcoder/analysis/probe.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'
import { sampled } from '../../../../support/longForm.ts'
import { ffmpeg } from '../../../../support/media/media.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi()

const encoded = new Map<string, Buffer>()

/** ffmpeg's output for these arguments; the container follows the name. */
async function made(name: string, args: string): Promise<Buffer> {
  const key = `${extname(name)} ${args}`
  const file = join(fixtures.directory, name)
  if (!encoded.has(key)) {
    await ffmpeg([...args.split(' '), file])
    encoded.set(key, await readFile(file))
  }
  return Buffer.from(encoded.get(key)!)
}

const picture = (seconds: number) => `-f lavfi -i testsrc2=s=320x180:r=25:d=${seconds}`
const tone = (seconds: number) => `-f lavfi -i sine=frequency=440:sample_rate=48000:duration=${seconds}`
const DAMAGE = new Set(['decode_errors', 'frames_concealed', 'audio_gaps_filled'])
const H264 = '-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p'

async function secondsOf(name: string, bytes: Buffer): Promise<number> {
  const file = join(fixtures.directory, name)
  await writeFile(file, bytes)
  return (await probe(fixtures.engine, `file:${file}`, { cwd: fixtures.directory })).durationSeconds ?? 0
}

async function attempt(bytes: Buffer, change: Partial<ReturnType<typeof describeTask>['config']> = {}): Promise<void> {
  taskApi.source = { bytes }
  const task = describeTask({ container: 'mp4' })
  taskApi.task = { ...task, config: { ...task.config, ...change } }
  await runTask(runRequest(taskApi), fixtures.context())
}

describe('a Matroska file that states only its total duration, which is that of an unselected stream', () => {
  /** Like files of writers without statistics tags: renames those of ffmpeg. */
  const withoutTags = (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replaceAll('DURATION', 'XURATION'), 'latin1')

  test.each([
    ['mkv', `${picture(3)} ${tone(3)} ${tone(5)} -map 0 -map 1 -map 2 ${H264} -c:a aac`],
    [
      'webm',
      `${picture(3)} ${tone(3)} ${tone(5)} -map 0 -map 1 -map 2 -c:v libvpx -deadline realtime -cpu-used 8 -c:a libopus`,
    ],
  ])('%s', async (extension, args) => {
    await attempt(withoutTags(await made(`longer.${extension}`, args)))
    expect(taskApi.fails).toEqual([])
    expect(await secondsOf('longer.mp4', taskApi.objects().get('out/v0.mp4')!)).toBeCloseTo(3, 1)
  })

  test('into segments', async () => {
    const args = `${picture(3)} ${tone(3)} ${tone(5)} -map 0 -map 1 -map 2 ${H264} -c:a aac`
    await attempt(withoutTags(await made('longer.mkv', args)), { output_container: 'hls' })
    expect(taskApi.fails).toEqual([])
    expect(taskApi.finished).not.toBeNull()
  })
})

describe('damage in the middle of a source', () => {
  /** Overwrites runs of 200 bytes at positions that depend only on the file's size. */
  function spoiled(bytes: Buffer, places = 8): Buffer {
    const copy = Buffer.from(bytes)
    for (let n = 1; n <= places; n++) {
      const at = Math.floor(copy.length * (0.2 + (0.6 * n) / places))
      for (let i = 0; i < 200; i++) copy[at + i] = (i * 89 + n * 57) & 0xff
    }
    return copy
  }
  const AV = `${picture(6)} ${tone(6)} ${H264} -c:a aac`
  const codes = () => taskApi.finished?.warnings.map(({ code }) => code) ?? []
  const said = (code: string) => taskApi.finished?.warnings.find((warning) => warning.code === code)?.message ?? ''

  test.each(
    sampled(
      [
        ['mp4', AV, 'frames_concealed'],
        ['mkv', AV, 'frames_concealed'],
        ['ts', AV, 'decode_errors'],
        ['ts', `${picture(6)} ${tone(6)} -c:v mpeg2video -b:v 2M -c:a ac3`, 'frames_concealed'],
      ],
      2,
    ),
  )('is counted, with times: %s', async (extension, args, code) => {
    await attempt(spoiled(await made(`spoiled.${extension}`, args)))
    expect(taskApi.fails).toEqual([])
    expect(codes()).toContain(code)
    expect(said(code)).toMatch(/[1-9]\d* (packets?|frames?) .* at about 0:00:0\d/)
    expect(fixtures.lines.join('')).toContain('the source is damaged')
  })

  test('of a second of video that ends within a frame, in its first bytes', async () => {
    const bytes = await made('begin.ts', `${picture(1)} ${tone(1)} ${H264} -c:a aac`)
    // The time base in the first sequence parameter set: frames decode, and the decoder reports it as invalid.
    bytes.writeUInt8(0, bytes.indexOf(Buffer.from('0000000168', 'hex')) - 8)
    await attempt(bytes.subarray(0, Math.floor(bytes.length * 0.82)))
    expect(taskApi.fails).toEqual([])
    expect(said('decode_errors')).toMatch(/[1-9]\d* errors? .* at about 0:00:00\.$/)
  })

  const TS_PACKET = 188
  const pidAt = (bytes: Buffer, at: number) => bytes.readUInt16BE(at + 1) & 0x1fff
  /** Fills one transport packet of this PID, at this share of the file, with zeros: a slice ends there. */
  function emptied(bytes: Buffer, pid: number, share: number): Buffer {
    const copy = Buffer.from(bytes)
    let at = Math.floor((bytes.length * share) / TS_PACKET) * TS_PACKET
    // A packet in the middle of a PES packet that is all payload.
    while (pidAt(copy, at) !== pid || copy[at + 1]! & 0x40 || copy[at + 3]! & 0x20) at += TS_PACKET
    return copy.fill(0, at + 20, at + TS_PACKET)
  }
  /** One AAC frame (ADTS, mono) with an invalid number of bands: the decoder refuses only this one. */
  function refused(bytes: Buffer, share: number): Buffer {
    const copy = Buffer.from(bytes)
    for (let at = Math.floor((bytes.length * share) / TS_PACKET) * TS_PACKET; ; at += TS_PACKET) {
      const found = pidAt(copy, at) === 257 ? copy.subarray(at, at + TS_PACKET - 16).indexOf('fff1', 4, 'hex') : -1
      if (found === -1) continue
      copy.write('01001fff', at + found + 7, 'hex')
      return copy
    }
  }

  describe('of one packet of a second of transport stream, all of which is near its end', () => {
    const SHORT = `${picture(1)} ${tone(1)} ${H264} -c:a aac`

    test.each([
      ['its audio', (bytes: Buffer) => refused(bytes, 0.5)],
      ['its video', (bytes: Buffer) => emptied(bytes, 256, 0.5)],
    ])('in %s', async (_, damage) => {
      await attempt(damage(await made('short.ts', SHORT)))
      expect(taskApi.fails).toEqual([])
      expect(codes().some((code) => DAMAGE.has(code))).toBe(true)
    })

    test('in its audio, where the end cuts the video alone', async () => {
      const bytes = refused(await made('short.ts', SHORT), 0.4)
      let end = Math.floor((bytes.length * 0.8) / TS_PACKET) * TS_PACKET
      while (pidAt(bytes, end - TS_PACKET) !== 256 || pidAt(bytes, end) !== 256 || bytes[end + 1]! & 0x40)
        end += TS_PACKET
      await attempt(bytes.subarray(0, end))
      expect(taskApi.fails).toEqual([])
      expect(codes()).toContain('decode_errors')
    })
  })

  test('in a video whose end cuts off a frame before its first slice', async () => {
    const bytes = emptied(await made('short.ts', `${picture(1)} ${tone(1)} ${H264} -c:a aac`), 256, 0.4)
    const places = Array.from({ length: bytes.length / TS_PACKET }, (_, n) => n * TS_PACKET)
    const starts = places.filter((at) => pidAt(bytes, at) === 256 && (bytes[at + 1]! & 0x40) !== 0)
    const at = starts.at(-3)!
    const cut = Buffer.from(bytes.subarray(0, at + TS_PACKET))
    // No adaptation field; then the PES header with only a PTS, a delimiter and filler data that does not end.
    const header = bytes.indexOf(Buffer.from('000001e0', 'hex'), at)
    const pes = Buffer.from(bytes.subarray(header, header + 14))
    pes[7] = 0x80
    pes[8] = 5
    cut.fill(0xff, at + 4)
    cut[at + 3] = 0x10 | (cut[at + 3]! & 15)
    pes.copy(cut, at + 4)
    Buffer.from('0000000109f0000000010c', 'hex').copy(cut, at + 18)
    await attempt(cut)
    expect(taskApi.fails).toEqual([])
    expect(codes()).toContain('frames_concealed')
  })

  test('missing audio is counted where silence was put', async () => {
    const whole = await made('gap.ts', AV)
    const audio = 257
    const packets = Array.from({ length: Math.floor(whole.length / 188) }, (_, n) =>
      whole.subarray(n * 188, n * 188 + 188),
    )
    const kept = packets.filter(
      (packet, n) =>
        (packet.readUInt16BE(1) & 0x1fff) !== audio || n < packets.length * 0.4 || n > packets.length * 0.6,
    )
    await attempt(Buffer.concat(kept))
    expect(taskApi.fails).toEqual([])
    expect(codes()).toContain('audio_gaps_filled')
    expect(said('audio_gaps_filled')).toMatch(
      /has 1 gap of (0\.[5-9]|1\.[0-9])\d* s in total, filled with silence, at about 0:00:0/,
    )
  })

  test.each(
    sampled(
      [
        ['mp4', AV],
        ['ts', AV],
        ['ts', `${picture(6)} ${tone(6)} -c:v mpeg2video -b:v 2M -c:a mp2`],
        ['mkv', `${picture(6)} -itsoffset 1.5 ${tone(4)} -map 0 -map 1 ${H264} -c:a libopus`],
        ['flv', AV],
      ],
      2,
    ),
  )('a whole source is not called damaged: %s', async (extension, args) => {
    await attempt(await made(`whole.${extension}`, args))
    expect(taskApi.fails).toEqual([])
    expect(codes().filter((code) => DAMAGE.has(code))).toEqual([])
  })

  test('a recording that begins and ends within a packet is not called damaged', async () => {
    const whole = await made('cut.ts', AV)
    const packets = Math.floor(whole.length / 188)
    await attempt(whole.subarray(188 * Math.floor(packets * 0.31), 188 * Math.floor(packets * 0.93)))
    expect(taskApi.fails).toEqual([])
    expect(codes().filter((code) => DAMAGE.has(code))).toEqual([])
  })

  describe('a recording that begins anywhere', () => {
    const MPEG2 = `${picture(6)} ${tone(6)} -c:v mpeg2video -b:v 2M -g 15 -bf 2`

    test.each(
      sampled(
        [
          ['a program stream with MPEG audio', 'mpg', `${MPEG2} -c:a mp2 -f vob`],
          ['a program stream with AC-3', 'mpg', `${MPEG2} -c:a ac3 -f vob`],
          [
            'H.264 with open groups of pictures',
            'h264',
            `${picture(6)} -c:v libx264 -preset fast -x264-params open-gop=1:keyint=25:bframes=3`,
          ],
        ],
        2,
      ),
    )('is not called damaged, and max_source_errors 0 does not end it: %s', async (_, extension, args) => {
      const whole = await made(`begins.${extension}`, args)
      const audioProfiles = extension === 'h264' ? { audioProfiles: [] } : {}
      await attempt(whole.subarray(Math.floor(whole.length * 0.31)), { max_source_errors: 0, ...audioProfiles })
      expect(taskApi.fails).toEqual([])
      expect(codes().filter((code) => DAMAGE.has(code))).toEqual([])
    })

    /** HEVC transport streams with open GOPs, and the positions of their key frames. */
    async function hevc(): Promise<{ bytes: Buffer; keys: number[] }> {
      const coding = '-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=25:open-gop=1:bframes=3'
      const bytes = await made('open.ts', `${picture(4)} ${tone(4)} ${coding} -c:a aac`)
      const places = Array.from({ length: bytes.length / TS_PACKET }, (_, n) => n * TS_PACKET)
      // random_access_indicator of the adaptation field.
      const isKey = (at: number) =>
        pidAt(bytes, at) === 256 && bytes[at + 3]! & 0x20 && bytes[at + 4]! > 0 && bytes[at + 5]! & 0x40
      return { bytes, keys: places.filter(isKey) }
    }

    test('is not called damaged when HEVC begins with a key frame whose leading pictures cannot be decoded', async () => {
      const { bytes, keys } = await hevc()
      await attempt(Buffer.concat([bytes.subarray(0, 3 * TS_PACKET), bytes.subarray(keys[1])]))
      expect(taskApi.fails).toEqual([])
      expect(codes().filter((code) => DAMAGE.has(code))).toEqual([])
    })

    test('is warned of when HEVC begins before a key frame, since what its first frames refer to is shown grey', async () => {
      const { bytes, keys } = await hevc()
      const within = Math.floor((keys[1]! + keys[2]!) / 2 / TS_PACKET) * TS_PACKET
      await attempt(Buffer.concat([bytes.subarray(0, 3 * TS_PACKET), bytes.subarray(within)]))
      expect(taskApi.fails).toEqual([])
      expect(said('decode_errors')).toContain('Could not find ref')
    })
  })

  test('more of it than max_source_errors allows ends the job, for good', async () => {
    const bytes = spoiled(await made('limit.mp4', AV))
    await attempt(bytes, { max_source_errors: 0 })
    expect(taskApi.finished).toBeNull()
    expect(taskApi.fails).toMatchObject([
      {
        reason: 'failed',
        error: { code: 'too_many_source_errors', field: 'max_source_errors', details: { allowed: 0 } },
      },
    ])
    expect(jobErrorPolicies.too_many_source_errors.permanent).toBe(true)
  })

  test('as much of it as max_source_errors allows is warned of', async () => {
    await attempt(spoiled(await made('limit.mp4', AV)), { max_source_errors: 1000 })
    expect(taskApi.fails).toEqual([])
    expect(codes()).toContain('frames_concealed')
  })

  test('segmented output carries the warnings in job.json too', async () => {
    await attempt(spoiled(await made('segments.mp4', AV)), { output_container: 'hls' })
    expect(taskApi.fails).toEqual([])
    expect(codes()).toContain('frames_concealed')
    const report = taskApi.finished?.written.find(({ path }) => path.endsWith('job.json'))
    expect(report?.body).toContain('frames_concealed')
  })
})

describe('a broken WebM ends with the same code, whichever ffmpeg meets it', () => {
  const WEBM = '-c:v libvpx -deadline realtime -cpu-used 8 -g 200 -c:a libopus'

  test('of which no frame can be decoded: source_damaged', async () => {
    const bytes = await made('broken.webm', `${picture(2)} ${tone(2)} ${WEBM}`)
    // The only key frame is marked as none: all frames after it cannot be decoded.
    const start = bytes.indexOf(Buffer.from('9d012a', 'hex'))
    bytes.writeUInt8(bytes.readUInt8(start - 3) | 1, start - 3)
    await attempt(bytes)
    expect(taskApi.finished).toBeNull()
    expect(taskApi.fails).toMatchObject([{ error: { code: 'source_damaged' } }])
  })

  test('whose audio has an unknown codec: audio_stream_undecodable', async () => {
    const bytes = await made('unknown.webm', `${picture(2)} ${tone(2)} ${WEBM}`)
    bytes.write('A_OPUZ', bytes.indexOf('A_OPUS'), 'latin1')
    await attempt(bytes)
    expect(taskApi.fails).toMatchObject([{ error: { code: 'audio_stream_undecodable' } }])
  })
})

test('an MP4 that is cut off behind its index: the error says how much there is, and that much can be made', async () => {
  const whole = await made('front.mp4', `${picture(8)} ${tone(8)} ${H264} -c:a aac -movflags +faststart`)
  const bytes = whole.subarray(0, Math.floor(whole.length * 0.6))
  await attempt(bytes)
  const { error } = taskApi.fails[0]!
  expect(error?.code).toBe('source_damaged')
  const [, listed, found] = /lists ([\d.]+) s, and the file contains about ([\d.]+) s/.exec(error?.message ?? '') ?? []
  expect(Number(listed)).toBeCloseTo(8, 1)
  expect(Number(found)).toBeGreaterThan(3)
  expect(Number(found)).toBeLessThan(6.5)
  taskApi.fails.length = 0
  taskApi.storedPlan = null
  await attempt(bytes, { end_seconds: 3 })
  expect(taskApi.fails).toEqual([])
  expect(await secondsOf('beginning.mp4', taskApi.objects().get('out/v0.mp4')!)).toBeCloseTo(3, 1)
})
