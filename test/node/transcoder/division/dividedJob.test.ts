// In charge of: which attempts divide a job.
// Not in charge of: the parts (dividedOutput.long.test.ts), where a job is divided (division/plan).
import { expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { makeSourceClip, runRequest, type TaskDescription } from '../../../support/transcoder/attemptFixture.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const clip = await makeSourceClip(fixture, 6)
const taskApi = useTaskApi(() => clip)

/** A task whose stored plan has three chunks of one segment. */
async function dividedTask(parts: number | undefined): Promise<TaskDescription> {
  const task = segmentedTask({ output_container: 'hls' })
  taskApi.task = task
  await runTask(runRequest(taskApi), fixture.context())
  const plan: Plan = { ...taskApi.plans[0]!.plan, division: { chunks: [0, 1, 2] } }
  taskApi.finished = null
  const accepts = { source: false, preview: false, log: false, ...(parts === undefined ? {} : { parts }) }
  return { ...task, attempt: 2, plan, accepts }
}

test('the attempt ends with the division, and encodes nothing', async () => {
  taskApi.task = await dividedTask(400)
  const encodes = () => fixture.lines.filter((line) => line.includes('ffmpeg starts')).length
  const before = encodes()
  await runTask(runRequest(taskApi, 2), fixture.context())
  expect(taskApi.divided).toEqual({ parts: 4 })
  expect(encodes()).toBe(before)
  expect([taskApi.finished, taskApi.fails, taskApi.breaches]).toEqual([null, [], []])
})

test.each([[undefined], [3]])('a service that accepts %s parts gets the whole job from one task', async (parts) => {
  taskApi.task = await dividedTask(parts)
  await runTask(runRequest(taskApi, 2), fixture.context())
  expect(taskApi.divided).toBeNull()
  expect(taskApi.finished?.objects.length).toBeGreaterThanOrEqual(0)
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
})
