// In charge of: the state machine of a task: which event leads from which state to which, and the side effects that
// follow.
// Not in charge of: SQL (worker/db), clocks, running the side effects (worker/scheduler/transitionTask.ts).
import type { JobError } from '../errors.ts'
import { jobErrorPolicies, type JobErrorCode } from '../errorCodes.ts'

/** divided = the parts of the job are at work or waiting; their results are put together by a later attempt. */
export type TaskState =
  | 'queued'
  | 'starting'
  | 'running'
  | 'divided'
  | 'committing'
  | 'completed'
  | 'failed'
  | 'cancelled'
export type JobState = 'queued' | 'running' | 'committing' | 'completed' | 'failed' | 'cancelled'

/** Whether a state is final. */
export const terminal: Readonly<Record<TaskState, boolean>> = {
  queued: false,
  starting: false,
  running: false,
  divided: false,
  committing: false,
  completed: true,
  failed: true,
  cancelled: true,
}

/**
 * plan = a dry run. It writes no outputs, so it has nothing to commit. part = one part of a divided job. The state of the
 * job follows its main task only, which is of one of the other kinds.
 */
export type TaskKind = 'transcode' | 'plan' | 'part'

/** The part of a task that transitions read and write. */
export interface TaskLifecycle {
  kind: TaskKind
  state: TaskState
  /** Number of the current attempt (the fencing token); 0 before the first. */
  attempt: number
  /** Attempts that ended without a result. */
  lost: number
  /** Lost attempts that made new progress. They do not count towards MAX_LOST_ATTEMPTS. */
  excused: number
  /** The share of the work that the furthest lost attempt encoded, 0…1; null before the first was lost. */
  furthest: number | null
  /** Attempts that a transcoder returned because it had to end. */
  evicted: number
  /** Failed starts in a row; 0 once a transcoder has asked for the task. */
  starts_failed: number
  /** Main task: how many parts its job was divided into. 0 = it was not divided, or one attempt made it after all. */
  parts: number
  /** How many of the parts survey the source; they come first. If all of them do, the job will be divided once more. */
  survey_parts: number
}

/**
 * The job fails when this many attempts were lost without new progress. A source that makes its transcoder end does so
 * in every attempt at about the same place; a host that ends by itself does so at any place.
 */
export const MAX_LOST_ATTEMPTS = 4
/** The same for attempts that made the transcoder itself too slow or too large: each of them stops it for all others. */
const MAX_COSTLY_ATTEMPTS = 2
/**
 * New progress: the transcoder was lost, and the attempt had encoded at least this much more of the whole than every
 * lost one before it. The first loss counts, since there is nothing to compare it with. At most ten attempts can make
 * new progress, so a source that makes every attempt end a little later still comes to an end.
 */
export const PROGRESS_STEP = 0.1
/** Evictions that do not count. The next ones count as lost attempts, so that no job is returned without end. */
export const MAX_FREE_EVICTIONS = 20
/** An attempt that was lost after more than this time probably ended with its container, not because of a fault. */
export const LONG_ATTEMPT_MS = 5 * 60_000

/**
 * Why a start failed: no answer in time, a refusal by the transcoder, no container available on the platform, a
 * container that ended before its transcoder asked for the task, a transcoder whose ffmpeg is not of the build with
 * which the other parts of the job are made, or one that cannot reach the service.
 */
export type StartFailure = 'no_answer' | 'refused' | 'no_capacity' | 'ended' | 'other_build' | 'service_unreachable'

export type TaskEvent =
  /** A free slot is assigned to the task. */
  | { type: 'claim' }
  /** The transcoder could not be started, refused, or never asked for its task. Nothing ran. */
  | { type: 'start_failed'; attempt: number; reason: StartFailure }
  /** The transcoder asked for its task. */
  | { type: 'started'; attempt: number }
  /** The lease expired, or the transcoder is gone. `share`: what the attempt had encoded, 0…1. */
  | { type: 'lost'; attempt: number; ranMs: number; share: number }
  /**
   * Given back by a transcoder that is shutting down (a rollout, a restarting host). Not caused by the job, so the first
   * ones are not counted.
   */
  | { type: 'evicted'; attempt: number; why?: string | undefined }
  | { type: 'attempt_failed'; attempt: number; error: JobError }
  /** `undivided`: the parts of the job have no more use, since this attempt made all of it. */
  | { type: 'finish'; attempt: number; undivided?: boolean }
  /**
   * The job is divided: the parts do the rest, and the slot is free for them. `parts`: how many parts the job has then,
   * its survey included. `survey`: they survey the source, and the attempt after them divides the job again.
   */
  | { type: 'divide'; attempt: number; parts: number; survey?: boolean }
  /** A part has stored its result. */
  | { type: 'delivered'; attempt: number }
  /** Main task: all parts into which this attempt divided it are completed. A survey and the chunks are two divisions. */
  | { type: 'parts_done'; attempt: number }
  /** Main task: one of its parts failed for good. */
  | { type: 'part_failed'; error: JobError }
  /** A dry run has delivered its estimate. */
  | { type: 'planned'; attempt: number }
  | { type: 'committed'; attempt: number }
  | { type: 'commit_failed'; attempt: number; error: JobError }
  | { type: 'cancel' }
  | { type: 'deadline' }

/** What must follow a transition. After a crash, the monitor's alarm or the cron's cleanup repeats each of them. */
export type SideEffect =
  | 'take_slot'
  | 'release_slot'
  /** Free the slot, but do not offer it again at once: its transcoder did not answer. */
  | 'cool_down_slot'
  /** Assign work: a slot is free or a task is waiting. */
  | 'schedule'
  /** Stop the transcoder now, without waiting for its next heartbeat. */
  | 'stop_transcoder'
  /** Abort uploads and delete the live progress. Main task: the same for its parts. */
  | 'clean_up'
  /** Add the parts of the job to the queue. */
  | 'insert_parts'
  /** End the parts that have not ended, and free their slots. */
  | 'cancel_parts'
  /** The main task may be able to go on, or has to fail. */
  | 'check_main'

export type Transition =
  | { ok: true; next: TaskLifecycle; effects: SideEffect[]; error: JobError | null; delayMs: number }
  /**
   * same = the event was applied before (a repeated message). stale = it belongs to an earlier attempt. terminal = the
   * task has ended. impossible = not allowed in this state.
   */
  | { ok: false; refusal: 'same' | 'stale' | 'terminal' | 'impossible' }

/** A customer's server answers but cannot serve now. The task waits in the queue, where it occupies no transcoder. */
const serverAwayErrors: ReadonlySet<JobErrorCode> = new Set<JobErrorCode>(['source_unreachable', 'output_unreachable'])
/** These attempts take only seconds each. Together the delays give the server between three and four minutes. */
const SERVER_AWAY_RETRY_MS = [15_000, 45_000, 135_000] as const

/** Back-off before a lost task starts again, in milliseconds. */
function retryDelayMs(lost: number, { code, details }: JobError): number {
  if (!serverAwayErrors.has(code)) return Math.min(60_000, 1000 * 2 ** (lost - 1))
  const longest = SERVER_AWAY_RETRY_MS[2]
  // The delay that the server asked for, in seconds (Retry-After).
  const asked = typeof details?.['retry_after'] === 'number' ? details['retry_after'] * 1000 : 0
  return Math.min(longest, Math.max(SERVER_AWAY_RETRY_MS[lost - 1] ?? longest, asked))
}

const START_RETRY_MS = 2000
const MAX_START_RETRY_MS = 60_000
const EVICTED_RETRY_MS = 1000

/**
 * Delay before the next start, in milliseconds. It grows, so that a transcoder that cannot start is not retried every
 * two seconds for a day.
 */
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

/**
 * One more attempt without a result: back to the queue, or failure of the job when too many were lost (I1, I13).
 * `share`: what a lost transcoder had encoded; null for an attempt that failed by itself, which always counts.
 */
function loseAttempt(lifecycle: TaskLifecycle, error: JobError, share: number | null = null): Transition {
  const lost = lifecycle.lost + 1
  const { furthest } = lifecycle
  const isFurther = share !== null && furthest !== null && share >= furthest + PROGRESS_STEP
  const excused = lifecycle.excused + (isFurther ? 1 : 0)
  const change = { lost, excused, furthest: share === null ? furthest : Math.max(furthest ?? 0, share) }
  if (error.code === 'source_too_costly' && lost - excused >= MAX_COSTLY_ATTEMPTS)
    return fail({ ...lifecycle, ...change }, error)
  if (lost - excused >= MAX_LOST_ATTEMPTS) return fail({ ...lifecycle, ...change }, error)
  return acceptTransition(
    lifecycle,
    { ...change, state: 'queued' },
    ['release_slot', 'schedule'],
    null,
    retryDelayMs(lost, error),
  )
}

/**
 * The end of an attempt and of its task. If a part fails, its main task fails too: the job then removes what the part
 * stored.
 */
function fail(lifecycle: TaskLifecycle, error: JobError): Transition {
  const after: SideEffect[] = lifecycle.kind === 'part' ? ['check_main'] : ['clean_up']
  return acceptTransition(lifecycle, { state: 'failed' }, ['release_slot', ...after, 'schedule'], error)
}

/** What ends an attempt from outside, by the state that it is in. */
function endFromOutside({ kind, state }: TaskLifecycle): SideEffect[] {
  if (state === 'queued') return kind === 'part' ? [] : ['clean_up']
  if (state === 'divided') return ['cancel_parts', 'clean_up', 'schedule']
  // The monitor of the main task tells the monitor of a part that the job has ended.
  return kind === 'part'
    ? ['release_slot', 'stop_transcoder', 'schedule']
    : ['release_slot', 'stop_transcoder', 'clean_up', 'schedule']
}

/** Nothing ran: not a lost attempt. */
function failStart(lifecycle: TaskLifecycle): Transition {
  const failed = lifecycle.starts_failed + 1
  const change = { state: 'queued', starts_failed: failed } as const
  return acceptTransition(lifecycle, change, ['cool_down_slot', 'schedule'], null, startRetryMs(failed))
}

/** All parts that a main task has survey the source, or did so. */
export function isSurveying({ parts, survey_parts: surveys }: Pick<TaskLifecycle, 'parts' | 'survey_parts'>): boolean {
  return parts > 0 && parts === surveys
}

/**
 * A task is divided once: the completed parts are put together, not made again. Only a survey is followed by a second
 * division, into chunks and the rest.
 */
function mayBeDivided(lifecycle: TaskLifecycle, { parts, survey }: { parts: number; survey?: boolean }): boolean {
  if (lifecycle.kind !== 'transcode') return false
  return lifecycle.parts === 0 || (isSurveying(lifecycle) && survey !== true && parts > lifecycle.parts + 1)
}

/** The task was divided by this attempt: whether in the same way. */
function isSameDivision(
  lifecycle: TaskLifecycle,
  { parts, survey = false }: { parts: number; survey?: boolean },
): boolean {
  return parts === lifecycle.parts && survey === isSurveying(lifecycle)
}

function exhaustedError({ kind, lost: before }: TaskLifecycle, ranMs: number): JobError {
  const lost = before + 1
  const [what, advice] =
    kind === 'part'
      ? ['It', 'use shorter chunks (max_chunk_seconds)']
      : [
          'The job',
          'divide the job (leave max_chunk_seconds out, or set it; the warning not_divided says what prevents it)',
        ]
  return ranMs >= LONG_ATTEMPT_MS
    ? {
        code: 'too_long_for_one_attempt',
        message: `${what} was interrupted ${lost} times before one attempt could finish; the last ran for ${Math.round(ranMs / 1000)} s. One attempt must finish within the lifetime of one container: ${advice}, or use a shorter input, fewer renditions or a faster h264_quality.`,
      }
    : {
        code: 'attempts_exhausted',
        message: `The transcoder was lost ${lost} times while working on ${kind === 'part' ? 'it' : 'this job'}.`,
      }
}

/**
 * The state machine. Pure: the same task and event always give the same result. An event of an attempt that is not the
 * current one is refused as `stale` (I3). Terminal states never change (I2).
 */
export function transition(lifecycle: TaskLifecycle, event: TaskEvent): Transition {
  if ('attempt' in event && event.attempt !== lifecycle.attempt) return refuseTransition('stale')
  if (terminal[lifecycle.state]) {
    const repeated =
      (event.type === 'committed' && lifecycle.state === 'completed') ||
      (event.type === (lifecycle.kind === 'plan' ? 'planned' : 'finish') && lifecycle.state === 'completed') ||
      (event.type === 'delivered' && lifecycle.kind === 'part' && lifecycle.state === 'completed') ||
      (event.type === 'cancel' && lifecycle.state === 'cancelled')
    return refuseTransition(repeated ? 'same' : 'terminal')
  }
  switch (event.type) {
    case 'claim':
      return lifecycle.state === 'queued'
        ? acceptTransition(lifecycle, { state: 'starting', attempt: lifecycle.attempt + 1 }, ['take_slot'])
        : refuseTransition('impossible')
    case 'start_failed':
      return lifecycle.state === 'starting' ? failStart(lifecycle) : refuseTransition('impossible')
    case 'started':
      if (lifecycle.state === 'running') return refuseTransition('same')
      return lifecycle.state === 'starting'
        ? acceptTransition(lifecycle, { state: 'running', starts_failed: 0 }, [])
        : refuseTransition('impossible')
    case 'lost':
      // A container that ends before its transcoder asked for the task has not run any of it.
      if (lifecycle.state === 'starting') return failStart(lifecycle)
      return lifecycle.state === 'running'
        ? loseAttempt(lifecycle, exhaustedError(lifecycle, event.ranMs), event.share)
        : refuseTransition('impossible')
    case 'evicted': {
      if (lifecycle.state !== 'starting' && lifecycle.state !== 'running') return refuseTransition('impossible')
      if (lifecycle.evicted >= MAX_FREE_EVICTIONS) return loseAttempt(lifecycle, exhaustedError(lifecycle, 0))
      const change = { state: 'queued', evicted: lifecycle.evicted + 1 } as const
      return acceptTransition(lifecycle, change, ['release_slot', 'schedule'], null, EVICTED_RETRY_MS)
    }
    case 'attempt_failed':
      if (lifecycle.state !== 'starting' && lifecycle.state !== 'running') return refuseTransition('impossible')
      if (!jobErrorPolicies[event.error.code].permanent) return loseAttempt(lifecycle, event.error)
      return fail(lifecycle, event.error)
    case 'divide':
      if (lifecycle.state === 'divided')
        return refuseTransition(isSameDivision(lifecycle, event) ? 'same' : 'impossible')
      return lifecycle.state === 'running' && mayBeDivided(lifecycle, event)
        ? acceptTransition(
            lifecycle,
            {
              state: 'divided',
              parts: event.parts,
              survey_parts: event.survey === true ? event.parts : lifecycle.survey_parts,
            },
            ['release_slot', 'insert_parts', 'schedule'],
          )
        : refuseTransition('impossible')
    case 'delivered':
      return lifecycle.state === 'running' && lifecycle.kind === 'part'
        ? acceptTransition(lifecycle, { state: 'completed' }, ['release_slot', 'check_main', 'schedule'])
        : refuseTransition('impossible')
    case 'parts_done':
      if (lifecycle.state === 'divided') return acceptTransition(lifecycle, { state: 'queued' }, ['schedule'])
      return refuseTransition(lifecycle.parts > 0 ? 'same' : 'impossible')
    case 'part_failed':
      return lifecycle.state === 'divided'
        ? acceptTransition(lifecycle, { state: 'failed' }, ['cancel_parts', 'clean_up', 'schedule'], event.error)
        : refuseTransition('impossible')
    case 'finish':
      if (lifecycle.state === 'committing') return refuseTransition('same')
      if (event.undivided === true)
        return transition({ ...lifecycle, parts: 0, survey_parts: 0 }, { ...event, undivided: false })
      return lifecycle.state === 'running' && lifecycle.kind === 'transcode'
        ? acceptTransition(lifecycle, { state: 'committing' }, ['release_slot', 'schedule'])
        : refuseTransition('impossible')
    case 'planned':
      return lifecycle.state === 'running' && lifecycle.kind === 'plan'
        ? acceptTransition(lifecycle, { state: 'completed' }, ['release_slot', 'clean_up', 'schedule'])
        : refuseTransition('impossible')
    case 'committed':
      return lifecycle.state === 'committing'
        ? acceptTransition(lifecycle, { state: 'completed' }, ['clean_up'])
        : refuseTransition('impossible')
    case 'commit_failed':
      return lifecycle.state === 'committing'
        ? acceptTransition(lifecycle, { state: 'failed' }, ['clean_up'], event.error)
        : refuseTransition('impossible')
    case 'cancel':
      // Cancel or commit: the first of the two writes wins (I9).
      if (lifecycle.state === 'committing') return refuseTransition('impossible')
      return acceptTransition(lifecycle, { state: 'cancelled' }, endFromOutside(lifecycle))
    case 'deadline':
      if (lifecycle.state === 'committing') return refuseTransition('impossible')
      return acceptTransition(lifecycle, { state: 'failed' }, endFromOutside(lifecycle), {
        code: 'deadline_exceeded',
        message: 'The job did not finish before its deadline.',
      })
  }
}

/**
 * The state of a job, by its main task. When the task waits again after a lost attempt, the job is queued again, unless
 * its parts have done their work already.
 */
export function jobState({ state, parts }: Pick<TaskLifecycle, 'state' | 'parts'>): JobState {
  if (state === 'divided') return 'running'
  if (state === 'starting' || state === 'queued') return parts > 0 ? 'running' : 'queued'
  return state
}
