// In charge of: what a transition of a task counts.
// Not in charge of: writing it, in the batch of the transition (scheduler/transitionTask.ts).
import type { StoredEvent } from '#contract/api/events.ts'
import type { JobErrorCode } from '#contract/errorCodes.ts'
import { terminal, type TaskEvent, type TaskLifecycle } from '#contract/task/lifecycle.ts'
import type { CountedTaskRow } from '../db/tasks.ts'
import type { OutputFigures } from './outputFigures.ts'
import { Totals } from '../util/totals.ts'

export interface TransitionFacts {
  /** Why the job failed. */
  code: JobErrorCode | null
  /** CPU time of the attempt that ends; null = unknown. */
  cpuSeconds: number | null
  /** What a commit delivers; null = the transition is no commit. */
  outputs: OutputFigures | null
}

/** Label of a task's kind: the API says "dry run". */
const kindOf = ({ kind }: TaskLifecycle): string => (kind === 'plan' ? 'dry_run' : kind)

export function transitionTotals(
  task: CountedTaskRow,
  event: TaskEvent,
  next: TaskLifecycle,
  now: number,
  facts: TransitionFacts,
): Totals {
  const totals = new Totals()
  const kind = kindOf(task)
  const timeline = JSON.parse(task.timeline) as StoredEvent[]
  if (event.type === 'started') {
    totals.add('attempts_started_total', { kind })
    // The parts of a job wait for each other, as its length wants.
    if (task.main === null) totals.observe('job_queue_seconds', { kind }, (now - readySince(timeline)) / 1000)
    // The claim was the task's last change.
    totals.observe('job_phase_seconds', { phase: 'start' }, (now - task.updated_at) / 1000)
  }
  if (next.starts_failed > task.starts_failed)
    totals.add('starts_failed_total', { reason: event.type === 'start_failed' ? event.reason : 'ended' })
  if (next.evicted > task.evicted) totals.add('attempts_evicted_total', {})
  if (next.lost > task.lost) totals.add('attempts_lost_total', { cause: causeOf(event) })
  if (task.state === 'running' && next.state !== 'running' && facts.cpuSeconds !== null)
    totals.add('transcoder_cpu_seconds_total', { outcome: outcomeOf(event) }, facts.cpuSeconds)
  // A job is its main task.
  if (terminal[next.state] && task.main === null) {
    totals.add('jobs_ended_total', { kind, state: next.state, code: facts.code ?? '' })
    const createdAt = timeline[0]?.at ?? now
    totals.observe('job_duration_seconds', { kind, state: next.state }, (now - createdAt) / 1000)
  }
  if (event.type === 'committed') {
    countPhases(totals, timeline, now, facts.outputs?.encodeSeconds ?? 0)
    if (task.source_seconds !== null) totals.add('source_seconds_total', {}, task.source_seconds)
    for (const [resolution, seconds] of Object.entries(facts.outputs?.seconds ?? {}))
      totals.add('output_seconds_total', { resolution }, seconds)
    if (facts.outputs) totals.add('stored_bytes_total', { store: facts.outputs.store }, facts.outputs.bytes)
  }
  return totals
}

/** When the task last entered the queue, and its back-off was over. */
function readySince(timeline: readonly StoredEvent[]): number {
  const queued = timeline.findLast(
    ({ type, part }) => part === undefined && /^(job\.(created|assembling)|attempt\.(lost|evicted))$/.test(type),
  )
  return (queued?.at ?? 0) + (queued?.retrySeconds ?? 0) * 1000
}

function causeOf(event: TaskEvent): string {
  if (event.type === 'attempt_failed') return event.error.code
  return event.type === 'evicted' ? 'evicted' : 'transcoder_lost'
}

const finishing: ReadonlySet<TaskEvent['type']> = new Set(['finish', 'planned', 'divide', 'delivered'])

function outcomeOf(event: TaskEvent): string {
  if (finishing.has(event.type)) return 'finished'
  if (event.type === 'lost' || event.type === 'evicted') return event.type
  return event.type === 'cancel' ? 'cancelled' : 'failed'
}

/**
 * An attempt that followed the plan of an earlier one has no phase of analysis. A divided job is encoded by its parts,
 * and its last attempt only puts them together.
 */
function countPhases(totals: Totals, timeline: readonly StoredEvent[], now: number, encodeSeconds: number): void {
  const lastAt = (type: StoredEvent['type']) => timeline.findLast((event) => event.type === type)?.at
  const startedAt = lastAt('attempt.started')
  const committingAt = lastAt('job.committing')
  if (startedAt === undefined || committingAt === undefined) return
  const seconds = (from: number, to: number) => (to - from) / 1000
  const commit: Phase = ['commit', seconds(committingAt, now)]
  const [dividedAt, assemblingAt] = [lastAt('job.divided'), lastAt('job.assembling')]
  const plannedAt = lastAt('job.planned') ?? 0
  const isDivided = dividedAt !== undefined && assemblingAt !== undefined
  const surveyedFrom = isDivided
    ? (timeline.findLast(({ type, at }) => type === 'attempt.started' && at <= dividedAt)?.at ?? dividedAt)
    : startedAt
  const encodedFrom = Math.max(surveyedFrom, plannedAt)
  const phases: Phase[] = isDivided
    ? [['encoding', seconds(dividedAt, assemblingAt)], ['upload', seconds(startedAt, committingAt)], commit]
    : [['encoding', encodeSeconds], ['upload', seconds(encodedFrom, committingAt) - encodeSeconds], commit]
  if (encodedFrom > surveyedFrom) phases.push(['analysis', seconds(surveyedFrom, encodedFrom)])
  for (const [phase, value] of phases) totals.observe('job_phase_seconds', { phase }, value)
}

type Phase = [phase: string, seconds: number]
