// In charge of: incomplete renditions are never listed: streams that are short, cut at other times, or have another
// number of segments.
// Not in charge of: streams (node/transcoder/pipeline/segmentedOutput.test.ts).
import { expect, test } from 'vitest'
import { TaskError } from '#contract/taskError.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import {
  beforeRange,
  FROM_THE_BEGINNING,
  requireCompleteRange,
  requireCompleteSegments,
  type RecordedRendition,
} from '../../../../transcoder/segmenter/segmentCheck.ts'
import { jobSpec, packagingSpec, videoProfile, audioStream, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

const spec = jobSpec({
  packaging: packagingSpec({ hls: true, segmentSeconds: 2 }),
  video: [videoProfile({ output: '' }), videoProfile({ index: 1, output: 'low' })],
})
const media = mediaInfo({ durationSeconds: 5 }, { durationSeconds: 5, audio: [audioStream({ durationSeconds: 5 })] })
const plan = planJob({ ...spec, gopSeconds: 1 }, media)

/** Segments that start at these seconds, up to `end`. */
function taken(position: number, starts: readonly number[], end = 5): RecordedRendition {
  const timescale = 1000
  const segments = starts.map((start, index) => ({
    uri: `${index}`,
    start: start * timescale,
    duration: ((starts[index + 1] ?? end) - start) * timescale,
    frames: 0,
    bytes: 1,
    sha256: '',
    keys: [],
  }))
  const own = plan.packaging!.renditions[position]!
  const rest = { directory: '', before: FROM_THE_BEGINNING, timescale, codecs: [], codecPrivateData: '', audioEnds: [] }
  return { rendition: own, form: 'cmaf', recorded: { init: null, segments }, ...rest }
}

function verdict(...all: RecordedRendition[]): string {
  return verdictOf(() => requireCompleteSegments(plan, all, media, 0))
}

function verdictOf(check: () => void): string {
  try {
    check()
    return 'whole'
  } catch (error) {
    if (error instanceof TaskError) return `${error.code}: ${error.message}`
    throw error
  }
}

const grid = [0, 2, 4]
/** With as many AAC frames in all as fill the seconds. */
function holding(seconds: number): RecordedRendition {
  const { recorded, ...rest } = taken(2, grid)
  const frames = Math.round((seconds * 48_000) / 1024 / recorded.segments.length)
  return { ...rest, recorded: { ...recorded, segments: recorded.segments.map((each) => ({ ...each, frames })) } }
}
test.each<[string, RecordedRendition[], RegExp]>([
  ['all of it', [taken(0, grid), taken(1, grid), taken(2, [0, 2.005, 3.995])], /^whole$/],
  ['sound that ends a packet before', [taken(0, grid), taken(1, grid), taken(2, grid, 4.96)], /^whole$/],
  ['a rendition with a segment less', [taken(0, grid), taken(1, [0, 2])], /video_1.*2 segments where.*3/],
  ['sound with a segment more', [taken(0, grid), taken(2, [0, 2, 4, 4.9])], /audio_0.*4 segments/],
  ['sound with the samples that it declares', [taken(0, grid), taken(1, grid), holding(5)], /^whole$/],
  [
    'sound with twice the samples',
    [taken(0, grid), taken(1, grid), holding(10)],
    /audio_0.*declares 5\.000 s and holds 9\.9/,
  ],
  ['no segments', [taken(0, grid), taken(2, [])], /audio_0.*0 segments/],
  ['a boundary elsewhere', [taken(0, [0, 2, 4.04])], /video_0.*segment 3 at 4.040/],
  ['pictures that begin late', [taken(0, [0.04, 2, 4])], /segment 1 at 0.040/],
  ['pictures that end early', [taken(0, grid, 4.8), taken(1, grid, 4.8)], /lasts 4.800 s instead of 5.000/],
  ['sound that ends early', [taken(0, grid), taken(1, grid), taken(2, grid, 4.9)], /audio_0.*4.900/],
])('%s', (_name, all, expected) => {
  expect(verdict(...all)).toMatch(expected)
})

test('separate audio that outlasts the video continues in audio-only segments, as many as expected', () => {
  const long = mediaInfo({ durationSeconds: 9 }, { durationSeconds: 9, audio: [audioStream({ durationSeconds: 9 })] })
  const media = { ...long, video: { ...long.video!, durationSeconds: 5 } }
  const longer = { ...plan, durationSeconds: 9 }
  const pictures = [taken(0, grid), taken(1, grid)]
  requireCompleteSegments(longer, [...pictures, taken(2, [0, 2, 4, 6, 8], 9)], media, 0)
  expect(() => requireCompleteSegments(longer, [...pictures, taken(2, [0, 2, 4, 6, 8, 8.5], 9)], media, 0)).toThrow(
    '6 segments',
  )
  // All video renditions end early, which is still detected.
  const short = [taken(0, grid, 4.5), taken(1, grid, 4.5)]
  expect(() => requireCompleteSegments(longer, [...short, taken(2, [0, 2, 4, 6, 8], 9)], media, 0)).toThrow(
    '4.500 s instead of 5',
  )
})

test('multiplexed audio in transport streams may outlast the video', () => {
  const long = mediaInfo({ durationSeconds: 6 }, { durationSeconds: 6, audio: [audioStream({ durationSeconds: 6 })] })
  const media = { ...long, video: { ...long.video!, durationSeconds: 5 } }
  const muxed = planJob(
    { ...spec, packaging: packagingSpec({ hls: true, segmentSeconds: 2, preferTransportStream: true }), gopSeconds: 1 },
    media,
  )
  const all = [0, 1].map((position) => ({ ...taken(position, grid), form: 'ts' as const, audioEnds: [6000] }))
  const renditions = all.map((each, at) => ({ ...each, rendition: muxed.packaging!.renditions[at]! }))
  expect(renditions[0]!.rendition.audio).toHaveLength(1)
  requireCompleteSegments(muxed, renditions, media, 0)
  const short = renditions.map((each, at) => ({ ...each, recorded: taken(at, grid, 4.5).recorded }))
  expect(() => requireCompleteSegments(muxed, short, media, 0)).toThrow('4.500 s instead of 5')
  const silent = (audioEnds: number[]) => () =>
    requireCompleteSegments(muxed, [{ ...renditions[0]!, audioEnds }, renditions[1]!], media, 0)
  expect(silent([5960])).not.toThrow()
  expect(silent([4900])).toThrow('Sound 1 of video_0 (ts) lasts 4.900 s instead of 6.000 s.')
  expect(silent([])).toThrow('Sound 1 of video_0 (ts) is missing.')
})

/** The part of `stream` from full segment `from` on, up to `to`; each segment has `frames` frames. */
function chunkOf(stream: RecordedRendition, from: number, to: number, frames = 50): RecordedRendition {
  const segments = stream.recorded.segments.slice(from, to).map((segment) => ({ ...segment, frames }))
  return { ...stream, before: beforeRange(stream.rendition, from), recorded: { init: null, segments } }
}

test.each<[string, () => void, RegExp]>([
  [
    'all of it',
    () => requireCompleteRange(2, [chunkOf(taken(0, grid), 1, 2), chunkOf(taken(1, grid), 1, 2)], media, 0),
    /^whole$/,
  ],
  [
    'a frame less',
    () => requireCompleteRange(2, [chunkOf(taken(0, grid), 1, 2, 49)], media, 0),
    /has 49 frames from 50 on .* up to 100/,
  ],
  ['a segment more', () => requireCompleteRange(2, [chunkOf(taken(0, grid), 1, 3, 25)], media, 0), /up to 100/],
  [
    'another time',
    () => requireCompleteRange(2, [chunkOf(taken(0, [0, 2.04, 4]), 1, 2)], media, 0),
    /segment 2 at 2.040/,
  ],
  [
    'the last one',
    () => requireCompleteRange(null, [chunkOf(taken(0, grid), 1, 3), chunkOf(taken(1, grid), 1, 3)], media, 0),
    /^whole$/,
  ],
  [
    'the last one, which ends early',
    () => requireCompleteRange(null, [chunkOf(taken(0, grid, 4.8), 1, 3)], media, 0),
    /lasts 4.800 s/,
  ],
  [
    'the last one without a segment',
    () => requireCompleteRange(null, [chunkOf(taken(0, grid), 1, 3), chunkOf(taken(1, grid), 1, 2)], media, 0),
    /video_1.*another number/,
  ],
])('a chunk: %s', (_name, check, expected) => {
  expect(verdictOf(check)).toMatch(expected)
})

test('audio is compared with the end of a video that another part made', () => {
  const end = [chunkOf(taken(0, grid), 1, 3), chunkOf(taken(1, grid), 1, 3)]
  expect(verdict(...end, taken(2, grid))).toBe('whole')
  expect(verdict(...end, taken(2, [0, 2, 4, 4.9]))).toMatch(/audio_0.*4 segments/)
  expect(verdict(...end, taken(2, grid, 4.9))).toMatch(/audio_0.*4.900/)
})
