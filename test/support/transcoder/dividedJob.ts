// In charge of: a whole divided job against the strict task API: its main task, its parts one after another, and the
// attempt that puts them together.
// Not in charge of: expectations.
import { SPEC_VERSION } from '#contract/job/jobSpec.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { partTaskNumber } from '#contract/taskId.ts'
import { divisionAbilities } from '#contract/task/divisionAbilities.ts'
import type { TaskDescription } from '#contract/task/protocol.ts'
import { runTask, type RunContext } from '../../../transcoder/pipeline/runTask.ts'
import type { SourceVersion, SurveyPlan } from '../../../transcoder/plan/model/divisionPlan.ts'
import type { Plan } from '../../../transcoder/plan/model/plan.ts'
import { runRequest, type AttemptFixture } from './attemptFixture.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'

/** As the service says, by what was divided before. */
const acceptsOf = (done: { parts: number; survey_parts: number }): NonNullable<TaskDescription['accepts']> => ({
  source: true,
  preview: true,
  log: true,
  subtitles: true,
  ...divisionAbilities({ kind: 'transcode', ...done }),
})

interface Division {
  /** As in the plan; null = as the first attempt plans them. */
  chunks: number[] | null
  /** As in the plan; missing = the first attempt surveys the source. */
  survey?: SurveyPlan
  /** The parts that are made, in their order; missing = all, by index. Without all of them the job is not put together. */
  parts?: number[]
  /** The build of ffmpeg that the plan was made for. */
  build?: string
  /** The version of the source that the plan was made for. */
  source?: SourceVersion
  beforeSurvey?: () => void
  /** Before the attempt that reads what a round of the survey found. */
  beforePlan?: () => void
  beforeAssembly?: () => void
}

/** The same task in chunks of single segments, which may be shorter than a request can ask for. */
export function inChunks(task: TaskDescription): TaskDescription {
  const spec = { ...toSpec(task.config, task.input_name), maxChunkSeconds: task.config.segment_length ?? 2 }
  return { ...task, spec, spec_version: SPEC_VERSION }
}

/** Each part has one attempt. */
export async function runDividedJob(
  fixture: AttemptFixture,
  taskApi: FakeTaskApi,
  task: TaskDescription,
  { chunks, survey, parts: wanted, build, source, beforeSurvey, beforePlan, beforeAssembly }: Division,
): Promise<void> {
  const accepts = acceptsOf({ parts: 0, survey_parts: 0 })
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
  const rounds = survey === undefined ? 0 : await runSurvey(fixture, taskApi, { ...task, accepts }, beforePlan)
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
  const assembling = { ...task, plan, accepts: acceptsOf({ parts: first + parts, survey_parts: first }) }
  await assembleFromParts(taskApi, assembling, { parts, first }, () => fixture.context(), 2 + rounds)
}

/** The parts of the survey, and the attempts behind them, of which the last one divides the job: how many those are. */
async function runSurvey(
  fixture: AttemptFixture,
  taskApi: FakeTaskApi,
  task: TaskDescription,
  beforePlan?: () => void,
): Promise<number> {
  let [rounds, made] = [0, 0]
  for (; taskApi.divided?.survey === true && taskApi.finished === null; rounds += 1) {
    const { parts } = taskApi.divided
    const surveyed = { ...task, plan: taskApi.storedPlan }
    const round = Array.from({ length: parts - made }, (_, index) => made + index)
    await makeParts(taskApi, surveyed, round, () => fixture.context())
    made = parts
    beforePlan?.()
    const accepts = acceptsOf({ parts, survey_parts: parts })
    taskApi.task = { ...surveyed, attempt: 2 + rounds, surveyed: { parts }, accepts }
    await runTask(runRequest(taskApi, 2 + rounds), fixture.context())
  }
  if (rounds === 0) throw new Error('the job has no survey')
  return rounds
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
