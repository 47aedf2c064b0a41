// In charge of: `inputs` in whole attempts: every frame and every audio sample of the joined outputs is the expected one.
// Not in charge of: the request (contract/job/inputs.test.ts), the plan (plan/join.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { audioShiftsAt, frameNumbers, makeNumberedClip, sampleCount } from '../../../support/media/numberedClip.ts'
import {
  describeTask,
  openAttemptFixture,
  runRequest,
  type AttemptFixture,
} from '../../../support/transcoder/attemptFixture.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'

const SECONDS = 24
let fixture: AttemptFixture
let taskApi: FakeTaskApi
const path = (name: string): string => join(fixture.directory, name)
beforeAll(async () => {
  fixture = await openAttemptFixture()
  await makeNumberedClip(path('a.mp4'), { seconds: SECONDS })
})
afterAll(() => fixture.remove())
beforeEach(async () => {
  taskApi = await new FakeTaskApi().start()
})
afterEach(() => taskApi.stop())

export interface Part {
  file: string
  start?: number
  end?: number
  streams?: Record<string, string | null>
}

async function run(
  parts: readonly Part[],
  change: Partial<JobConfig> = {},
  segmented = false,
): Promise<Map<string, Buffer>> {
  taskApi.inputs = await Promise.all(parts.map(async ({ file }) => ({ bytes: await readFile(path(file)) })))
  taskApi.source = taskApi.inputs[0]!
  const task = segmented
    ? segmentedTask({})
    : describeTask({ container: change.output_container === 'ts' ? 'ts' : 'mp4' })
  const profiles = task.config.videoProfiles.map((profile) => ({ ...profile, width: 192, height: 48 }))
  const { input: _input, ...config } = task.config
  taskApi.task = {
    ...task,
    config: {
      ...config,
      inputs: parts.map(({ file, start, end, streams }) => ({
        input: `https://example.com/${file}`,
        ...(start === undefined ? {} : { start_seconds: start }),
        ...(end === undefined ? {} : { end_seconds: end }),
        ...(streams === undefined ? {} : { source_streams: streams }),
      })),
      videoProfiles: profiles,
      ...change,
    } as JobConfig,
  }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails).toEqual([])
  return storedObjects(taskApi)
}

test('two parts of an mp4, as an mp4', async () => {
  const objects = await run([
    { file: 'a.mp4', start: 2, end: 5 },
    { file: 'a.mp4', start: 10.4, end: 13.2 },
  ])
  await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
  expect(await frameNumbers(path('out.mp4'))).toEqual(
    [...Array(75).keys()].map((n) => n + 50).concat([...Array(70).keys()].map((n) => n + 260)),
  )
  expect(
    await audioShiftsAt(path('out.mp4'), [
      { place: 4800, origin: 2 * 48_000 + 4800 },
      { place: 3 * 48_000 - 5760, origin: 5 * 48_000 - 5760 },
      { place: 3 * 48_000 + 480, origin: 10.4 * 48_000 + 480 },
      { place: 5.6 * 48_000, origin: 13 * 48_000 },
    ]),
  ).toEqual([0, 0, 0, 0])
  expect(await sampleCount(path('out.mp4'))).toBeGreaterThan(5.8 * 48_000 - 1)
})
