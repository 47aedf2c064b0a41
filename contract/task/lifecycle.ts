// In charge of: which event moves a task from which state to which, and what follows from it. The only place that decides.
// Not in charge of: SQL (worker/db), clocks, who is told (worker/scheduler/transitionTask.ts).
import type { JobErrorCode } from '../errorCodes.ts'
import type { JobError } from '../errors.ts'
import { jobErrorPolicies } from '../errorCodes.ts'

export type TaskState = 'queued' | 'starting' | 'running' | 'committing' | 'completed' | 'failed' | 'cancelled'
export type JobState = 'queued' | 'running' | 'committing' | 'completed' | 'failed' | 'cancelled'

/** Terminal-ness is data on the state. */
export const terminal: Readonly<Record<TaskState, boolean>> = {
  queued: false,
  starting: false,
  running: false,
  committing: false,
  completed: true,
  failed: true,
  cancelled: true,
}

/** plan = a dry run: it writes no outputs, so it has nothing to commit. */
export type TaskKind = 'transcode' | 'plan'

/** The part of a task that transitions read and write. */
export interface TaskLifecycle {
  kind: TaskKind
  state: TaskState
  /** The fence: number of the current attempt, 0 before the first. */
  attempt: number
  /** Attempts that ended without a result. */
  lost: number
  /** Starts in a row that failed; 0 once a transcoder has asked for the task. */
  starts_failed: number
}

/** Attempts that may be lost before the job fails. */
export const MAX_LOST_ATTEMPTS = 4
/** An attempt that ran longer than this before it was lost was probably ended by its container's life, not by an accident. */
export const LONG_ATTEMPT_MS = 5 * 60_000

/** Why nothing ran: no answer in time, a refusal, or no container that the platform could give. */
export type StartFailure = 'no_answer' | 'refused' | 'no_capacity'

export type TaskEvent =
  /** A free slot takes the task. */
  | { type: 'claim' }
  /** The transcoder could not be started, refused, or never asked for its task; nothing ran. */
  | { type: 'start_failed'; attempt: number; reason: StartFailure }
  /** The transcoder asked for its task. */
  | { type: 'started'; attempt: number }
  /** Lease expired, or the transcoder is gone. */
  | { type: 'lost'; attempt: number; ranMs: number }
  /** Given back by a transcoder that was told to end (a rollout, a host that restarts): not the job's fault, so not counted. */
  | { type: 'evicted'; attempt: number }
  | { type: 'attempt_failed'; attempt: number; error: JobError }
  | { type: 'finish'; attempt: number }
  /** A dry run has its estimate. */
  | { type: 'planned'; attempt: number }
  | { type: 'committed'; attempt: number }
  | { type: 'commit_failed'; attempt: number; error: JobError }
  | { type: 'cancel' }
  | { type: 'deadline' }

/** What must follow a transition. Each has a net that repeats it after a crash (monitor alarm, cron sweep). */
export type SideEffect =
  | 'take_slot'
  | 'release_slot'
  /** Free, but not offered again for a moment: the transcoder behind it did not answer. */
  | 'rest_slot'
  /** Look for work: a slot is free or a task is waiting. */
  | 'schedule'
  /** Tell the transcoder to stop now rather than at its next heartbeat. */
  | 'stop_transcoder'
  /** Abort uploads, forget live state. */
  | 'settle'

export type Transition =
  | { ok: true; next: TaskLifecycle; effects: SideEffect[]; error: JobError | null; delayMs: number }
  /** same = the event was applied before (a repeated message); stale = of an earlier attempt; terminal = the task has ended; impossible = not from this state. */
  | { ok: false; refusal: 'same' | 'stale' | 'terminal' | 'impossible' }

/** Of somebody else's server that answers, and cannot serve now: it is waited for where no transcoder is held. */
const serverAwayErrors: ReadonlySet<JobErrorCode> = new Set<JobErrorCode>(['source_unreachable', 'output_unreachable'])
/** Such attempts take seconds each; all of them together give it between three and four minutes. */
const SERVER_AWAY_RETRY_MS = [15_000, 45_000, 135_000] as const

/** Back-off before a lost task starts again, in milliseconds. */
function retryDelayMs(lost: number, { code, details }: JobError): number {
  if (!serverAwayErrors.has(code)) return Math.min(60_000, 1000 * 2 ** (lost - 1))
  const longest = SERVER_AWAY_RETRY_MS[2]
  // What the server asked for itself, in seconds (Retry-After).
  const asked = typeof details?.['retry_after'] === 'number' ? details['retry_after'] * 1000 : 0
  return Math.min(longest, Math.max(SERVER_AWAY_RETRY_MS[lost - 1] ?? longest, asked))
}

const START_RETRY_MS = 2000
const MAX_START_RETRY_MS = 60_000
const EVICTED_RETRY_MS = 1000

/** Before the next start, in milliseconds: a transcoder that cannot start is not asked every two seconds for a day. */
function startRetryMs(failed: number): number {
  return Math.min(MAX_START_RETRY_MS, START_RETRY_MS * 2 ** (failed - 1))
}

function acceptTransition(
  lifecycle: TaskLifecycle,
  change: Partial<TaskLifecycle>,
  effects: SideEffect[],
  error: JobError | null = null,
  delayMs = 0,
) {
  return { ok: true as const, next: { ...lifecycle, ...change }, effects, error, delayMs }
}

function refuseTransition(refusal: 'same' | 'stale' | 'terminal' | 'impossible') {
  return { ok: false as const, refusal }
}

/** One more attempt without a result: back to the queue, or the job's failure when there were too many (I1, I13). */
function loseAttempt(lifecycle: TaskLifecycle, error: JobError): Transition {
  const lost = lifecycle.lost + 1
  if (lost >= MAX_LOST_ATTEMPTS) {
    return acceptTransition(lifecycle, { state: 'failed', lost }, ['release_slot', 'settle', 'schedule'], error)
  }
  return acceptTransition(
    lifecycle,
    { state: 'queued', lost },
    ['release_slot', 'schedule'],
    null,
    retryDelayMs(lost, error),
  )
}

function exhaustedError(ranMs: number): JobError {
  return ranMs >= LONG_ATTEMPT_MS
    ? {
        code: 'too_long_for_one_attempt',
        message: `The job was interrupted ${MAX_LOST_ATTEMPTS} times before one attempt could finish; the last ran for ${Math.round(ranMs / 1000)} s. A job must finish within the lifetime of one container: use a shorter input, fewer renditions or a faster h264_quality.`,
      }
    : {
        code: 'attempts_exhausted',
        message: `The transcoder was lost ${MAX_LOST_ATTEMPTS} times while working on this job.`,
      }
}

/**
 * The state machine. Pure: same task and event, same answer.
 * An event of an attempt is refused as `stale` when another attempt is current (I3); terminal states never change (I2).
 */
export function transition(lifecycle: TaskLifecycle, event: TaskEvent): Transition {
  if ('attempt' in event && event.attempt !== lifecycle.attempt) return refuseTransition('stale')
  if (terminal[lifecycle.state]) {
    const repeated =
      (event.type === 'committed' && lifecycle.state === 'completed') ||
      (event.type === (lifecycle.kind === 'plan' ? 'planned' : 'finish') && lifecycle.state === 'completed') ||
      (event.type === 'cancel' && lifecycle.state === 'cancelled')
    return refuseTransition(repeated ? 'same' : 'terminal')
  }
  switch (event.type) {
    case 'claim':
      return lifecycle.state === 'queued'
        ? acceptTransition(lifecycle, { state: 'starting', attempt: lifecycle.attempt + 1 }, ['take_slot'])
        : refuseTransition('impossible')
    case 'start_failed': {
      if (lifecycle.state !== 'starting') return refuseTransition('impossible')
      const failed = lifecycle.starts_failed + 1
      const change = { state: 'queued', starts_failed: failed } as const
      return acceptTransition(lifecycle, change, ['rest_slot', 'schedule'], null, startRetryMs(failed))
    }
    case 'started':
      if (lifecycle.state === 'running') return refuseTransition('same')
      return lifecycle.state === 'starting'
        ? acceptTransition(lifecycle, { state: 'running', starts_failed: 0 }, [])
        : refuseTransition('impossible')
    case 'lost':
      return lifecycle.state === 'starting' || lifecycle.state === 'running'
        ? loseAttempt(lifecycle, exhaustedError(event.ranMs))
        : refuseTransition('impossible')
    case 'evicted':
      return lifecycle.state === 'starting' || lifecycle.state === 'running'
        ? acceptTransition(lifecycle, { state: 'queued' }, ['release_slot', 'schedule'], null, EVICTED_RETRY_MS)
        : refuseTransition('impossible')
    case 'attempt_failed':
      if (lifecycle.state !== 'starting' && lifecycle.state !== 'running') return refuseTransition('impossible')
      return jobErrorPolicies[event.error.code].permanent
        ? acceptTransition(lifecycle, { state: 'failed' }, ['release_slot', 'settle', 'schedule'], event.error)
        : loseAttempt(lifecycle, event.error)
    case 'finish':
      if (lifecycle.state === 'committing') return refuseTransition('same')
      return lifecycle.state === 'running' && lifecycle.kind === 'transcode'
        ? acceptTransition(lifecycle, { state: 'committing' }, ['release_slot', 'schedule'])
        : refuseTransition('impossible')
    case 'planned':
      return lifecycle.state === 'running' && lifecycle.kind === 'plan'
        ? acceptTransition(lifecycle, { state: 'completed' }, ['release_slot', 'settle', 'schedule'])
        : refuseTransition('impossible')
    case 'committed':
      return lifecycle.state === 'committing'
        ? acceptTransition(lifecycle, { state: 'completed' }, ['settle'])
        : refuseTransition('impossible')
    case 'commit_failed':
      return lifecycle.state === 'committing'
        ? acceptTransition(lifecycle, { state: 'failed' }, ['settle'], event.error)
        : refuseTransition('impossible')
    case 'cancel':
      // Cancel against commit is decided by which of the two writes comes first (I9).
      if (lifecycle.state === 'committing') return refuseTransition('impossible')
      return acceptTransition(
        lifecycle,
        { state: 'cancelled' },
        lifecycle.state === 'queued' ? ['settle'] : ['release_slot', 'stop_transcoder', 'settle', 'schedule'],
      )
    case 'deadline':
      if (lifecycle.state === 'committing') return refuseTransition('impossible')
      return acceptTransition(
        lifecycle,
        { state: 'failed' },
        lifecycle.state === 'queued' ? ['settle'] : ['release_slot', 'stop_transcoder', 'settle', 'schedule'],
        { code: 'deadline_exceeded', message: 'The job did not finish before its deadline.' },
      )
  }
}

/** The job's state while it has a single task. A task that waits again after a lost attempt makes the job wait again. */
export function jobState(task: TaskState): JobState {
  return task === 'starting' ? 'queued' : task
}
