// In charge of: an attempt that takes more wall-clock or CPU time than its source and outputs allow.
// Not in charge of: how much is allowed (test/node/transcoder/plan/deadline.test.ts); here it is almost nothing.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { TimeLimits } from '../../../../transcoder/plan/estimate/deadline.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeSourceClip,
  openAttemptFixture,
  runRequest,
  type AttemptFixture,
} from '../../../support/transcoder/attemptFixture.ts'

const given = vi.hoisted(() => ({ allowance: null as TimeLimits | null }))
vi.mock('../../../../transcoder/plan/estimate/deadline.ts', () => ({ timeLimits: () => given.allowance }))

let fixtures: AttemptFixture
let long: Buffer
let taskApi: FakeTaskApi
beforeAll(async () => {
  fixtures = await openAttemptFixture()
  long = await makeSourceClip(fixtures, 120)
})
afterAll(() => fixtures.remove())
beforeEach(async () => {
  taskApi = await new FakeTaskApi({ bytes: long }).start()
  taskApi.task = describeTask({ container: 'mp4', quality: 'best', bitrates: [400, 300, 200] })
})
afterEach(() => taskApi.stop())

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
