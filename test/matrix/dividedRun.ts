// In charge of: one job made by a main attempt, parts and an assembling attempt, in chunks shorter than a client may ask for:
// the clips last a few seconds.
// Not in charge of: what is measured in the outputs (rows/), jobs by one task (runner.ts).
import { readFile } from 'node:fs/promises'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import { AttemptAbort } from '../../transcoder/errors.ts'
import { createLog } from '../../transcoder/log.ts'
import { runTask, type RunContext } from '../../transcoder/runTask.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { FfmpegPrograms } from '../../transcoder/ffmpeg/run.ts'
import { readSettings } from '../../transcoder/settings.ts'
import { testFfmpeg } from '../support/media/media.ts'
import { describeTask, runRequest, type TaskDescription } from '../support/transcoder/attemptFixture.ts'
import { assembleFromParts, makeParts } from '../support/transcoder/dividedJob.ts'
import { FakeTaskApi } from '../support/transcoder/fakeTaskApi.ts'
import { SOURCE_POSTER } from './row.ts'
import { storedObjects } from '../support/transcoder/segmentedTask.ts'

export interface DividedOutputs {
  /** Every object of the destination, by path, and the poster of the source. */
  objects: Map<string, Buffer>
  plan: Plan
  /** Codes of the transcoder's warnings, without those of the length of segments and chunks. */
  warnings: string[]
}

export type DividedRun =
  | DividedOutputs
  /** The reason of the warning `not_divided`, of the plan or of the last attempt; '' = the video is one chunk. */
  | { oneTask: string }
  /** The job fails before its plan. */
  | { refused: { code: string; field: string } }

export interface DividedJob {
  config: JobConfig
  source: string
  logo: Buffer
  workDir: string
  /** Of the longest chunk; 0 = one task makes the job. */
  chunkSeconds: number
  /** Called at the beginning of each run of ffmpeg and ffprobe. */
  onRun?: FfmpegPrograms['onRun']
}

const OF_CHUNKS: ReadonlySet<string> = new Set(['segment_length', 'max_chunk_seconds'])

/** Throws if the job fails after it was planned. */
export async function runDivided({
  config,
  source,
  logo,
  workDir,
  chunkSeconds,
  onRun,
}: DividedJob): Promise<DividedRun> {
  const taskApi = await new FakeTaskApi({ bytes: await readFile(source) }).start()
  taskApi.logo = logo
  const engine = { ...(await testFfmpeg()), ...(onRun ? { onRun } : {}) }
  const context = (): RunContext => ({
    engine,
    // With several, two runs need not be equal.
    settings: { ...readSettings({}), threads: 1, workDir },
    log: createLog(() => undefined),
    controller: new AbortController(),
  })
  try {
    const task: TaskDescription = {
      ...describeTask({ container: 'mp4' }),
      config: { ...config, max_chunk_seconds: chunkSeconds },
      input_name: 'clip.mp4',
    }
    const accepts = { source: false, preview: config.preview !== false, log: false, parts: MAX_JOB_PARTS }
    taskApi.task = { ...task, accepts }
    const main = context()
    // What one task makes is measured without chunks.
    const isLeft = (): boolean => chunkSeconds > 0 && planOf(taskApi).division == null
    void taskApi
      .waitFor(() => taskApi.plans.length > 0)
      .then(() => isLeft() && main.controller.abort(new AttemptAbort('cancelled')))
    await runTask(runRequest(taskApi), main)
    if (taskApi.plans.length === 0) return { refused: refusal(taskApi) }
    const plan = planOf(taskApi)
    if (taskApi.divided !== null) {
      const { parts } = taskApi.divided
      await makeParts(taskApi, { ...task, plan }, Array.from({ length: parts }).keys(), context)
      requireNoFailure(taskApi)
      await assembleFromParts(taskApi, { ...task, plan }, { parts }, context)
    } else if (chunkSeconds > 0) return { oneTask: reasonOf(plan) ?? '' }
    requireNoFailure(taskApi)
    const given = taskApi.finished?.warnings ?? []
    // The parts did not fit together, or refused: the last attempt made all of it.
    const remade = reasonOf({ warnings: given })
    if (remade !== null) return { oneTask: remade }
    const warnings = given.filter(({ field = '' }) => !OF_CHUNKS.has(field)).map(({ code }) => code)
    const previews = taskApi.previews.map((bytes) => [SOURCE_POSTER, bytes] as const)
    return { objects: new Map([...storedObjects(taskApi), ...previews]), plan, warnings }
  } finally {
    await taskApi.stop()
  }
}

/** Of the main attempt. */
const planOf = ({ storedPlan }: FakeTaskApi): Plan => storedPlan as Plan

function refusal({ fails }: FakeTaskApi): { code: string; field: string } {
  const error = fails[0]?.error
  if (error == null) throw new Error('the main attempt ended without a plan and without an error')
  return { code: error.code, field: error.field ?? '' }
}

const WARNING = /^The job is not divided into chunks: (?<reason>.*)\.$/

/** null = no such warning. */
function reasonOf({ warnings }: Pick<Plan, 'warnings'>): string | null {
  const message = warnings.find(({ code }) => code === 'not_divided')?.message
  return message === undefined ? null : (WARNING.exec(message)?.groups?.['reason'] ?? message)
}

function requireNoFailure({ fails, breaches }: FakeTaskApi): void {
  const [failure] = fails
  if (failure !== undefined)
    throw new Error(`an attempt failed: ${failure.error?.message ?? failure.why ?? failure.reason}`)
  if (breaches.length > 0) throw new Error(breaches.join('; '))
}
