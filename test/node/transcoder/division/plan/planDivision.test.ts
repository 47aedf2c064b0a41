// Whether a job is divided, and where its chunks begin.
import { describe, expect, test } from 'vitest'
import { parseCutTime } from '#contract/job/cutTime.ts'
import type { JobSpec, PackagingSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import { MAX_SURVEY_PARTS } from '../../../../../transcoder/division/plan/surveyPlan.ts'
import { taskPlan, type Plan } from '#contract/task/plan/plan.ts'
import { longestChunkSeconds } from '../../../../../transcoder/division/plan/chunkGrid.ts'
import { planDivision } from '../../../../../transcoder/division/plan/planDivision.ts'
import { withDivision } from '../../../../../transcoder/division/plan/withDivision.ts'
import type { MediaInfo } from '../../../../../transcoder/plan/model/mediaInfo.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { ALL_FEATURES } from '../../../../../transcoder/plan/model/engineFeatures.ts'
import { cutSource } from '../../../../../transcoder/plan/streams/cut.ts'
import { timelineOf } from '../../../../../transcoder/plan/streams/outputTiming.ts'
import {
  audioStream,
  jobSpec,
  mediaInfo,
  packagingSpec,
  videoProfile,
} from '../../../../support/transcoder/jobSpecs.ts'

const ABILITIES = { seekable: true, maxParts: MAX_JOB_PARTS }

/** Segments of 6 s. */
const specOf = (
  maxChunkSeconds: number | null,
  {
    packaging = {},
    video = {},
    ...change
  }: Partial<Omit<JobSpec, 'video' | 'packaging'>> & {
    packaging?: Partial<PackagingSpec>
    video?: Partial<VideoProfile>
  } = {},
) =>
  jobSpec({
    maxChunkSeconds,
    gopSeconds: 2,
    packaging: packagingSpec({ hls: true, ...packaging }),
    video: [videoProfile({ output: '', ...video })],
    ...change,
  })

const lasting = (seconds: number, change: Partial<MediaInfo> = {}) =>
  mediaInfo(
    { durationSeconds: seconds },
    { durationSeconds: seconds, audio: [audioStream({ durationSeconds: seconds })], ...change },
  )

function divide(spec: JobSpec, media: MediaInfo, change: Partial<Plan> = {}, abilities = ABILITIES) {
  return planDivision(spec, { ...planJob(spec, media), ...change }, media, abilities)
}

function chunks(spec: JobSpec, media: MediaInfo): number[] | null {
  const result = divide(spec, media)
  return 'division' in result ? result.division.chunks : null
}

describe('chunks are ranges of whole segments of about the same length', () => {
  test.each<[string, number, number, number[]]>([
    ['as many as fit', 24, 120, [0, 4, 8, 12, 16]],
    ['a length that is no multiple of segments', 29, 120, [0, 4, 8, 12, 16]],
    ['the last as long as the others', 24, 54, [0, 3, 6]],
    ['a remainder shorter than a segment', 24, 49, [0, 3, 6]],
    ['a remainder of less than half a chunk goes to the chunk before', 10, 37, [0, 1, 2, 3, 4, 5]],
    ['one segment is the shortest chunk', 10, 24, [0, 1, 2, 3]],
  ])('%s', (_, wanted, seconds, expected) => {
    expect(chunks(specOf(wanted), lasting(seconds))).toEqual(expected)
  })

  test('for every length: ascending, none longer than asked for, the last at least half as long as the first', () => {
    for (let seconds = 13; seconds < 2000; seconds += 3.7)
      for (const wanted of [12, 20, 60, 100]) {
        const starts = chunks(specOf(wanted), lasting(seconds)) ?? [0]
        const ends = [...starts.slice(1), seconds / 6]
        const lengths = starts.map((start, chunk) => ends[chunk]! - start)
        expect(Math.min(...lengths)).toBeGreaterThan(0)
        // Half a segment: a remainder that goes to the chunk before, where chunks are one segment or two.
        expect(Math.max(...lengths)).toBeLessThanOrEqual(Math.floor(wanted / 6) + 0.5)
        expect(lengths.at(-1)).toBeGreaterThanOrEqual(lengths[0]! / 2 - 0.5)
      }
  })

  test('a chunk does not begin where a splice point takes the place of a regular boundary', () => {
    const spec = specOf(24)
    const media = lasting(120)
    const plan = planJob(spec, media)
    const [rendition, ...others] = plan.packaging!.renditions
    const withSplices = (...spliceFrames: number[]): Partial<Plan> => ({
      packaging: {
        ...plan.packaging!,
        renditions: [{ ...rendition!, video: { ...rendition!.video!, spliceFrames } }, ...others],
      },
    })
    const found = (...frames: number[]) => divide(spec, media, withSplices(...frames))
    // 150 frames in a segment; a splice point counts within 18 of them.
    expect(found(582)).toEqual({ division: { chunks: [0, 3, 8, 12, 16] } })
    expect(found(619)).toEqual({ division: { chunks: [0, 4, 8, 12, 16] } })
    expect(found(449, 601)).toEqual({ division: { chunks: [0, 5, 8, 12, 16] } })
    expect(found(300, 450, 600, 750, 900)).toEqual({ division: { chunks: [0, 8, 12, 16] } })
  })

  test('there are never more parts than the service accepts', () => {
    const spec = specOf(10)
    const media = lasting(9000)
    expect(chunks(spec, media)).toHaveLength(MAX_JOB_PARTS - MAX_SURVEY_PARTS - 1)
    const few = divide(spec, media, {}, { seekable: true, maxParts: MAX_SURVEY_PARTS + 4 })
    expect(few).toEqual({ division: { chunks: [0, 500, 1000] } })
    expect(divide(spec, media, {}, { seekable: true, maxParts: MAX_SURVEY_PARTS + 2 })).toHaveProperty('left_out')
  })

  test('the last chunk lasts longer than what may be missing at the end of a source', () => {
    const spec = specOf(10)
    for (const seconds of [21, 35.5, 3601, 7203, 20_001, 86_399]) {
      const starts = chunks(spec, lasting(seconds))!
      const last = seconds - starts.at(-1)! * 6
      // As requireExpectedDuration allows.
      expect(last, `${seconds} s`).toBeGreaterThan(Math.max(0.001 * seconds, 0.1))
    }
  })

  test('both bounds of max_chunk_seconds', () => {
    const film = lasting(7200)
    const longest = (wanted: number, segmentSeconds: number) => {
      const spec = specOf(wanted, { packaging: { segmentSeconds } })
      const { division, packaging, warnings } = withDivision(spec, planJob(spec, film), film, {
        seekable: true,
        maxParts: 1000,
      })
      return { seconds: longestChunkSeconds(division!, packaging!), warnings }
    }
    expect(longest(10, 2)).toEqual({ seconds: 10, warnings: [] })
    expect(longest(600, 6)).toEqual({ seconds: 600, warnings: [] })
  })

  test('a longer chunk than the job asked for has a warning', () => {
    const spec = specOf(10, { packaging: { segmentSeconds: 12 } })
    const media = lasting(120)
    expect(withDivision(spec, planJob(spec, media), media, ABILITIES)).toMatchObject({
      division: { chunks: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] },
      warnings: [
        { code: 'value_clamped', field: 'max_chunk_seconds', message: expect.stringContaining('12 s') as string },
      ],
    })
  })

  test('audio that outlasts the video makes no chunk', () => {
    const media = mediaInfo(
      { durationSeconds: 48 },
      { durationSeconds: 300, audio: [audioStream({ durationSeconds: 300 })] },
    )
    expect(chunks(specOf(24), media)).toEqual([0, 4])
  })

  test('the part of the source that is used is divided', () => {
    const spec = specOf(24, { cut: { start: parseCutTime(60), end: parseCutTime(108) } })
    const media = lasting(600)
    expect(chunks(spec, cutSource(spec, media, timelineOf(spec, media, ALL_FEATURES)).media)).toEqual([0, 4])
  })
})

/** A transport stream of two minutes. */
const transport = (
  change: Partial<MediaInfo>,
  { id = 256, codec = 'h264' }: { id?: number | null; codec?: string } = {},
): MediaInfo => {
  const media = lasting(120, { formats: ['mpegts'], ...change })
  return { ...media, video: { ...media.video!, id, codec } }
}

test.each(['h264', 'hevc', 'mpeg2video'])('a transport stream of %s is divided', (codec) => {
  expect(chunks(specOf(24), transport({}, { codec }))).toEqual([0, 4, 8, 12, 16])
})

test('a job with stills is divided: the rest makes them', () => {
  const frames = {} as NonNullable<NonNullable<Plan['extracts']>['frames']>
  const extracts = { frames, stills: [], preview: null, waveform: null }
  expect(divide(specOf(24), lasting(120), { extracts })).toHaveProperty('division')
})

/** With closed captions. */
const captioned = (num: number): MediaInfo =>
  mediaInfo({ durationSeconds: 120, closedCaptions: true, frameRate: { num, den: 1001 } }, { durationSeconds: 120 })

test.each([
  [30_000, '1x'],
  [30_000, '2x'],
  [60_000, '1x'],
] as const)('captions of the source are divided with the frames that carry them: %i, %s', (num, frameRateFactor) => {
  expect(divide(specOf(24, { video: { frameRateFactor } }), captioned(num))).toHaveProperty('division')
})

describe('one task', () => {
  test.each([
    ['not given', null],
    ['0', 0],
  ])('max_chunk_seconds is %s', (_, wanted) => {
    expect(divide(specOf(wanted), lasting(7200))).toEqual({ left_out: null })
  })

  test('a video of one chunk is what the job asks for', () => {
    expect(divide(specOf(60), lasting(60))).toEqual({ left_out: null })
    expect(divide(specOf(10, { packaging: { segmentSeconds: 12 } }), lasting(13))).toEqual({
      left_out: expect.stringContaining('too short') as string,
    })
  })

  test.each<[string, Parameters<typeof specOf>[1], MediaInfo, Partial<Plan>]>([
    ['hevc of a constant bitrate', { videoCodec: 'hevc', video: { mode: 'cbr' } }, lasting(120), {}],
    ['no index', {}, lasting(120, { formats: ['avi'] }), {}],
    ['several programs', {}, transport({ programs: [1, 2] }), {}],
    ['of vc1', {}, transport({}, { codec: 'vc1' }), {}],
    ['of h264', {}, transport({}, { id: null }), {}],
    ['more than 26 hours', {}, transport({ durationSeconds: 26.2 * 3600 }), {}],
    ['max_source_errors', { maxSourceErrors: 0 }, lasting(120), {}],
    ['captions of the source', { video: { frameRateFactor: '1/2x' } }, captioned(60_000), {}],
    [
      'joined from several',
      {},
      lasting(120),
      { reads: { kind: 'pieces', join: { pieces: [], canvas: null } as never } },
    ],
    ['does not state', {}, mediaInfo({ durationSeconds: null }, { durationSeconds: 120 }), {}],
  ])('%s', (reason, change, media, planChange) => {
    expect(divide(specOf(24, change), media, planChange)).toEqual({
      left_out: expect.stringContaining(reason) as string,
    })
  })

  test.each<[string, Partial<JobSpec>]>([
    ['mpeg2', { videoCodec: 'mpeg2' }],
    ['hevc of a constant bitrate', { videoCodec: 'hevc', video: [videoProfile({ mode: 'cbr' })] }],
  ])('files: %s', (reason, change) => {
    const spec = jobSpec({ maxChunkSeconds: 24, ...change })
    expect(divide(spec, lasting(120))).toEqual({ left_out: expect.stringContaining(reason) as string })
  })

  test('a source that is read in order, and a service that divides no jobs', () => {
    const spec = specOf(24)
    const left = (abilities: typeof ABILITIES | { seekable: boolean; maxParts: null }) =>
      planDivision(spec, planJob(spec, lasting(120)), lasting(120), abilities)
    expect(left({ seekable: false, maxParts: 400 })).toEqual({
      left_out: expect.stringContaining('only be read') as string,
    })
    expect(left({ seekable: true, maxParts: null })).toEqual({ left_out: 'the service divides no jobs' })
  })

  test('telecined film', () => {
    const media = mediaInfo(
      {
        durationSeconds: 120,
        frameRate: { num: 30000, den: 1001 },
        scan: { tff: 60, bff: 0, progressive: 90, neither: 90, repeatedTop: 30, repeatedBottom: 30 },
      },
      { durationSeconds: 120 },
    )
    const spec = specOf(24, { detelecine: true })
    expect(planJob(spec, media, { features: ALL_FEATURES }).warnings).toContainEqual(
      expect.objectContaining({ code: 'detelecined' }),
    )
    expect(divide(spec, media)).toEqual({ left_out: expect.stringContaining('3:2') as string })
    expect(divide(specOf(24), media)).toHaveProperty('division')
  })
})

describe('the plan', () => {
  test('has the division, which the service can store', () => {
    const spec = specOf(24)
    const planned = withDivision(spec, planJob(spec, lasting(48)), lasting(48), ABILITIES)
    expect(planned.division).toEqual({ chunks: [0, 4] })
    expect(taskPlan.parse(planned).division).toEqual({ chunks: [0, 4] })
    expect(planned.warnings.map(({ code }) => code)).not.toContain('not_divided')
  })

  test('warns only a job that asked for chunks', () => {
    const plan = (wanted: number | null) => {
      const spec = specOf(wanted, { videoCodec: 'hevc', video: { mode: 'cbr' } })
      return withDivision(spec, planJob(spec, lasting(120)), lasting(120), ABILITIES)
    }
    expect(plan(24).division).toBeNull()
    expect(plan(24).warnings).toContainEqual({
      code: 'not_divided',
      field: 'max_chunk_seconds',
      message:
        'The job is not divided into chunks: hevc of a constant bitrate (cbr) needs one encoder for the whole video; vbr can be divided.',
    })
    for (const wanted of [null, 0]) expect(plan(wanted).warnings).toEqual([])
  })
})
