// In charge of: attempts at jobs that say nothing about chunks: which of them divide the job, at first and after a loss.
// Not in charge of: where a job is divided (division/plan), the whole service (node/service/jobs).
import { beforeEach, expect, test } from 'vitest'
import type { Plan } from '#contract/task/plan/plan.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeSourceClip, runRequest, type TaskDescription } from '../../../support/transcoder/attemptFixture.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

/** Chunks have 30 s or more. */
const fixture = await useAttemptFixture()
const clip = await makeSourceClip(fixture, 61)
const taskApi = useTaskApi(() => clip)

/** Constant quality needs no samples, so an attempt that divides the job encodes nothing. */
function unasked(aboveSeconds: number | undefined, change: Partial<TaskDescription> = {}): TaskDescription {
  const task = segmentedTask({ segmented_output_dash: true })
  const videoProfiles = task.config.videoProfiles.map((profile) => ({
    ...profile,
    video_bitrate_mode: 'qvbr' as const,
  }))
  const above = aboveSeconds === undefined ? {} : { divide_above_seconds: aboveSeconds }
  return {
    ...task,
    config: { ...task.config, videoProfiles },
    accepts: { source: false, preview: false, log: false, parts: 400, ...above },
    ...change,
  }
}

const encodes = () => fixture.lines.filter((line) => line.includes('ffmpeg starts')).length
const problems = () => [taskApi.fails, taskApi.breaches]

/** The attempt that divides it. */
async function divide(task: TaskDescription): Promise<Plan> {
  taskApi.task = task
  await runTask(runRequest(taskApi, task.attempt), fixture.context())
  expect([taskApi.finished, ...problems()]).toEqual([null, [], []])
  expect(taskApi.divided).toEqual({ parts: 4 })
  const [{ plan, replaces } = { plan: {} }] = taskApi.plans
  expect(replaces === true).toBe(task.attempt > 1)
  return plan as unknown as Plan
}

beforeEach(() => {
  taskApi.task = null
})

test('the first attempt divides it if one transcoder would take longer than the service says', async () => {
  const { division, warnings } = await divide(unasked(1))
  expect(division?.chunks).toEqual([0, 11, 21])
  expect(warnings).toEqual([])
})

test('the attempt after a loss divides what was planned as one task', async () => {
  const { division, ...undivided } = await divide(unasked(1))
  taskApi.plans.length = 0
  taskApi.divided = null
  const before = encodes()
  const again = await divide(unasked(1, { attempt: 2, plan: undivided }))
  expect(again.division).toEqual(division)
  expect(again.packaging).toEqual(undivided.packaging)
  expect(encodes()).toBe(before)
})

test('a dry run shows it', async () => {
  taskApi.task = unasked(1, { kind: 'plan' })
  await runTask(runRequest(taskApi), fixture.context())
  expect(problems()).toEqual([[], []])
  expect(taskApi.estimated?.estimate.plan.division).toMatchObject({ chunks: 3, chosen_by: 'prediction' })
})

test.each([[undefined], [600]])('one task makes a short job, if the service says %s', async (above) => {
  taskApi.task = unasked(above, { kind: 'plan' })
  await runTask(runRequest(taskApi), fixture.context())
  expect(problems()).toEqual([[], []])
  expect(taskApi.estimated?.estimate.plan.division).toBeUndefined()
  expect(taskApi.estimated?.warnings).toEqual([])
})

test('a dry run shows how many transcoders the end time takes, and an attempt divides the job for it', async () => {
  const wanted = (kind: 'plan' | 'transcode'): TaskDescription => {
    const { config, ...task } = unasked(undefined, { kind, deadline: { seconds_left: 0, slots: 8 } })
    // Large enough to take one transcoder long; planning encodes nothing.
    const videoProfiles = config.videoProfiles.map((profile) => ({ ...profile, width: 1280, height: 720 }))
    return { ...task, config: { ...config, videoProfiles, h264_quality: 'best' } }
  }
  taskApi.task = wanted('plan')
  await runTask(runRequest(taskApi), fixture.context())
  expect(problems()).toEqual([[], []])
  const { estimate, warnings } = taskApi.estimated!
  expect(estimate.plan).toMatchObject({ deadline: { seconds: 0, slots: 8, slots_needed: null }, division: {} })
  expect(warnings.map(({ code }) => code)).toContain('deadline_unlikely')

  taskApi.task = wanted('transcode')
  await runTask(runRequest(taskApi), fixture.context())
  expect([taskApi.finished, ...problems()]).toEqual([null, [], []])
  expect(taskApi.divided?.parts).toBe(estimate.plan.division!.chunks + 1)
  expect(taskApi.plans[0]?.warnings).toEqual(warnings)
})
