// In charge of: what is told of a job's life: the stable names and shapes of its events, and which transition makes which.
// Not in charge of: keeping them (ledger/tasks.ts), sending them (listeners.ts, routes/events.ts).
import * as z from 'zod/mini'
import type { JobError } from './errors.ts'
import type { TaskEvent, TaskLife } from './lifecycle.ts'

const EVENT_TYPES = [
  'job.created',
  'attempt.started',
  'job.planned',
  'attempt.lost',
  'job.committing',
  'job.completed',
  'job.failed',
  'job.cancelled',
] as const

type EventType = (typeof EVENT_TYPES)[number]

/** As the ledger keeps it. Short, because a job carries all of its own. */
export interface StoredEvent {
  type: EventType
  /** Milliseconds since 1970. */
  at: number
  attempt?: number
  /** Container `slot-k`, or the k-th local transcoder. */
  slot?: number
  error?: JobError
}

/** One entry of `GET /job/<id>/events`, and the `data` of a Server-Sent Event of the same name. */
export const publicEvent = z.object({
  /** 1, 2, … in the order in which they happened: the `id` of a Server-Sent Event. */
  id: z.int(),
  type: z.enum(EVENT_TYPES),
  at: z.iso.datetime(),
  attempt: z.nullable(z.int()),
  slot: z.nullable(z.int()),
  error: z.nullable(z.object({ code: z.string(), message: z.string() })),
  message: z.string(),
})
export type PublicEvent = z.infer<typeof publicEvent>

/** What a transition adds to the timeline; null for those that repeat without end (a claim, a start that failed). */
export function eventOf(
  event: TaskEvent,
  from: TaskLife & { slot: number | null },
  next: TaskLife,
  error: JobError | null,
  at: number,
): StoredEvent | null {
  const attempt = next.attempt > 0 ? { attempt: next.attempt } : {}
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
      if (event.type === 'lost') return { type: 'attempt.lost', at, ...attempt }
      return event.type === 'attempt_failed' ? { type: 'attempt.lost', at, ...attempt, error: event.error } : null
    case 'starting':
      return null
  }
}

const sentences: Readonly<Record<EventType, (event: StoredEvent) => string>> = {
  'job.created': () => 'The job was accepted and waits for a transcoder.',
  'attempt.started': (event) => `Attempt ${event.attempt} started.`,
  'job.planned': () => 'The source was probed; it is decided what is made of it.',
  'attempt.lost': (event) =>
    `Attempt ${event.attempt} ended without a result${event.error ? ` (${event.error.message})` : ''}; another one follows.`,
  'job.committing': () => 'Everything is stored; the outputs are being put in their places.',
  'job.completed': () => 'The job is completed.',
  'job.failed': (event) => `The job failed: ${event.error?.message ?? 'no reason is known.'}`,
  'job.cancelled': () => 'The job was cancelled.',
}

/** `timeline` is the ledger's JSON. */
export function publicEvents(timeline: string): PublicEvent[] {
  return (JSON.parse(timeline) as StoredEvent[]).map((event, index) => ({
    id: index + 1,
    type: event.type,
    at: new Date(event.at).toISOString(),
    attempt: event.attempt ?? null,
    slot: event.slot ?? null,
    error: event.error ?? null,
    message: sentences[event.type](event),
  }))
}

/** A Server-Sent Event (WHATWG HTML, 9.2): JSON has no line break of its own, so one data line is enough. */
export function eventText(event: PublicEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
