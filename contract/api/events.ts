// In charge of: the public events of a job: their stable names and shapes, and which state transition produces which
// event.
// Not in charge of: storing them (worker/db/tasks.ts), sending them (worker/monitor/eventStream.ts,
// worker/jobs/serveEvents.ts).
import type { PublicEvent } from './answers.ts'
import type { JobError } from '../errors.ts'
import { isSurveying, type StartFailure, type TaskEvent, type TaskLifecycle } from '../task/lifecycle.ts'

type EventType = PublicEvent['type']

/** As stored in the database. Kept short, because all events of a job are in one row. */
export interface StoredEvent {
  type: EventType
  /** Milliseconds since 1970. */
  at: number
  attempt?: number
  /** For a lost attempt at a part, in the timeline of the job: the position in `chunks.map`; null = it took samples. */
  part?: number | null
  /** And its task. */
  of?: string
  /** Container `slot-k`, or the k-th local transcoder. */
  slot?: number
  error?: JobError
  /** For an evicted attempt: why it could not finish. */
  why?: string
  /** For a lost attempt that does not count towards the limit. */
  excused?: true
  /** For a lost attempt: seconds until the next one. */
  retrySeconds?: number
  /** Divided job: the number of its parts. */
  parts?: number
  /** For failed starts: how many in a row, the reason of the last one, and seconds until the next. */
  starts?: { failed: number; reason: StartFailure; retrySeconds: number }
}

/** Failed starts are published at the 1st, 2nd, 4th, 8th, … in a row: a day has 1,440 minutes. */
function isPublished(failedStarts: number): boolean {
  return Number.isInteger(Math.log2(failedStarts))
}

/**
 * The event that a transition adds to the timeline; null for those that can repeat without end (a claim, most failed
 * starts).
 */
export function storedEventOf(
  event: TaskEvent,
  from: TaskLifecycle & { slot: number | null },
  next: TaskLifecycle,
  error: JobError | null,
  at: number,
  delayMs: number,
): StoredEvent | null {
  const attempt = next.attempt > 0 ? { attempt: next.attempt } : {}
  const retry = { retrySeconds: Math.round(delayMs / 1000) }
  switch (next.state) {
    case 'completed':
    case 'cancelled':
      return { type: `job.${next.state}`, at, ...attempt }
    case 'failed':
      return { type: 'job.failed', at, ...attempt, ...(error ? { error } : {}) }
    case 'committing':
      return { type: 'job.committing', at, ...attempt }
    case 'running':
      return { type: 'attempt.started', at, ...attempt, ...(from.slot === null ? {} : { slot: from.slot }) }
    case 'queued':
      if (next.starts_failed > from.starts_failed) {
        if (!isPublished(next.starts_failed)) return null
        const reason = event.type === 'start_failed' ? event.reason : 'ended'
        return {
          type: 'attempt.start_failed',
          at,
          ...attempt,
          starts: { failed: next.starts_failed, reason, ...retry },
        }
      }
      if (next.lost > from.lost) {
        const excused = next.excused > from.excused ? { excused: true as const } : {}
        const cause = event.type === 'attempt_failed' ? { error: event.error } : {}
        return { type: 'attempt.lost', at, ...attempt, ...excused, ...retry, ...cause }
      }
      // The attempt that follows divides the job again.
      if (event.type === 'parts_done' && isSurveying(next)) return null
      if (event.type === 'parts_done') return { type: 'job.assembling', at, ...attempt }
      if (event.type === 'evicted')
        return { type: 'attempt.evicted', at, ...attempt, ...(event.why ? { why: event.why } : {}) }
      return null
    case 'divided':
      return isSurveying(next)
        ? { type: 'job.surveying', at, ...attempt, parts: next.parts }
        : { type: 'job.divided', at, ...attempt, parts: next.parts - next.survey_parts }
    case 'starting':
      return null
  }
}

/** For people. Also shown in the status of a waiting job (status.ts). */
export const startFailureMessages: Readonly<Record<StartFailure, string>> = {
  no_answer: 'it did not respond in time',
  ended: 'it ended before it asked for the task',
  refused: 'it refused the task',
  no_capacity: 'the platform had no container to give',
  other_build: 'the other parts of the job are made with another build of ffmpeg',
  service_unreachable: 'it cannot reach this service at TASK_API_URL',
}

function ofPart({ part }: StoredEvent): string {
  if (part === undefined) return ''
  return part === null ? ' at a part that takes samples' : ` at part ${part}`
}

const eventMessages: Readonly<Record<EventType, (event: StoredEvent) => string>> = {
  'job.created': () => 'Job accepted; waiting for a transcoder.',
  'attempt.started': (event) => `Attempt ${event.attempt} started.`,
  'job.planned': () => 'Source analysed; outputs planned.',
  'job.surveying': ({ parts }) => `The source is surveyed in ${parts} parts, which any free transcoder takes.`,
  'job.divided': ({ parts }) => `The job is divided into ${parts} parts, which any free transcoder takes.`,
  'job.assembling': () => 'All parts are stored; a further attempt puts them together.',
  'attempt.start_failed': ({ starts }) => {
    if (starts === undefined) return 'A transcoder could not be started.'
    const { failed, reason, retrySeconds } = starts
    const times = failed === 1 ? 'because' : `${failed} times in a row, most recently because`
    return `A transcoder could not be started ${times} ${startFailureMessages[reason]}; retrying in ${retrySeconds} s. This does not count as a lost attempt.`
  },
  'attempt.evicted': (event) =>
    `Attempt ${event.attempt} was interrupted because its transcoder is shutting down${event.why === undefined ? '' : ` (${event.why})`}; another attempt follows. This does not count as a lost attempt.`,
  'attempt.lost': (event) =>
    `Attempt ${event.attempt}${ofPart(event)} ended without a result${event.error ? ` (${event.error.message})` : ''}; another attempt follows${event.retrySeconds === undefined ? '' : ` in ${event.retrySeconds} s`}.${event.excused ? ' It got further than the attempts before it, so it does not count towards the limit.' : ''}`,
  'job.committing': () => 'All outputs are uploaded and are being published.',
  'job.completed': () => 'Job completed.',
  'job.failed': (event) => `The job failed: ${event.error?.message ?? 'the reason is unknown.'}`,
  'job.cancelled': () => 'Job cancelled.',
}

export function publicEvents(timeline: readonly StoredEvent[]): PublicEvent[] {
  return timeline.map((event, index) => ({
    id: index + 1,
    type: event.type,
    at: new Date(event.at).toISOString(),
    attempt: event.attempt ?? null,
    part: event.part ?? null,
    slot: event.slot ?? null,
    error: event.error ?? null,
    message: eventMessages[event.type](event),
  }))
}

/** A Server-Sent Event (WHATWG HTML, 9.2). JSON.stringify writes no line breaks, so one data line is enough. */
export function sseEventText(event: PublicEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
