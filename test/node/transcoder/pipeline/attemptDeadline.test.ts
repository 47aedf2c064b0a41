// In charge of: an attempt that takes more time, or more of the processor, than its source and outputs may take.
// Not in charge of: how much that is (test/node/transcoder/plan/deadline.test.ts); here it is next to nothing.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Allowance } from '../../../../transcoder/plan/estimate/deadline.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { FakeDoor } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeClip,
  openBench,
  requestFor,
  type Bench,
} from '../../../support/transcoder/attemptFixture.ts'

const given = vi.hoisted(() => ({ allowance: null as Allowance | null }))
vi.mock('../../../../transcoder/plan/estimate/deadline.ts', () => ({ allowance: () => given.allowance }))

let bench: Bench
let long: Buffer
let door: FakeDoor
beforeAll(async () => {
  bench = await openBench()
  long = await makeClip(bench, 120)
})
afterAll(() => bench.remove())
beforeEach(async () => {
  door = await new FakeDoor({ bytes: long }).start()
  door.task = describeTask({ container: 'mp4', quality: 'best', bitrates: [400, 300, 200] })
})
afterEach(() => door.stop())

test.each([
  ['time', { wallSeconds: 0.1, cpuSeconds: 1000 }, /many times longer/],
  ['processor time', { wallSeconds: 1000, cpuSeconds: 1 }, /CPU time limit/],
])('the %s that it may take ends it, for good', async (_title, allowance, message) => {
  given.allowance = allowance
  await runTask(requestFor(door), bench.context())
  expect(door.fails).toMatchObject([
    { reason: 'failed', error: { code: 'deadline_exceeded', message: expect.stringMatching(message) } },
  ])
  expect(await bench.leftOvers()).toEqual([])
})
