// In charge of: an attempt that takes more wall-clock or CPU time than its source and outputs allow.
// Not in charge of: how much is allowed (test/node/transcoder/plan/deadline.test.ts); here it is almost nothing.
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { TimeLimits } from '../../../../transcoder/plan/estimate/deadline.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { describeTask, makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const given = vi.hoisted(() => ({ allowance: null as TimeLimits | null }))
vi.mock('../../../../transcoder/plan/estimate/deadline.ts', () => ({ timeLimits: () => given.allowance }))

const fixtures = await useAttemptFixture()
let long: Buffer
const taskApi = useTaskApi(() => long)
beforeAll(async () => {
  long = await makeSourceClip(fixtures, 120)
})
beforeEach(() => {
  taskApi.task = describeTask({ container: 'mp4', quality: 'best', bitrates: [400, 300, 200] })
})

test.each([
  ['time', { wallSeconds: 0.1, cpuSeconds: 1000 }, /many times longer/],
  ['processor time', { wallSeconds: 1000, cpuSeconds: 1 }, /CPU time limit/],
])('exceeding the %s limit fails it permanently', async (_title, allowance, message) => {
  given.allowance = allowance
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toMatchObject([
    { reason: 'failed', error: { code: 'deadline_exceeded', message: expect.stringMatching(message) } },
  ])
  expect(await fixtures.workDirEntries()).toEqual([])
})
