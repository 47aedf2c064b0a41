// Jobs that say nothing about chunks: which of them are divided, into how long chunks.
import { describe, expect, test } from 'vitest'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import type { AutomaticDivision } from '../../../../../transcoder/division/plan/automaticDivision.ts'
import { chunkSecondsOf, longestChunkSeconds } from '../../../../../transcoder/division/plan/chunkGrid.ts'
import { MAX_SURVEY_PARTS } from '../../../../../transcoder/division/plan/surveyPlan.ts'
import { withDivision } from '../../../../../transcoder/division/plan/withDivision.ts'
import { predictTime } from '../../../../../transcoder/plan/estimate/costModel.ts'
import type { MediaInfo } from '../../../../../transcoder/plan/model/mediaInfo.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { FILM_RUNGS, filmLadder, filmOf } from '../../../../support/transcoder/filmSpecs.ts'
import { audioStream, jobSpec, mediaInfo, packagingSpec } from '../../../../support/transcoder/jobSpecs.ts'

/** The container of wrangler.toml, and the limits of the service. */
const AUTOMATIC: AutomaticDivision = { aboveSeconds: 600, vcpus: 4, maxAttemptSeconds: 12 * 3600 }

const ofMode = (mode: VideoProfile['mode']) => FILM_RUNGS.map((profile) => ({ ...profile, mode }))

/** Chunks; of single files, too. */
function decideParts(spec: JobSpec, media: MediaInfo, change: Partial<AutomaticDivision> = {}): number {
  const automatic = { ...AUTOMATIC, ...change }
  const abilities = { seekable: true, maxParts: MAX_JOB_PARTS, automatic }
  return withDivision(spec, planJob(spec, media), media, abilities).division?.chunks.length ?? 1
}

function decide(spec: JobSpec, media: MediaInfo, change: Partial<AutomaticDivision> = {}) {
  const plan = planJob(spec, media)
  const automatic = { ...AUTOMATIC, ...change }
  const planned = withDivision(spec, plan, media, { seekable: true, maxParts: MAX_JOB_PARTS, automatic })
  const { division, packaging, warnings } = planned
  const likely = predictTime(plan, media, automatic.vcpus)?.wall.likely ?? Number.NaN
  if (division == null || packaging === null) return { chunks: 1, lengths: [], warnings, likely }
  const seconds = longestChunkSeconds(division, packaging)
  return {
    chunks: division.chunks.length,
    warnings,
    likely,
    seconds,
    lengths: chunkSecondsOf(division, packaging, plan.durationSeconds!),
    encoding: (seconds * likely) / plan.durationSeconds!,
  }
}

test('a film of two hours: chunks of 45 to 60 seconds of encoding', () => {
  const { chunks, encoding, likely, warnings } = decide(filmLadder(), filmOf(7200))
  expect(likely).toBeGreaterThan(3600)
  expect(encoding).toBeGreaterThan(45)
  expect(encoding).toBeLessThan(61)
  expect(chunks).toBe(134)
  expect(warnings).toEqual([])
})

test('where several transcoders may work on it, the last chunks are shorter, and those of a job that asks are not', () => {
  const media = filmOf(7200)
  const one = decide(filmLadder(), media)
  const { chunks, lengths, seconds, warnings } = decide(filmLadder(), media, { slots: 16 })
  expect([seconds, warnings]).toEqual([one.seconds, []])
  // 16 of 24 or 30 s take the place of eight of 54.
  expect(chunks).toBe(one.chunks + 8)
  expect(lengths.slice(-17).map((length) => length > 30)).toEqual([true, ...Array.from({ length: 16 }, () => false)])
  const spec = filmLadder({ maxChunkSeconds: 120 })
  expect(decide(spec, media, { slots: 16 })).toEqual(decide(spec, media))
})

test('it needs no setting, on a machine of any size', () => {
  for (const vcpus of [1, 2, 4, 8, 16]) {
    const { chunks, seconds, encoding, likely } = decide(filmLadder(), filmOf(7200), { vcpus })
    expect(chunks).toBeGreaterThan(likely / 130)
    expect(seconds).toBeGreaterThanOrEqual(24)
    expect(seconds).toBeLessThanOrEqual(600)
    // On one core, chunks of 30 s of video take longer.
    expect(encoding).toBeLessThan(vcpus === 1 ? 160 : 75)
  }
})

test.each<[string, JobSpec, MediaInfo]>([
  ['a clip of 30 seconds', filmLadder(), filmOf(30)],
  ['ten minutes with one small rendition', filmLadder({ video: [FILM_RUNGS[3]!] }), filmOf(600)],
  [
    'a source that does not state its length',
    filmLadder(),
    mediaInfo(
      { width: 1920, height: 1080, durationSeconds: null },
      { durationSeconds: null, audio: [audioStream({ durationSeconds: null })] },
    ),
  ],
  ['a job that counts the errors of its source', filmLadder({ maxSourceErrors: 5 }), filmOf(7200)],
])('%s is one task, without a warning', (_, spec, media) => {
  expect(decide(spec, media)).toMatchObject({ chunks: 1, warnings: [] })
})

test.each<[string, MediaInfo]>([
  ['silent', filmOf(7200, {}, { audio: [] })],
  ['portrait', filmOf(7200, { width: 1080, height: 1920 })],
  ['25 and 59.94 frames per second', filmOf(7200, { frameRate: { num: 60000, den: 1001 } })],
])('%s video is divided', (_, media) => {
  const { chunks, encoding } = decide(filmLadder(), media)
  expect(chunks).toBeGreaterThan(20)
  expect(encoding).toBeLessThan(61)
})

test('what a look at the source found against a division is told to a job that asked, and where one attempt may be too short', () => {
  const hindrance = 'the time stamps of the source jump'
  const warningsOf = (spec: JobSpec, change: Partial<AutomaticDivision> = {}) => {
    const abilities = { seekable: true, maxParts: MAX_JOB_PARTS, automatic: { ...AUTOMATIC, ...change }, hindrance }
    const { division, warnings } = withDivision(spec, planJob(spec, filmOf(7200)), filmOf(7200), abilities)
    expect(division ?? null).toBeNull()
    return warnings.map(({ code, message }) => `${code}: ${message}`)
  }
  expect(warningsOf(filmLadder())).toEqual([])
  const said = `not_divided: The job is not divided into chunks: ${hindrance}.`
  expect(warningsOf(filmLadder({ maxChunkSeconds: 60 }))).toEqual([said])
  expect(warningsOf(filmLadder(), { maxAttemptSeconds: 3600 })).toEqual([
    expect.stringMatching(/^not_divided: .*jump\. One task may take up to [\d.]+ hours for it/),
  ])
})

describe('what is saved decides', () => {
  /** Not far below and above the threshold. */
  test.each([
    [0.9, 1],
    [1.2, 11],
  ])('%s of ten minutes of encoding', (share, least) => {
    const spec = filmLadder({ video: ofMode('qvbr') })
    const { likely } = decide(spec, filmOf(3600))
    const { chunks } = decide(spec, filmOf((3600 * share * 600) / likely))
    expect(chunks > 1).toBe(least > 1)
    expect(chunks).toBeGreaterThanOrEqual(least)
  })

  test('samples of a short video cost as much as its encode', () => {
    const heavy = { width: 3840, height: 2160, frameRate: { num: 60, den: 1 } }
    const [vbr, qvbr] = (['vbr', 'qvbr'] as const).map((mode) =>
      decide(filmLadder({ video: ofMode(mode), quality: 'best' }), filmOf(150, heavy), { vcpus: 1 }),
    )
    expect(vbr!.likely).toBeGreaterThan(900)
    expect(vbr!.chunks).toBe(1)
    expect(qvbr!.chunks).toBe(5)
  })

  test('so do those of a short file, whose chunks have segments of their own', () => {
    const heavy = filmOf(150, { width: 3840, height: 2160, frameRate: { num: 60, den: 1 } })
    const [vbr, qvbr] = (['vbr', 'qvbr'] as const).map((mode) => {
      const video = ofMode(mode).map((profile, index) => ({ ...profile, output: `${index}.mp4` }))
      return decideParts(jobSpec({ quality: 'best', gopSeconds: 2, video }), heavy, { vcpus: 1 })
    })
    expect(vbr).toBe(1)
    expect(qvbr).toBeGreaterThan(1)
  })

  test('what free transcoders save together: they share the samples of a short, heavy video', () => {
    const video = [{ ...FILM_RUNGS[0]!, bitrateKbps: 3000 }]
    const spec = filmLadder({ videoCodec: 'hevc', quality: 'best', video })
    const [alone, two, four, many] = [1, 2, 4, 50].map((freeSlots) =>
      decide(spec, filmOf(360), { vcpus: 2, slots: 50, freeSlots }),
    )
    expect(alone!.likely).toBeGreaterThan(900)
    expect([alone!.chunks, two!.chunks]).toEqual([1, 1])
    expect(four!.chunks).toBeGreaterThan(8)
    expect(many!.chunks).toBeGreaterThan(8)
    // Not worth the samples; and the operator may have nothing divided unasked.
    expect(decide(filmLadder(), filmOf(120), { slots: 50, freeSlots: 50 }).chunks).toBe(1)
    expect(decide(spec, filmOf(360), { vcpus: 2, freeSlots: 50, aboveSeconds: Infinity }).chunks).toBe(1)
  })

  test('the threshold is the operator’s, and 0 of the client is stronger', () => {
    const spec = filmLadder({ video: ofMode('qvbr') })
    expect(decide(spec, filmOf(120), { aboveSeconds: 60 }).chunks).toBe(4)
    expect(decide(spec, filmOf(62), { aboveSeconds: 1 }).chunks).toBe(3)
    expect(decide(spec, filmOf(7200), { aboveSeconds: 100_000 }).chunks).toBe(1)
    expect(decide(filmLadder({ maxChunkSeconds: 0 }), filmOf(7200)).chunks).toBe(1)
    expect(decide(filmLadder({ maxChunkSeconds: 120 }), filmOf(7200)).seconds).toBe(120)
  })
})

test('a day is divided into no more parts than a job may have', () => {
  const spec = filmLadder({ packaging: packagingSpec({ hls: true }) })
  const { chunks, seconds } = decide(spec, filmOf(24 * 3600))
  expect(chunks).toBe(MAX_JOB_PARTS - MAX_SURVEY_PARTS - 1)
  expect(seconds).toBeLessThanOrEqual(600)
})

test('what cannot be divided and may not fit into one attempt has the reason', () => {
  const spec = filmLadder({ maxSourceErrors: 5, packaging: packagingSpec({ hls: true }) })
  expect(decide(spec, filmOf(7200)).warnings).toEqual([])
  const day = filmOf(24 * 3600)
  expect(decide(spec, day).warnings).toEqual([
    {
      code: 'not_divided',
      field: 'max_chunk_seconds',
      message: expect.stringMatching(
        /^The job is not divided into chunks: max_source_errors .*\. One task may take up to \d+(\.\d)? hours for it, and an attempt has 12 hours\.$/,
      ) as string,
    },
  ])
  expect(decide({ ...spec, maxChunkSeconds: 0 }, day).warnings).toEqual([])
})
