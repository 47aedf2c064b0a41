// In charge of: the public status of specification 2.4 (strings, "-1", null), from what the database and the monitor
// know.
// Not in charge of: its schema (status.ts), reading the database or the monitor.
import { errorHelp } from '../errorAdvice.ts'
import type { JobError, Warning } from '../errors.ts'
import type { Estimate, SourceReport } from '../task/dryRunEstimate.ts'
import { startFailureMessages } from './events.ts'
import type { JobState, StartFailure, TaskState } from '../task/lifecycle.ts'
import type { JobPhase, Poster, PublicOutput, PublicStatus } from './status.ts'
import { inMapOrder } from '../task/partPositions.ts'
import type { ProgressPost } from '../task/protocol.ts'

export interface StatusFacts {
  jobId: string
  job: JobState
  task: TaskState
  /** Latest progress of the attempt, or the last one of an ended job; null before anything ran. */
  progress: ProgressPost | null
  error: JobError | null
  warnings: Warning[]
  outputs: PublicOutput[]
  dryRun: boolean
  estimate: Estimate | null
  source: SourceReport | null
  poster: Poster | null
  archiveUrl: string | null
  retryOf: number | null
  inputName: string
  /** Queued tasks before this one; only while it waits. */
  position: number | null
  /** States of the parts that make the outputs of a divided job, in the order of their positions; null = it has none. */
  parts: TaskState[] | null
  /** Whether the job has parts. Known in lists too, which do not read the states of the parts. */
  isDivided: boolean
  /** Whether the parts survey the source. */
  surveying: boolean
  /** Failed starts in a row, and when the next start is due, in milliseconds since 1970. */
  startsFailed: number
  /** Why, as the latest event says. */
  startFailure: StartFailure | null
  notBefore: number
  /** The error that ended the last attempt, while the task waits because of it. */
  lastLostError: JobError | null
  /** Milliseconds since 1970. */
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
}

/** The facts of a job that has just been created. */
export function newJobFacts(
  job: Pick<StatusFacts, 'jobId' | 'warnings' | 'dryRun' | 'retryOf' | 'inputName' | 'createdAt'>,
): StatusFacts {
  return {
    ...job,
    job: 'queued',
    task: 'queued',
    progress: null,
    error: null,
    outputs: [],
    estimate: null,
    source: null,
    poster: null,
    archiveUrl: null,
    position: null,
    parts: null,
    isDivided: false,
    surveying: false,
    startsFailed: 0,
    startFailure: null,
    notBefore: 0,
    lastLostError: null,
    startedAt: null,
    finishedAt: null,
  }
}

const publicStates: Readonly<Record<JobState, PublicStatus['state']>> = {
  queued: 'ready',
  running: 'running',
  committing: 'running',
  completed: 'ready',
  failed: 'error',
  cancelled: 'cancelled',
}

function phaseOf(facts: StatusFacts): JobPhase {
  const isBetween = facts.task === 'queued' || facts.task === 'starting' || facts.task === 'divided'
  if (facts.surveying && isBetween) return 'sampling'
  switch (facts.task) {
    case 'queued':
      return facts.isDivided ? 'packaging' : 'queued'
    case 'starting':
      return facts.isDivided ? 'packaging' : 'starting'
    case 'divided':
      return 'transcoding'
    case 'running':
      return facts.progress?.phase ?? 'starting'
    case 'committing':
      return 'committing'
    default:
      return 'done'
  }
}

/**
 * Whole percent as text. Decision "strings in status": "100" only together with job_completed, and only after success
 * (I4).
 */
function percent(fraction: number, over: boolean): string {
  if (over) return '100'
  return String(Math.max(0, Math.min(99, Math.floor(fraction * 100))))
}

/** A number as text with at most `digits` decimals; never NaN or an exponent. */
function decimal(value: number, digits: number): string {
  return Number.isFinite(value) ? String(Number(Math.min(value, 1e15).toFixed(digits))) : '0'
}

/** The strings of specification 2.4 that are computed from progress: "-1", "-1.0" and null until known. */
export function publicFigures(progress: ProgressPost | null, success: boolean) {
  const transcoded = progress?.transcoded ?? 0
  const stored = progress && progress.bytes_produced > 0 ? progress.bytes_stored / progress.bytes_produced : 0
  return {
    tcode_progress: percent(transcoded, success),
    tcode_time: progress && progress.transcode_seconds > 0 ? decimal(progress.transcode_seconds, 1) : null,
    tcode_speed: progress?.speed ? decimal(progress.speed, 2) : '-1',
    xfer_progress: percent(stored * transcoded, success),
    xfer_time: decimal(progress?.transfer_seconds ?? 0, 1),
    xfer_speed:
      progress && progress.transfer_seconds > 0 && progress.bytes_stored > 0
        ? decimal(progress.bytes_stored / 1e6 / progress.transfer_seconds, 2)
        : '-1.0',
  }
}

/** A single failed start is normal; from the second on it is shown, as in the events. */
function failedStarts(facts: StatusFacts): PublicStatus['failed_starts'] {
  const { task, startsFailed: count, startFailure: code, notBefore } = facts
  if ((task !== 'queued' && task !== 'starting') || count < 2 || code === null) return null
  const message = `A transcoder could not be started because ${startFailureMessages[code]}.`
  return { count, code, message, next_try_at: new Date(notBefore).toISOString() }
}

function waitingFor({ task, lastLostError, notBefore }: StatusFacts): PublicStatus['waiting_for'] {
  if (task !== 'queued' || lastLostError === null) return null
  return { code: lastLostError.code, message: lastLostError.message, next_try_at: new Date(notBefore).toISOString() }
}

const partLetters: Readonly<Record<TaskState, string>> = {
  queued: '.',
  starting: '.',
  running: 'r',
  divided: '.',
  committing: 'r',
  completed: 'c',
  failed: 'f',
  cancelled: 'x',
}

function chunksOf(parts: readonly TaskState[] | null): PublicStatus['chunks'] {
  if (parts === null) return null
  const count = (state: TaskState) => parts.filter((each) => each === state).length
  return {
    total: parts.length,
    completed: count('completed'),
    running: count('running'),
    map: inMapOrder(parts)
      .map((state) => partLetters[state])
      .join(''),
  }
}

/**
 * Specification 2.4: percentages, times in seconds, speeds in x and MB/s, all as text; "-1", "-1.0" and null until
 * known.
 */
export function publicStatus(facts: StatusFacts): PublicStatus {
  const { progress } = facts
  const success = facts.job === 'completed'
  const ended = success || facts.job === 'failed' || facts.job === 'cancelled'
  return {
    job_id: facts.jobId,
    state: publicStates[facts.job],
    ...publicFigures(progress, success),
    job_completed: ended,
    phase: phaseOf(facts),
    error: facts.error && { ...facts.error, ...errorHelp(facts.error.code) },
    warnings: facts.warnings,
    outputs: facts.outputs,
    dry_run: facts.dryRun,
    estimate: facts.estimate,
    source: facts.source,
    poster: facts.poster,
    archive_url: facts.archiveUrl,
    retry_of: facts.retryOf,
    input_name: facts.inputName,
    queue_position: facts.position,
    failed_starts: failedStarts(facts),
    waiting_for: waitingFor(facts),
    chunks: chunksOf(facts.parts),
    eta_seconds:
      ended || (facts.task !== 'running' && facts.task !== 'divided')
        ? null
        : progress?.eta_seconds == null
          ? null
          : Math.round(progress.eta_seconds),
    created_at: new Date(facts.createdAt).toISOString(),
    started_at: facts.startedAt === null ? null : new Date(facts.startedAt).toISOString(),
    finished_at: facts.finishedAt === null ? null : new Date(facts.finishedAt).toISOString(),
  }
}
