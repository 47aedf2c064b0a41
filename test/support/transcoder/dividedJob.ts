// In charge of: a whole divided job against the strict task API: its main task, its parts one after another, and the
// attempt that puts them together.
// Not in charge of: expectations.
import type { TaskDescription } from '#contract/task/protocol.ts'
import { runTask, type RunContext } from '../../../transcoder/pipeline/runTask.ts'
import type { SourceVersion } from '../../../transcoder/plan/model/divisionPlan.ts'
import type { Plan } from '../../../transcoder/plan/model/plan.ts'
import { runRequest, type AttemptFixture } from './attemptFixture.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'

/** The most parts that the service accepts. */
const MAX_PARTS = 400

interface Division {
  /** As in the plan. */
  chunks: number[]
  /** The parts that are made, in their order; missing = all, by index. Without all of them the job is not put together. */
  parts?: number[]
  /** The build of ffmpeg that the plan was made for. */
  build?: string
  /** The version of the source that the plan was made for. */
  source?: SourceVersion
  beforeAssembly?: () => void
}

/** Each part has one attempt. */
export async function runDividedJob(
  fixture: AttemptFixture,
  taskApi: FakeTaskApi,
  task: TaskDescription,
  { chunks, parts: wanted, build, source, beforeAssembly }: Division,
): Promise<void> {
  const accepts = { source: true, preview: true, log: true, subtitles: true, parts: MAX_PARTS }
  taskApi.division = { chunks }
  taskApi.task = { ...task, accepts }
  await runTask(runRequest(taskApi), fixture.context())
  const stored = taskApi.storedPlan as Plan
  const plan: Plan = {
    ...stored,
    engine: { ...stored.engine!, ...(build === undefined ? {} : { build }) },
    division: { ...stored.division!, ...(source === undefined ? {} : { source }) },
  }
  const parts = taskApi.divided?.parts ?? 0
  await makeParts(taskApi, { ...task, plan }, wanted ?? Array.from({ length: parts }).keys(), () => fixture.context())
  if (taskApi.records.size < parts || parts === 0) return
  beforeAssembly?.()
  await assembleFromParts(taskApi, { ...task, plan, accepts }, parts, () => fixture.context())
}

/** `task`: with its plan. */
export async function makeParts(
  taskApi: FakeTaskApi,
  task: TaskDescription,
  parts: Iterable<number>,
  context: () => RunContext,
): Promise<void> {
  for (const index of parts) {
    const common = { ...task, heartbeat_ms: 5000, accepts: { source: false, preview: false, log: false } }
    taskApi.task = { ...common, kind: 'part', part: { index } }
    await runTask(runRequest(taskApi), context())
  }
}

export async function assembleFromParts(
  taskApi: FakeTaskApi,
  task: TaskDescription,
  parts: number,
  context: () => RunContext,
): Promise<void> {
  taskApi.task = { ...task, attempt: 2, assemble: { parts } }
  await runTask(runRequest(taskApi, 2), context())
}
