// Jobs that their client wants by a certain time: how they are divided, how many transcoders that takes, and what is
// said if there are too few.
import { expect, test } from 'vitest'
import { CHUNK_SECONDS, DEADLINE_SECONDS, MAX_JOB_PARTS } from '#contract/limits.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { longestChunkSeconds } from '../../../../../transcoder/division/plan/chunkGrid.ts'
import { checkDeadline, deadlineWarning } from '../../../../../transcoder/division/plan/deadlineCheck.ts'
import type { Deadline } from '../../../../../transcoder/division/plan/deadlineDivision.ts'
import { withDivision } from '../../../../../transcoder/division/plan/withDivision.ts'
import { predictTime } from '../../../../../transcoder/plan/estimate/costModel.ts'
import type { MediaInfo } from '../../../../../transcoder/plan/model/mediaInfo.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { FILM_RUNGS, filmLadder, filmOf } from '../../../../support/transcoder/filmSpecs.ts'
import { mediaInfo } from '../../../../support/transcoder/jobSpecs.ts'

/** An operator who divides nothing by itself: what is divided here is divided for the deadline. */
const machine = { aboveSeconds: Number.POSITIVE_INFINITY, vcpus: 4, maxAttemptSeconds: 12 * 3600 }

/** Constant quality needs no samples. */
const QVBR = FILM_RUNGS.map((profile) => ({ ...profile, mode: 'qvbr' as const }))
const ladder = (change: Partial<JobSpec> = {}) => filmLadder({ video: QVBR, ...change })

function plan(spec: JobSpec, media: MediaInfo, deadline: Deadline, change: Partial<typeof machine> = {}) {
  const whole = planJob(spec, media)
  const abilities = { seekable: true, maxParts: MAX_JOB_PARTS, automatic: { ...machine, ...change, deadline } }
  const made = withDivision(spec, whole, media, abilities)
  const check = checkDeadline(spec, made, media, abilities)
  const { division, packaging } = made
  return {
    chunks: division?.chunks.length ?? 1,
    seconds: division == null || packaging === null ? null : longestChunkSeconds(division, packaging),
    one: predictTime(whole, media, machine.vcpus)?.wall ?? { likely: Number.NaN, high: Number.NaN },
    codes: made.warnings.map(({ code }) => code),
    check,
    warning: check === null ? null : deadlineWarning(check),
  }
}

test('what one transcoder makes in time with certainty is one task', () => {
  const { one } = plan(ladder(), filmOf(300), { secondsLeft: 0, slots: 8 })
  const { chunks, check, warning } = plan(ladder(), filmOf(300), { secondsLeft: Math.ceil(one.high), slots: 8 })
  expect([chunks, check?.slotsNeeded, warning]).toEqual([1, 1, null])
  expect(plan(ladder(), filmOf(300), { secondsLeft: one.high - 1, slots: 8 }).chunks).toBeGreaterThan(1)
})

test.each([0.5, 0.3, 0.2])('the transcoders needed for %d of the time of one can make it', (share) => {
  const media = filmOf(1800)
  const { one } = plan(ladder(), media, { secondsLeft: 0, slots: 32 })
  const secondsLeft = one.likely * share
  const { chunks, check, warning, seconds } = plan(ladder(), media, { secondsLeft, slots: 32 })
  const needed = check?.slotsNeeded ?? Number.NaN
  expect(needed).toBeGreaterThanOrEqual(1 / share)
  expect(needed).toBeLessThan(2 / share)
  expect(chunks).toBeGreaterThanOrEqual(needed)
  expect(seconds).toBeGreaterThanOrEqual(CHUNK_SECONDS.minimum)
  expect(warning).toBeNull()
  expect(plan(ladder(), media, { secondsLeft, slots: needed }).check?.predictedSeconds).toBeLessThanOrEqual(secondsLeft)
  expect(plan(ladder(), media, { secondsLeft, slots: needed - 1 }).check?.predictedSeconds).toBeGreaterThan(secondsLeft)
})

test('too few transcoders: the job is divided as well as it can be, and says how many it takes', () => {
  const media = filmOf(1800)
  const { one } = plan(ladder(), media, { secondsLeft: 0, slots: 1 })
  const secondsLeft = one.likely / 4
  const { chunks, check, warning } = plan(ladder(), media, { secondsLeft, slots: 2 })
  expect(chunks).toBeGreaterThan(2)
  expect(check).toMatchObject({ slots: 2, slotsNeeded: expect.any(Number) as number })
  expect(warning).toMatchObject({ code: 'deadline_unlikely', field: 'deadline_seconds' })
  expect(warning?.message).toBe(
    `The job is predicted to take ${Math.ceil(check!.predictedSeconds)} s of all 2 transcoders, and ${Math.floor(secondsLeft)} s are left until its deadline_seconds are over. It would take ${check!.slotsNeeded} of them at the same time.`,
  )
})

test('the only transcoder makes one task of it, and the number that it takes is known all the same', () => {
  const media = filmOf(1800)
  const { one } = plan(ladder(), media, { secondsLeft: 0, slots: 1 })
  const alone = plan(ladder(), media, { secondsLeft: one.likely / 4, slots: 1 })
  expect(alone.chunks).toBe(1)
  expect(alone.check?.slotsNeeded).toBeGreaterThanOrEqual(4)
  expect(alone.check?.predictedSeconds).toBe(one.likely)
  expect(alone.warning?.message).toContain('the only transcoder')
})

test('no number of transcoders is enough for a time that is over', () => {
  const { chunks, check, warning } = plan(ladder(), filmOf(1800), { secondsLeft: 0, slots: 8 })
  expect(chunks).toBeGreaterThan(8)
  expect(check?.slotsNeeded).toBeNull()
  expect(warning?.message).toMatch(/ 0 s are left .* No number of transcoders is enough\.$/)
})

test('both bounds of deadline_seconds', () => {
  for (const [secondsLeft, length] of [
    [DEADLINE_SECONDS.minimum, 120],
    [DEADLINE_SECONDS.maximum, 12 * 3600],
  ] as const) {
    const vcpus = length === 120 ? 4 : 0.2
    const { chunks, check, warning } = plan(ladder(), filmOf(length), { secondsLeft, slots: 300 }, { vcpus })
    expect(chunks).toBeGreaterThan(1)
    expect(check?.slotsNeeded).toBeGreaterThan(1)
    expect(check?.predictedSeconds).toBeLessThan(secondsLeft)
    expect(warning).toBeNull()
  }
})

test('what cannot be divided has the reason as well', () => {
  const spec = ladder({ maxSourceErrors: 5 })
  const { chunks, codes, check } = plan(spec, filmOf(1800), { secondsLeft: 60, slots: 8 })
  expect([chunks, codes, check?.slotsNeeded]).toEqual([1, ['not_divided'], null])
})

test('the chunks that the job asks for stay, and so does one task', () => {
  const asked = plan(ladder({ maxChunkSeconds: 120 }), filmOf(1800), { secondsLeft: 60, slots: 8 })
  expect([asked.chunks, asked.seconds]).toEqual([15, 120])
  const whole = plan(ladder({ maxChunkSeconds: 0 }), filmOf(1800), { secondsLeft: 60, slots: 8 })
  expect([whole.chunks, whole.codes, whole.check?.slotsNeeded]).toEqual([1, [], null])
})

test('samples that would cost the time of the video are counted', () => {
  const vbr = filmLadder()
  const media = filmOf(24)
  const { one } = plan(vbr, media, { secondsLeft: 0, slots: 8 })
  // Less than a minute of sampling is done before the chunks, by one transcoder: a division would not be earlier.
  expect(one.likely).toBeLessThan(40)
  expect(plan(vbr, media, { secondsLeft: one.likely / 2, slots: 8 }).chunks).toBe(1)
  expect(plan(ladder(), media, { secondsLeft: one.likely / 2, slots: 8 }).chunks).toBeGreaterThan(1)
})

test('a source of unknown length is one task, of which nothing is predicted', () => {
  const unknown = mediaInfo({ durationSeconds: null }, { durationSeconds: null })
  const { chunks, check } = plan(ladder(), unknown, { secondsLeft: 60, slots: 8 })
  expect([chunks, check]).toEqual([1, null])
})
