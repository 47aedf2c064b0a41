// In charge of: segments of transport streams as players read them: tables and PCR first, continuity counters without a
// jump, every frame and every cue once.
// Not in charge of: finding cues (../formats/scte35), fragmented MP4 (fmp4Cutters.test.ts).
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { readPcr } from '../../../../transcoder/formats/mpegts/clock.ts'
import { continuityCounter, pidOf } from '../../../../transcoder/formats/mpegts/packet.ts'
import type { Cadence } from '../../../../transcoder/segmenter/cutters/cutter.ts'
import { FormatError } from '../../../../transcoder/formats/formatError.ts'
import { TsCutter } from '../../../../transcoder/segmenter/cutters/tsCutter.ts'
import { TailCutter } from '../../../../transcoder/segmenter/cutters/tailCutter.ts'
import { checkTstd } from '../../../support/mpegts/tstdModel.ts'
import { cueAtSeconds, scanCues, insertCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../../support/mpegts/spliceSections.ts'
import { cutSegments, flashSource, encodeToBuffer } from './cutStream.ts'
import { testFfmpeg } from '../../../support/media/media.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const ORIGIN = 900_000
const cadence: Cadence = { segmentFrames: 50, spliceFrames: [60], frameRate: { num: 25, den: 1 } }
const coding = '-c:v libx264 -preset veryfast -bf 2 -g 25 -keyint_min 25 -sc_threshold 0 -flags +cgop -pix_fmt yuv420p'
const keys = '-force_key_frames expr:eq(mod(n,25),0)+eq(n,60)'
const ts = '-f mpegts -max_delay 0 -output_ts_offset 10 -mpegts_flags +resend_headers -pes_payload_size 0'

const engine = await testFfmpeg()
const { path: directory } = useTempDirectory()
let muxed: Buffer
beforeAll(async () => {
  muxed = await encodeToBuffer(engine, `${flashSource(5)} -map 0:v -map 1:a ${coding} ${keys} -c:a aac ${ts}`)
})

/** Hash of every decoded frame. */
async function hashes(bytes: Uint8Array): Promise<string[]> {
  const file = join(directory, 'clip.ts')
  await writeFile(file, bytes)
  const words = ['-nostdin', '-v', 'error', '-i', `file:${file}`, '-map', '0:v', '-fps_mode', 'passthrough']
  const { stdout, stderr } = await promisify(execFile)(engine.ffmpeg, [...words, '-f', 'framemd5', 'pipe:1'])
  expect(stderr).toBe('')
  return stdout.split('\n').flatMap((line) => (/^\d/.test(line) ? (line.split(',').at(-1) ?? '').trim() : []))
}

async function pictures(bytes: Uint8Array): Promise<number> {
  return (await hashes(bytes)).length
}

function* packets(bytes: Buffer): Generator<Buffer> {
  expect(bytes.length % 188).toBe(0)
  for (let at = 0; at < bytes.length; at += 188) yield bytes.subarray(at, at + 188)
}

/** Number of packets with payload whose continuity counter is not the next one. */
function jumps(bytes: Buffer): number {
  const last = new Map<number, number>()
  let found = 0
  for (const packet of packets(bytes)) {
    if ((packet[3]! & 0x10) === 0) continue
    const before = last.get(pidOf(packet))
    if (before !== undefined && continuityCounter(packet) !== ((before + 1) & 15)) found += 1
    last.set(pidOf(packet), continuityCounter(packet))
  }
  return found
}

it('starts every segment with PAT, PMT and a frame with a PCR', async () => {
  const cutter = new TsCutter(cadence, 'video', ORIGIN)
  const { segments } = cutSegments(cutter, muxed)
  expect(segments.map(({ start, duration, frames }) => [start / 90_000, duration / 90_000, frames])).toEqual([
    [0, 2, 50],
    [2, 0.4, 10],
    [2.4, 1.6, 40],
    [4, 1, 25],
  ])
  expect(cutter.codecs).toEqual(['avc1.64000b', 'mp4a.40.2'])
  expect(cutter.audioEnds).toHaveLength(1)
  expect(Math.abs(cutter.audioEnds[0]! / 90_000 - 5)).toBeLessThan(0.025)
  for (const { bytes, frames } of segments) {
    const [pat, pmt, picture] = [...packets(bytes)]
    expect([pidOf(pat!), pidOf(pmt!), pidOf(picture!)]).toEqual([0, 0x1000, 0x100])
    expect(readPcr(picture!)).not.toBeNull()
    expect(jumps(bytes)).toBe(0)
    expect(await pictures(bytes)).toBe(frames)
  }
})

it('is continuous across segments: no counter jumps and no frame is missing', async () => {
  const { segments } = cutSegments(new TsCutter(cadence, 'video', ORIGIN), muxed)
  const whole = Buffer.concat(segments.map(({ bytes }) => bytes))
  expect(jumps(whole)).toBe(0)
  expect(await pictures(whole)).toBe(125)
})

it('meets T-STD timing: frames arrive before their DTS, and tables repeat at least every 0.5 s', async () => {
  // The flags of the plan (segmentArgs.ts), with one key frame in 5 s.
  const sparse = coding.replace('-g 25 -keyint_min 25', '-g 250')
  const lead = ts.replace('-max_delay 0 -output_ts_offset 10', '-max_delay 100000 -output_ts_offset 9.8 -pcr_period 1')
  const stream = await encodeToBuffer(engine, `${flashSource(5)} -map 0:v -map 1:a ${sparse} -c:a aac ${lead}`)
  const { segments } = cutSegments(
    new TsCutter({ ...cadence, segmentFrames: 125, spliceFrames: [] }, 'video', ORIGIN),
    stream,
  )
  const validation = checkTstd(Buffer.concat(segments.map(({ bytes }) => bytes)))
  expect(validation.problems.filter((problem) => /^(late|delay|continuity|clock)/.test(problem))).toEqual([])
  expect(validation.patMs).toBeLessThan(500)
  expect(validation.pmtMs).toBeLessThan(500)
})

it('says where each key frame lies, with its tables', async () => {
  const { segments } = cutSegments(new TsCutter(cadence, 'video', ORIGIN), muxed)
  expect(segments.flatMap((segment) => segment.keys.map(({ start }) => start / 90_000))).toEqual([0, 1, 2, 2.4, 3, 4])
  for (const { bytes, keys: spans } of segments)
    for (const { offset, bytes: length } of spans)
      expect(await pictures(bytes.subarray(offset, offset + length))).toBe(1)
})

it('makes the same segments for any chunking of the input', () => {
  const whole = cutSegments(new TsCutter(cadence, 'video', ORIGIN), muxed, { pieceBytes: muxed.length })
  expect(cutSegments(new TsCutter(cadence, 'video', ORIGIN), muxed, { pieceBytes: 187 })).toEqual(whole)
})

it('cuts separate audio near the video boundaries, on the video clock', async () => {
  const stream = await encodeToBuffer(engine, `${flashSource(5)} -map 1:a -c:a aac ${ts}`)
  const { segments } = cutSegments(new TailCutter(new TsCutter(cadence, 'audio', ORIGIN)), stream, { videoSegments: 4 })
  expect(segments).toHaveLength(4)
  for (const [index, end] of [2, 2.4, 4].entries())
    expect(Math.abs(segments[index + 1]!.start - end * 90_000)).toBeLessThanOrEqual(960)
  expect(jumps(Buffer.concat(segments.map(({ bytes }) => bytes)))).toBe(0)
  const fewer = cutSegments(new TailCutter(new TsCutter(cadence, 'audio', ORIGIN)), stream, {
    videoSegments: 3,
  }).segments
  expect(fewer.map(({ bytes }) => bytes.length)).toEqual([
    segments[0]!.bytes.length,
    segments[1]!.bytes.length,
    segments[2]!.bytes.length + segments[3]!.bytes.length,
  ])
})

describe.each(['clock', 'frame'] as const)('cues at every frame, placed by %s', (by) => {
  const at = (frame: number) =>
    cueAtSeconds(frame / 25, spliceInsert({ eventId: frame + 100, out: true, pts: null }), by)

  it('cut a key frame in two without a fault', () => {
    for (let frame = -20; frame < 50; frame++) {
      const { segments } = cutSegments(new TsCutter(cadence, 'video', ORIGIN), insertCues(muxed, [at(frame)], 600))
      expect(
        segments.map(({ frames }) => frames),
        `frame ${frame}`,
      ).toEqual([50, 10, 40, 25])
      const whole = Buffer.concat(segments.map(({ bytes }) => bytes))
      expect(scanCues(whole).cues, `frame ${frame}`).toHaveLength(1)
      expect(jumps(whole)).toBe(0)
    }
  })

  it('leave every key frame whole', async () => {
    const cues = Array.from({ length: 125 }, (_, frame) => at(frame))
    const { segments } = cutSegments(new TsCutter(cadence, 'video', ORIGIN), insertCues(muxed, cues, 600))
    for (const { bytes, keys: spans } of segments)
      for (const { offset, bytes: length } of spans)
        expect(await hashes(bytes.subarray(offset, offset + length))).toEqual(
          (await hashes(bytes.subarray(offset))).slice(0, 1),
        )
  })
})

it('puts what comes before the first frame into the first segment', () => {
  const { segments } = cutSegments(
    new TsCutter(cadence, 'video', ORIGIN),
    insertCues(muxed, [cueAtSeconds(0, spliceInsert({ eventId: 9, out: true, pts: null }), 'frame')], 600),
  )
  expect(scanCues(segments[0]!.bytes).cues).toHaveLength(1)
  const [pat, pmt] = [...packets(segments[0]!.bytes)]
  expect([pidOf(pat!), pidOf(pmt!)]).toEqual([0, 0x1000])
})

it('refuses a segment that would start without a key frame, or with a falsely flagged one', async () => {
  const stream = await encodeToBuffer(engine, `${flashSource(4)} -map 0:v ${coding} ${ts}`)
  expect(() => cutSegments(new TsCutter(cadence, 'video', ORIGIN), stream)).toThrow('frame 60')
  const changed = Buffer.from(muxed)
  const { segments } = cutSegments(new TsCutter(cadence, 'video', ORIGIN), muxed)
  // The first packet of the second segment's video; the type of its IDR slice (5) becomes 1.
  const second = muxed.indexOf(segments[1]!.bytes.subarray(2 * 188, 3 * 188))
  const slice = muxed.indexOf(Buffer.from([0, 0, 1, 0x65]), second)
  changed[slice + 3] = 0x61
  expect(() => cutSegments(new TsCutter(cadence, 'video', ORIGIN), changed)).toThrow('frame 50')
})

it('refuses a stream that is truncated before its media', () => {
  for (const bytes of [0, 100, 188 * 3])
    expect(() => cutSegments(new TsCutter(cadence, 'video', ORIGIN), muxed.subarray(0, bytes))).toThrow(FormatError)
})
