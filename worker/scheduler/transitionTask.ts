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
import { addLostPart, cancelWaitingParts, insertParts } from '../db/parts.ts'
import { insertSpendNotices } from '../db/spendNotices.ts'
import { addUsageIfChanged } from '../db/usage.ts'
import { insertWebhook } from '../db/webhooks.ts'
import { settings } from '../env.ts'
import type { OutputFigures } from '../metrics/outputFigures.ts'
import { transitionTotals } from '../metrics/transitionTotals.ts'
import { monthOf } from '../usage/month.ts'
import { priced, transitionUsage, type AttemptUse, type Delivery } from '../usage/transitionUsage.ts'
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
      /** The job's timeline may have one more event. */ timelineChanged: boolean
      /** Webhooks about the account's spend cap are due. */ spendNotices: boolean
    }
  | { ok: false; refusal: 'same' | 'stale' | 'terminal' | 'impossible' | 'missing'; task: TaskRow | null }

/** What the attempt that ends has used; undefined = what the stored progress says, if it comes from this attempt. */
export interface AttemptUsed {
  cpuSeconds?: number | undefined
  /** Bytes of the source and of other files of the client. */
  bytesRead?: number | undefined
}

export interface TransitionOptions extends Partial<JobResult>, AttemptUsed {
  /** Only for a claim. */
  slot?: number
  /** Read when the job ends without progress of its own: progress reports are not written to D1. */
  lastProgress?: () => Promise<string | null>
  /** Commit: figures for /metrics. */
  figures?: OutputFigures
  /** Commit: what is delivered, for the usage of the account. */
  delivery?: Delivery
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
    const isLostPart = task.main !== null && change.event?.type === 'attempt.lost'
    const statements: D1PreparedStatement[] = []
    let noticesAt: number | null = null
    if (effects.includes('take_slot')) {
      statements.push(claimTask(env.DB, id, change), occupySlot(env.DB, id, next.attempt, options.slot ?? -1))
    } else {
      statements.push(updateTask(env.DB, id, change))
      const used = usedBy(options, progress, task.attempt)
      const totals = transitionTotals(task, event, next, now, {
        code: transitionResult.error?.code ?? null,
        cpuSeconds: used.cpuSeconds,
        outputs: options.figures ?? null,
      })
      const { prices } = settings(env)
      const usage = priced(transitionUsage(task, event, next, used, options.delivery ?? null), prices)
      // Directly after the change that they count: each looks at what the statement before it changed.
      if (!totals.isEmpty) statements.push(addTotalsIfChanged(env.DB, 'jobs', totals.series))
      if (usage.length > 0) statements.push(addUsageIfChanged(env.DB, task.account, monthOf(now), usage))
      if (usage.length > 0 && prices !== null) {
        noticesAt = statements.length
        statements.push(insertSpendNotices(env.DB, task.account, monthOf(now), prices.currency, now))
      }
      if (effects.includes('release_slot')) statements.push(releaseSlot(env.DB, id, task.attempt))
      if (effects.includes('cool_down_slot'))
        statements.push(coolDownSlot(env.DB, id, task.attempt, now + SLOT_COOLDOWN_MS, unfitFor(task, event)))
    }
    if (isLostPart) statements.push(addLostPart(env.DB, id, task.attempt))
    if (effects.includes('insert_parts')) statements.push(insertParts(env.DB, id, task.attempt, next.parts, now))
    if (effects.includes('cancel_parts')) statements.push(cancelWaitingParts(env.DB, id, now))
    if (task.main === null && jobState(next) !== jobState(task)) {
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
    const webhookType = task.webhook !== 0 && task.main === null ? webhookEvent(jobState(next)) : null
    if (webhookType !== null) statements.push(insertWebhook(env.DB, task, next, webhookType, now))
    const results = await env.DB.batch(statements)
    const [changed] = results
    if ((changed?.results.length ?? 0) > 0) {
      return {
        ok: true,
        task,
        next,
        effects,
        dueAt: transitionResult.delayMs > 0 ? now + transitionResult.delayMs : null,
        timelineChanged: isLostPart || (task.main === null && change.event !== null),
        spendNotices: noticesAt !== null && (results[noticesAt]?.results.length ?? 0) > 0,
      }
    }
    // A claim also fails when its slot was assigned to another task: the scheduler then chooses again.
    if (event.type === 'claim') return { ok: false, refusal: 'impossible', task }
  }
}

/** The job whose parts a slot should not be offered again after a failed start; null = none. */
function unfitFor(task: TaskRow, event: TaskEvent): string | null {
  return event.type === 'start_failed' && event.reason === 'other_build' ? task.main : null
}

/** As the caller knows it, otherwise as the stored progress says, if that is the attempt's. */
function usedBy({ cpuSeconds, bytesRead }: AttemptUsed, progress: string | null, attempt: number): AttemptUse {
  const stored = progress === null ? null : (JSON.parse(progress) as Partial<JobProgress>)
  const own = stored?.attempt === attempt ? stored : null
  return {
    cpuSeconds: cpuSeconds ?? own?.cpu_seconds ?? null,
    bytesRead: bytesRead ?? own?.bytes_read ?? null,
  }
}
