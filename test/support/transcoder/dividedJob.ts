// In charge of: a whole divided job against the strict task API: its main task, its parts one after another, and the
// attempt that puts them together.
// Not in charge of: expectations.
import { toSpec } from '#contract/job/toJobSpec.ts'
import { partTaskNumber } from '#contract/taskId.ts'
import { divisionAbilities } from '#contract/task/divisionAbilities.ts'
import { runTask, type RunContext } from '../../../transcoder/runTask.ts'
import type { SourceVersion, SurveyPlan } from '#contract/task/plan/divisionPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { runRequest, type AttemptFixture, type TaskDescription } from './attemptFixture.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'

/** As the service says, by what was divided before. */
const acceptsOf = (parts: number): NonNullable<TaskDescription['accepts']> => ({
  source: true,
  preview: true,
  log: true,
  subtitles: true,
  ...divisionAbilities({ kind: 'transcode', parts }),
})

interface Division {
  /** As in the plan; null = as the first attempt plans them. */
  chunks: number[] | null
  /** As in the plan; missing = the first attempt takes the samples. */
  survey?: SurveyPlan
  /** The parts that are made, in their order; missing = all, by index. Without all of them the job is not put together. */
  parts?: number[]
  /** The build of ffmpeg that the plan was made for. */
  build?: string
  /** The version of the source that the plan was made for. */
  source?: SourceVersion
  beforeSurvey?: () => void
  beforeAssembly?: () => void
}

/** The same task in chunks of single segments, which may be shorter than a request can ask for. */
export function inChunks(task: TaskDescription): TaskDescription {
  const spec = { ...toSpec(task.config, task.input_name), maxChunkSeconds: task.config.segment_length ?? 2 }
  return { ...task, spec }
}

/** Each part has one attempt. */
export async function runDividedJob(
  fixture: AttemptFixture,
  taskApi: FakeTaskApi,
  task: TaskDescription,
  { chunks, survey, parts: wanted, build, source, beforeSurvey, beforeAssembly }: Division,
): Promise<void> {
  const accepts = acceptsOf(0)
  taskApi.division =
    chunks === null
      ? null
      : {
          chunks,
          ...(survey === undefined ? {} : { survey }),
        }
  taskApi.task = { ...task, accepts }
  await runTask(runRequest(taskApi), fixture.context())
  beforeSurvey?.()
  if (survey !== undefined) await runSurvey(fixture, taskApi, task)
  const stored = taskApi.storedPlan as Plan | null
  if (stored === null)
    throw new Error(
      `the first attempt stored no plan: ${JSON.stringify({ fails: taskApi.fails, finished: taskApi.finished })}`,
    )
  const plan: Plan = {
    ...stored,
    engine: { ...stored.engine!, ...(build === undefined ? {} : { build }) },
    division: { ...stored.division!, ...(source === undefined ? {} : { source }) },
  }
  const first = stored.division!.survey?.parts ?? 0
  const parts = (taskApi.divided?.parts ?? 0) - first
  const all = Array.from({ length: Math.max(0, parts) }, (_, index) => first + index)
  await makeParts(taskApi, { ...task, plan }, wanted ?? all, () => fixture.context())
  if (taskApi.records.size < first + parts || parts <= 0) return
  beforeAssembly?.()
  const assembling = { ...task, plan, accepts: acceptsOf(first + parts) }
  await assembleFromParts(taskApi, assembling, { parts, first }, () => fixture.context(), survey === undefined ? 2 : 3)
}

/** The parts of the survey, and the attempt behind them, which divides the job. */
async function runSurvey(fixture: AttemptFixture, taskApi: FakeTaskApi, task: TaskDescription): Promise<void> {
  if (taskApi.divided?.survey !== true) throw new Error('the job has no survey')
  const { parts } = taskApi.divided
  const surveyed = { ...task, plan: taskApi.storedPlan }
  await makeParts(taskApi, surveyed, Array(parts).keys(), () => fixture.context())
  taskApi.task = { ...surveyed, attempt: 2, surveyed: { parts }, accepts: acceptsOf(parts) }
  await runTask(runRequest(taskApi, 2), fixture.context())
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
    await runTask(runRequest(taskApi, 1, partTaskNumber(index)), context())
  }
}

export async function assembleFromParts(
  taskApi: FakeTaskApi,
  task: TaskDescription,
  assemble: { parts: number; first?: number },
  context: () => RunContext,
  attempt = 2,
): Promise<void> {
  taskApi.task = { ...task, attempt, assemble }
  await runTask(runRequest(taskApi, attempt), context())
}
