// In charge of: segments of fragmented MP4 as decoders read them: every frame and sample once, each segment by itself,
// exact times.
// Not in charge of: transport streams (tsCutter.test.ts), where segments are sent.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Cadence } from '../../../../transcoder/segmenter/cutters/cutter.ts'
import { FormatError } from '../../../../transcoder/formats/formatError.ts'
import { RefragmentingCutter } from '../../../../transcoder/segmenter/cutters/refragmentingCutter.ts'
import { CmafVideoCutter } from '../../../../transcoder/segmenter/cutters/cmafVideoCutter.ts'
import { cutSegments, flashSource, encodeToBuffer, type Segment } from './cutStream.ts'
import { chunkOfStream } from '../../../support/media/chunkStream.ts'
import { testFfmpeg } from '../../../support/media/media.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { sha256 } from '../../../support/transcoder/fakeTaskApi.ts'

const run = promisify(execFile)
const cadence: Cadence = { segmentFrames: 50, spliceFrames: [60], frameRate: { num: 25, den: 1 } }
const coding = '-c:v libx264 -preset veryfast -bf 2 -g 25 -keyint_min 25 -sc_threshold 0 -flags +cgop -pix_fmt yuv420p'
const keys = '-force_key_frames expr:eq(mod(n,25),0)+eq(n,60)'
const mp4 = '-f mp4 -use_editlist 0 -movflags +cmaf+negative_cts_offsets+skip_trailer'
const audioTrack = `${mp4}+frag_every_frame+delay_moov`
const smooth = '-f ismv -use_editlist 0 -movflags +negative_cts_offsets+skip_trailer'

const engine = await testFfmpeg()
const { path: directory } = useTempDirectory()
let video: Buffer
beforeAll(async () => {
  video = await encodeToBuffer(engine, `${flashSource(5)} -map 0:v ${coding} ${keys} ${mp4}+frag_keyframe`)
})

/** Hash of the frames, which must decode without an error; `audio` = the MD5 of the samples instead. */
async function decode(bytes: Uint8Array, kind: 'video' | 'audio' = 'video'): Promise<string> {
  const file = join(directory, sha256(bytes))
  await writeFile(file, bytes)
  const show = kind === 'video' ? ['-f', 'framemd5'] : ['-f', 'md5']
  const words = [
    '-nostdin',
    '-v',
    'error',
    '-xerror',
    '-i',
    `file:${file}`,
    '-fps_mode',
    'passthrough',
    ...show,
    'pipe:1',
  ]
  const { stdout, stderr } = await run(
    engine.ffmpeg,
    kind === 'video' ? words : words.filter((w) => !/fps|passth/.test(w)),
  )
  expect(stderr).toBe('')
  return kind === 'audio' ? stdout : `${stdout.split('\n').filter((line) => /^\d/.test(line)).length} pictures`
}

/** The fragments of a chunk are numbered from its own beginning. */
function withoutNumbers(segment: Uint8Array): Buffer {
  const bytes = Buffer.from(segment)
  for (let at = bytes.indexOf('mfhd'); at >= 0; at = bytes.indexOf('mfhd', at + 4)) bytes.fill(0, at + 8, at + 12)
  return bytes
}

const refusal = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof FormatError) return error.code
    throw error
  }
  return 'none'
}

describe('CMAF video', () => {
  it('ends segments on the grid and at splice points, and passes the encoder’s bytes on', async () => {
    const cutter = new CmafVideoCutter(cadence)
    const { init, segments } = cutSegments(cutter, video)
    expect(segments.map(({ start, duration, frames }) => [start / 12800, duration / 12800, frames])).toEqual([
      [0, 2, 50],
      [2, 0.4, 10],
      [2.4, 1.6, 40],
      [4, 1, 25],
    ])
    expect(Buffer.concat([init!, ...segments.map(({ bytes }) => bytes)]).equals(video)).toBe(true)
    expect(cutter.track).toMatchObject({ codec: 'avc1.64000b', width: 160, height: 90, sar: { num: 1, den: 1 } })
    for (const { bytes, frames } of segments)
      expect(await decode(Buffer.concat([init!, bytes]))).toBe(`${frames} pictures`)
  })

  it('reports the byte range of each key frame: with the init segment it decodes to one frame', async () => {
    const { init, segments } = cutSegments(new CmafVideoCutter(cadence), video)
    expect(segments.map((segment) => segment.keys.map(({ start }) => start / 12800))).toEqual([
      [0, 1],
      [2],
      [2.4, 3],
      [4],
    ])
    for (const { bytes, keys: spans } of segments)
      for (const { offset, bytes: length } of spans) {
        const file = join(directory, `key-${offset}-${length}.mp4`)
        await writeFile(file, Buffer.concat([init!, bytes.subarray(offset, offset + length)]))
        const words = ['-v', 'quiet', '-i', `file:${file}`, '-frames:v', '1', '-f', 'framemd5', 'pipe:1']
        const { stdout } = await run(engine.ffmpeg, words)
        expect(stdout.split('\n').filter((line) => /^\d/.test(line))).toHaveLength(1)
        expect(bytes.toString('latin1', offset + 4, offset + 8)).toBe('moof')
      }
  })

  it('makes the same segments for any chunking of the input', () => {
    const whole = cutSegments(new CmafVideoCutter(cadence), video, { pieceBytes: video.length })
    expect(cutSegments(new CmafVideoCutter(cadence), video, { pieceBytes: 1 })).toEqual(whole)
    expect(cutSegments(new CmafVideoCutter(cadence), video)).toEqual(whole)
  })

  it('cuts a chunk as the whole stream is cut there, with its times', () => {
    const whole = cutSegments(new CmafVideoCutter(cadence), video)
    const chunks = [0, 50, 100].map((before) =>
      cutSegments(new CmafVideoCutter(cadence, before), chunkOfStream(video, before, Math.min(before + 50, 125))),
    )
    for (const { init } of chunks) expect(init!.equals(whole.init!)).toBe(true)
    const comparable = (list: Segment[]) =>
      list.map((segment) => ({ ...segment, bytes: sha256(withoutNumbers(segment.bytes)) }))
    expect(comparable(chunks.flatMap(({ segments }) => segments))).toEqual(comparable(whole.segments))
  })

  it('refuses a segment that would begin without a key frame', async () => {
    const without = await encodeToBuffer(engine, `${flashSource(4)} -map 0:v ${coding} ${mp4}+frag_keyframe`)
    expect(refusal(() => cutSegments(new CmafVideoCutter(cadence), without))).toBe('no key frame')
    // A fragment that starts between two key frames.
    const anywhere = await encodeToBuffer(engine, `${flashSource(4)} -map 0:v ${coding} ${mp4}+frag_every_frame`)
    expect(refusal(() => cutSegments(new CmafVideoCutter(cadence), anywhere))).toBe('no key frame')
  })

  it('refuses a sample that is flagged as a key frame and is none', () => {
    const { segments } = cutSegments(new CmafVideoCutter(cadence), video)
    const second = video.indexOf(segments[1]!.bytes)
    let at = video.indexOf('mdat', second) + 4
    // From one NAL unit to the next, up to the IDR slice (5), whose type becomes 1.
    while ((video[at + 4]! & 31) !== 5) at += 4 + video.readUInt32BE(at)
    const changed = Buffer.from(video)
    changed[at + 4] = (video[at + 4]! & 0xe0) | 1
    expect(refusal(() => cutSegments(new CmafVideoCutter(cadence), changed))).toBe('no key frame')
    expect(refusal(() => cutSegments(new RefragmentingCutter(cadence, 'smooth'), changed))).toBe('no key frame')
  })

  it('reports a truncated stream at any offset as cut off', () => {
    for (const bytes of [0, 3, 500, 900, video.length / 2, video.length - 1])
      expect(refusal(() => cutSegments(new CmafVideoCutter(cadence), video.subarray(0, bytes)))).toBe('cut off')
  })

  it('refuses hostile sizes before it holds them', () => {
    const container = (size: number, name: string): Uint8Array => {
      const bytes = Buffer.alloc(16)
      bytes.writeUInt32BE(size)
      bytes.write(name, 4)
      return bytes
    }
    for (const [size, name] of [
      [0xffffffff, 'moof'],
      [0xffffffff, 'mdat'],
      [0, 'mdat'],
      [7, 'ftyp'],
      [16, '\0\0\0\0'],
    ] as const)
      expect(refusal(() => new CmafVideoCutter(cadence).push(container(size, name)))).toBe('damaged')
    // With any byte of the headers changed it is refused or read, but never throws another kind of error.
    for (let at = 0; at < 2500; at++) {
      const changed = Buffer.from(video)
      changed[at]! ^= 0xff
      expect(['none', 'damaged', 'cut off', 'no key frame']).toContain(
        refusal(() => cutSegments(new CmafVideoCutter(cadence), changed, { pieceBytes: changed.length })),
      )
    }
  })

  it('names hevc', async () => {
    const hevc = '-c:v libx265 -tag:v hvc1 -forced-idr 1 -pix_fmt yuv420p'
    const params = '-x265-params log-level=error:keyint=25:min-keyint=25:scenecut=0:open-gop=0'
    const stream = await encodeToBuffer(engine, `${flashSource(3)} -map 0:v ${hevc} ${params} ${mp4}+frag_keyframe`)
    const cutter = new CmafVideoCutter({ ...cadence, spliceFrames: [] })
    const { init, segments } = cutSegments(cutter, stream)
    expect(cutter.track?.codec).toBe('hvc1.1.6.L30.90')
    expect(segments.map(({ frames }) => frames)).toEqual([50, 25])
    expect(await decode(Buffer.concat([init!, segments[1]!.bytes]))).toBe('25 pictures')
  })
})

describe('CMAF audio', () => {
  it.each([
    ['aac', '-c:a aac -b:a 96k', 1024, 'mp4a.40.2', 1],
    ['ac3', '-c:a ac3 -ac 6 -b:a 384k', 1536, 'ac-3', 6],
  ])(
    'cuts %s at the frame nearest to each end of video, and loses no sample',
    async (_name, codec, frame, rfc, channels) => {
      const stream = await encodeToBuffer(engine, `${flashSource(5)} -map 1:a ${codec} ${audioTrack}`)
      const cutter = new RefragmentingCutter(cadence, 'cmaf')
      const { init, segments } = cutSegments(cutter, stream, { videoSegments: 4 })
      expect(cutter.track).toMatchObject({ codec: rfc, channels, sampleRate: 48000, timescale: 48000 })
      const ends = [0, 2, 2.4, 4]
      for (const [index, { start }] of segments.entries())
        expect(Math.abs(start - ends[index]! * 48000)).toBeLessThanOrEqual(frame / 2)
      for (const [index, { start, duration }] of segments.slice(0, -1).entries())
        expect(start + duration).toBe(segments[index + 1]!.start)
      const whole = Buffer.concat([init!, ...segments.map(({ bytes }) => bytes)])
      expect(await decode(whole, 'audio')).toBe(await decode(stream, 'audio'))
      // One movie fragment per segment.
      for (const { bytes } of segments) expect(bytes.toString('latin1').split('moof')).toHaveLength(2)
    },
  )

  it('has as many segments as video: what follows the last boundary belongs to the last segment', async () => {
    const stream = await encodeToBuffer(engine, `${flashSource(5)} -map 1:a -c:a aac ${audioTrack}`)
    const plain = { ...cadence, spliceFrames: [] }
    const segments = (videoSegments: number): number[] =>
      cutSegments(new RefragmentingCutter(plain, 'cmaf'), stream, { videoSegments }).segments.map(
        ({ duration }) => duration,
      )
    expect(segments(3).map((duration) => Math.round(duration / 4800))).toEqual([20, 20, 10])
    expect(segments(2).map((duration) => Math.round(duration / 4800))).toEqual([20, 30])
  })

  it('makes the same segments for any chunking, and none for a truncated stream', async () => {
    const stream = await encodeToBuffer(engine, `${flashSource(3)} -map 1:a -c:a aac ${audioTrack}`)
    const whole = cutSegments(new RefragmentingCutter(cadence, 'cmaf'), stream, { pieceBytes: stream.length })
    expect(cutSegments(new RefragmentingCutter(cadence, 'cmaf'), stream, { pieceBytes: 1 })).toEqual(whole)
    expect(refusal(() => cutSegments(new RefragmentingCutter(cadence, 'cmaf'), stream.subarray(0, -1)))).toBe('cut off')
  })
})

describe('Smooth', () => {
  it('writes one fragment a segment on the clock of 100 ns, which decodes', async () => {
    const stream = await encodeToBuffer(engine, `${flashSource(5)} -map 0:v ${coding} ${keys} ${smooth}+frag_keyframe`)
    const cutter = new RefragmentingCutter(cadence, 'smooth')
    const { init, segments } = cutSegments(cutter, stream)
    expect(init).toBeNull()
    expect(segments.map(({ start, duration }) => [start, duration])).toEqual([
      [0, 20_000_000],
      [20_000_000, 4_000_000],
      [24_000_000, 16_000_000],
      [40_000_000, 10_000_000],
    ])
    // Start code and SPS, then start code and PPS.
    expect(cutter.track?.codecPrivateData).toMatch(/^0000000167[0-9a-f]+0000000168[0-9a-f]+$/)
    const header = stream.subarray(0, stream.indexOf('moof') - 4)
    for (const { bytes, frames } of segments) {
      expect(bytes.toString('latin1').split('moof')).toHaveLength(2)
      expect(await decode(Buffer.concat([header, bytes]))).toBe(`${frames} pictures`)
    }
  })

  it('converts CMAF input to the Smooth timescale', () => {
    const { segments } = cutSegments(new RefragmentingCutter(cadence, 'smooth'), video)
    expect(segments.map(({ start }) => start)).toEqual([0, 20_000_000, 24_000_000, 40_000_000])
  })

  it('cuts AAC near the video boundaries and names its configuration', async () => {
    const stream = await encodeToBuffer(
      engine,
      `${flashSource(5)} -map 1:a -c:a aac -avoid_negative_ts make_zero ${smooth}+frag_every_frame`,
    )
    const cutter = new RefragmentingCutter(cadence, 'smooth')
    const { segments } = cutSegments(cutter, stream, { videoSegments: 4 })
    expect(cutter.track?.codecPrivateData).toMatch(/^1188/)
    for (const [index, start] of [0, 2e7, 2.4e7, 4e7].entries())
      expect(Math.abs(segments[index]!.start - start)).toBeLessThan(120_000)
  })
})
