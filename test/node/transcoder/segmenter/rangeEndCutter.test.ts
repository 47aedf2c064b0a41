// In charge of: the end of a chunk of a constant bitrate: the frames behind it, the filler in its last one.
// Not in charge of: joins (pipeline/dividedRate.test.ts).
import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { fillerUnit, LEAST_FILLER, NalCounter } from '../../../../transcoder/formats/video/filler.ts'
import { RangeEndCutter } from '../../../../transcoder/segmenter/cutters/constantRateRange.ts'
import { CmafVideoCutter } from '../../../../transcoder/segmenter/cutters/cmafVideoCutter.ts'
import { toNumber } from '../../../../transcoder/formats/rational.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { constantRateRange } from '../../../../transcoder/segmenter/cutters/constantRateRange.ts'
import type { Cadence, CutEvent } from '../../../../transcoder/segmenter/cutters/cutter.ts'
import { ffmpeg, ffprobe, testFfmpeg } from '../../../support/media/media.ts'
import { jobSpec, mediaInfo, packagingSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { cutSegments, encodeToBuffer, flashSource } from './cutStream.ts'

const tempDir = useTempDirectory()
const cadence: Cadence = { segmentFrames: 50, spliceFrames: [], frameRate: { num: 25, den: 1 } }
const FRAMES = 100
let encoded: Buffer

beforeAll(async () => {
  const coding = '-c:v libx264 -preset veryfast -b:v 100k -maxrate 100k -bufsize 100k -g 25 -keyint_min 25'
  const gops = '-sc_threshold 0 -bf 2 -flags +cgop -pix_fmt yuv420p'
  const mp4 = '-f mp4 -use_editlist 0 -movflags +cmaf+frag_keyframe+negative_cts_offsets+skip_trailer'
  encoded = await encodeToBuffer(await testFfmpeg(), `${flashSource(5)} -map 0:v ${coding} ${gops} ${mp4}`)
})

interface Cut {
  media: Buffer
  frames: number
  segments: number
  overrun: number
}

/** `piece`: bytes of one read. */
function cut(bytes: number, piece = 1000): Cut {
  const cutter = new RangeEndCutter(new CmafVideoCutter(cadence, 0), {
    frames: FRAMES,
    bytes,
  })
  const { init, segments } = cutSegments(cutter, encoded, { pieceBytes: piece })
  return {
    media: Buffer.concat([init!, ...segments.map((segment) => segment.bytes)]),
    frames: segments.reduce((sum, segment) => sum + segment.frames, 0),
    segments: segments.length,
    overrun: cutter.overrun,
  }
}

/** Sizes of the access units, and a hash of each decoded frame. */
async function read({ media }: Cut): Promise<{ sizes: number[]; pictures: string[] }> {
  const mp4 = tempDir.file('cut.mp4')
  await writeFile(mp4, media)
  const { packets } = (await ffprobe(['-show_entries', 'packet=size'], mp4)) as { packets: { size: string }[] }
  const decoded = await ffmpeg(['-xerror', '-i', mp4, '-f', 'framemd5', '-'])
  return {
    sizes: packets.map(({ size }) => Number(size)),
    pictures: decoded
      .toString()
      .split('\n')
      .filter((line) => /^\d/.test(line)),
  }
}

describe('the last access unit', () => {
  test('has the filler that is missing, and the frames behind it are gone', async () => {
    const [bare, filled] = [cut(0), cut(80_000)]
    expect(bare).toMatchObject({ frames: FRAMES, segments: 2 })
    expect(filled).toMatchObject({ frames: FRAMES, segments: 2, overrun: 0 })
    const [one, other] = [await read(bare), await read(filled)]
    expect(other.pictures).toEqual(one.pictures)
    expect(one.pictures).toHaveLength(FRAMES)
    expect(other.sizes.slice(0, -1)).toEqual(one.sizes.slice(0, -1))
    // What is too long without filler is what the filler is shorter by; a length field has one byte more than a start code.
    expect(other.sizes.at(-1)! - one.sizes.at(-1)!).toBe(80_000 - bare.overrun + 1)
  })

  test('is the same whatever the encoder writes at once', () => {
    expect(cut(80_000, 7).media.equals(cut(80_000, encoded.length).media)).toBe(true)
  })

  test('stays as it is where nothing is missing, and gets the smallest unit where less is', () => {
    const { overrun, media } = cut(0)
    expect(cut(overrun)).toMatchObject({ overrun: 0 })
    expect(cut(overrun).media.equals(media)).toBe(true)
    expect(cut(overrun + 1).media.length).toBe(media.length + LEAST_FILLER + 1)
    expect(cut(overrun + LEAST_FILLER).media.length).toBe(media.length + LEAST_FILLER + 1)
    expect(cut(overrun - 1)).toMatchObject({ overrun: 1 })
  })

  test('needs a key frame behind it', () => {
    const cutter = new RangeEndCutter(new CmafVideoCutter(cadence, 0), {
      frames: FRAMES - 1,
      bytes: 0,
    })
    expect(() => cutter.push(encoded)).toThrow('must begin with frame 99')
  })

  test('a stream that is cut off', () => {
    const cutter = new RangeEndCutter(new CmafVideoCutter(cadence, 0), {
      frames: FRAMES,
      bytes: 0,
    })
    cutter.push(encoded.subarray(0, 2000))
    expect(() => cutter.end(null)).toThrow('ends in the middle of a box')
  })
})

describe('of a plan', () => {
  /** One chunk of 4 s, between others. */
  const made = (change: Partial<VideoPlan>): { events: CutEvent[]; overrun: number } => {
    const plan = planJob(jobSpec({ video: [videoProfile({ mode: 'cbr' })], packaging: packagingSpec() }), mediaInfo())
    const packaging = plan.packaging!
    const video = { ...packaging.renditions[0]!.video!, ...change }
    const segments = 4 / toNumber(packaging.segmentDuration)
    const range = { from: 0, to: segments }
    const chunk = constantRateRange(new CmafVideoCutter(cadence, 0), { range, packaging }, video)
    const events = [...chunk.cutter.push(encoded), ...chunk.cutter.end(null)]
    return { events, overrun: chunk.overrun() }
  }

  test('says by how much the chunk exceeds its rate', () => {
    expect(made({ maxKbps: 300 }).overrun).toBe(0)
    const { overrun } = made({ maxKbps: 20, bufferBits: 20_000 })
    // Half of a buffer more than the rate: the first chunk begins with nine tenths and leaves four.
    expect(overrun).toBe(cut(0).overrun - Math.floor((19_968 * 4) / 8) - 1250)
  })

  test('leaves other rates as they are', () => {
    const { events, overrun } = made({ mode: 'vbr' })
    expect(overrun).toBe(0)
    expect(events.filter(({ kind }) => kind === 'end')).toHaveLength(3)
  })
})

test('a filler unit', () => {
  expect([...fillerUnit(5, 4)]).toEqual([0, 0, 0, 2, 12, 0x80])
  expect([...fillerUnit(8, 2)]).toEqual([0, 5, 12, 0xff, 0xff, 0xff, 0x80])
  expect(() => fillerUnit(4, 4)).toThrow(RangeError)
  expect(() => fillerUnit(66_000, 2)).toThrow(RangeError)
})

test('units are counted in pieces of any size', () => {
  const units = Buffer.from([0, 0, 0, 2, 9, 9, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0])
  for (const size of [1, 2, 5, 17]) {
    const counter = new NalCounter(4)
    for (let at = 0; at < units.length; at += size) counter.push(units.subarray(at, at + size))
    expect(counter.units).toBe(3)
  }
})
