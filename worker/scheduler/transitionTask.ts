// In charge of: applying an event to a task: read it, decide (contract/task/lifecycle.ts), write one guarded batch.
// Not in charge of: side effects outside D1 (applyEvent.ts).
import { storedEventOf } from '#contract/api/events.ts'
import {
  jobState,
  terminal,
  transition,
  type SideEffect,
  type TaskEvent,
  type TaskLifecycle,
} from '#contract/task/lifecycle.ts'
import { webhookEvent } from '#contract/api/webhookMessage.ts'
import { addTotalsIfChanged } from '../db/metricTotals.ts'
import { insertWebhook } from '../db/webhooks.ts'
import type { OutputFigures } from '../metrics/outputFigures.ts'
import { transitionTotals } from '../metrics/transitionTotals.ts'
import type { JobProgress } from './jobProgress.ts'
import {
  updateTask,
  claimTask,
  findTask,
  updateJobFromTask,
  releaseSlot,
  coolDownSlot,
  occupySlot,
  type JobResult,
  type TaskRow,
} from '../db/tasks.ts'

/**
 * An attempt whose transcoder has not fetched the task within this time is given up (a container that does not start, a
 * lost message). It does not count as a lost attempt. A cold container fetches its task within 1 to 3 s.
 */
export const START_LEASE_MS = 30_000
/** Shorter than the task's own delay, so that the slot is available again when the task is due. */
const SLOT_COOLDOWN_MS = 1500
/** How often a write that lost a race is decided again. Each loss means that another request changed the task. */
const MAX_CONFLICT_RETRIES = 5

export type TransitionResult =
  | {
      ok: true
      task: TaskRow
      next: TaskLifecycle
      effects: SideEffect[]
      dueAt: number | null
      /** The timeline has one more event. */ timelineChanged: boolean
    }
  | { ok: false; refusal: 'same' | 'stale' | 'terminal' | 'impossible' | 'missing'; task: TaskRow | null }

export interface TransitionOptions extends Partial<JobResult> {
  /** Only for a claim. */
  slot?: number
  /** Read when the job ends without progress of its own: progress reports are not written to D1. */
  lastProgress?: () => Promise<string | null>
  /** CPU time of the attempt that ends, for /metrics; undefined = that of the progress, if it is this attempt's. */
  cpuSeconds?: number | undefined
  /** Of a commit, for /metrics. */
  figures?: OutputFigures
}

/** @returns what was decided and written, or why nothing was. Throws only when D1 fails. */
export async function transitionTask(
  env: Env,
  id: string,
  event: TaskEvent,
  options: TransitionOptions = {},
): Promise<TransitionResult> {
  for (let conflicts = 0; ; conflicts++) {
    const task = await findTask(env.DB, id)
    if (!task) return { ok: false, refusal: 'missing', task }
    const transitionResult = transition(task, event)
    if (!transitionResult.ok) return { ...transitionResult, task }
    if (conflicts === MAX_CONFLICT_RETRIES) return { ok: false, refusal: 'impossible', task }

    const now = Date.now()
    const { next, effects } = transitionResult
    // Read after the task row that guards the write: if a new attempt starts meanwhile, the write fails and is
    // repeated.
    const progress = options.progress ?? (terminal[next.state] ? await options.lastProgress?.() : null) ?? null
    const change = {
      from: task,
      next,
      now,
      notBefore: transitionResult.delayMs > 0 ? now + transitionResult.delayMs : task.not_before,
      leaseUntil: next.state === 'starting' ? now + START_LEASE_MS : null,
      event: storedEventOf(event, task, next, transitionResult.error, now, transitionResult.delayMs),
      slot: next.state === 'starting' ? (options.slot ?? null) : next.state === 'running' ? task.slot : null,
    }
    const statements: D1PreparedStatement[] = []
    if (effects.includes('take_slot')) {
      statements.push(claimTask(env.DB, id, change), occupySlot(env.DB, id, next.attempt, options.slot ?? -1))
    } else {
      statements.push(updateTask(env.DB, id, change))
      const totals = transitionTotals(task, event, next, now, {
        code: transitionResult.error?.code ?? null,
        cpuSeconds: options.cpuSeconds ?? cpuSecondsIn(progress, task.attempt),
        outputs: options.figures ?? null,
      })
      // Directly behind the change that it counts.
      if (!totals.isEmpty) statements.push(addTotalsIfChanged(env.DB, 'jobs', totals.series))
      if (effects.includes('release_slot')) statements.push(releaseSlot(env.DB, id, task.attempt))
      if (effects.includes('cool_down_slot'))
        statements.push(coolDownSlot(env.DB, id, task.attempt, now + SLOT_COOLDOWN_MS))
    }
    if (jobState(next.state) !== jobState(task.state)) {
      statements.push(
        updateJobFromTask(env.DB, task, next, now, {
          error: transitionResult.error ? JSON.stringify(transitionResult.error) : null,
          // Not null: the reconciler then checks later whether an attempt left objects in the service's own store.
          outputs: options.outputs ?? (terminal[next.state] && next.attempt > 0 ? '[]' : null),
          progress,
          warnings: options.warnings ?? null,
          estimate: options.estimate ?? null,
        }),
      )
    }
    const webhookType = task.webhook !== 0 ? webhookEvent(jobState(next.state)) : null
    if (webhookType !== null) statements.push(insertWebhook(env.DB, task, next, webhookType, now))
    const [changed] = await env.DB.batch(statements)
    if ((changed?.results.length ?? 0) > 0) {
      return {
        ok: true,
        task,
        next,
        effects,
        dueAt: transitionResult.delayMs > 0 ? now + transitionResult.delayMs : null,
        timelineChanged: change.event !== null,
      }
    }
    // A claim also fails when its slot was assigned to another task: the scheduler then chooses again.
    if (event.type === 'claim') return { ok: false, refusal: 'impossible', task }
  }
}

/** Of a stored progress, if it is that of the attempt. */
function cpuSecondsIn(progress: string | null, attempt: number): number | null {
  const stored = progress === null ? null : (JSON.parse(progress) as Partial<JobProgress>)
  return stored?.attempt === attempt ? (stored.cpu_seconds ?? null) : null
}
