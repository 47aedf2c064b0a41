// In charge of: a whole divided job against the strict task API: its main task, its parts one after another, and the
// attempt that puts them together.
// Not in charge of: expectations.
import type { TaskDescription } from '#contract/task/protocol.ts'
import { runTask } from '../../../transcoder/pipeline/runTask.ts'
import { runRequest, type AttemptFixture } from './attemptFixture.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'

/** The most parts that the service accepts. */
const MAX_PARTS = 400

/** `chunks`: as in the plan's division. Each part has one attempt, unless `attemptsOf` says otherwise. */
export async function runDividedJob(
  fixture: AttemptFixture,
  taskApi: FakeTaskApi,
  task: TaskDescription,
  { chunks, order = (parts) => parts }: { chunks: number[]; order?: (parts: number[]) => number[] },
): Promise<void> {
  const accepts = { source: true, preview: true, log: true, subtitles: true, parts: MAX_PARTS }
  taskApi.division = { chunks }
  taskApi.task = { ...task, accepts }
  await runTask(runRequest(taskApi), fixture.context())
  const parts = taskApi.divided?.parts ?? 0
  const plan = taskApi.storedPlan
  for (const index of order(Array.from({ length: parts }, (_, each) => each))) {
    const common = { ...task, plan, heartbeat_ms: 5000, accepts: { source: false, preview: false, log: false } }
    taskApi.task = { ...common, kind: 'part', part: { index } }
    await runTask(runRequest(taskApi), fixture.context())
  }
  if (parts === 0) return
  taskApi.task = { ...task, attempt: 2, plan, accepts, assemble: { parts } }
  await runTask(runRequest(taskApi, 2), fixture.context())
}
