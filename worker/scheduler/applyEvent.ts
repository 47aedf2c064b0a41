// In charge of: what follows from a transition outside the ledger. Everything here is repeated by a net after a crash:
// the monitor's alarm re-reads the task, the cron sweep finds what nobody watches.
// Not in charge of: deciding (contract/task/lifecycle.ts), writing (transitionTask.ts).
import { waitUntil } from 'cloudflare:workers'
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import { terminal } from '#contract/task/lifecycle.ts'
import type { Advance, AdvanceOptions } from './transitionTask.ts'
import { advance } from './transitionTask.ts'
import { cancelAttempt } from './dispatch.ts'
import type { Live } from '../monitor/jobProgress.ts'
import { schedule } from './assignSlots.ts'

/** What a transition needs of the job's monitor; the monitor itself passes itself. */
export interface Watcher {
  lastFigures(): Promise<Live | null>
  wakeAt(at: number): Promise<void>
  settle(): Promise<void>
  announce(): Promise<void>
}

export function monitorOf(env: Env, jobId: string) {
  return env.MONITOR.get(env.MONITOR.idFromName(jobId))
}

export function courierOf(env: Env, jobId: string) {
  return env.COURIER.get(env.COURIER.idFromName(jobId))
}

/** Applies an event and carries out what follows. A refusal is an answer, not an error. */
export async function apply(
  env: Env,
  task: { id: string; jobId: string },
  event: TaskEvent,
  options: AdvanceOptions & { watcher?: Watcher } = {},
): Promise<Advance> {
  const watcher = options.watcher ?? monitorOf(env, task.jobId)
  const result = await advance(env, task.id, event, {
    lastFigures: async () => {
      const live = await watcher.lastFigures().catch(() => null)
      return live && JSON.stringify(live)
    },
    ...options,
  })
  if (!result.ok) return result

  // Not waited for: a transcoder that starts, or that is frozen, answers late or never.
  if (result.effects.includes('stop_transcoder')) {
    waitUntil(quietly(cancelAttempt(env, result.task.slot, result.task.id, result.task.attempt)))
  }
  if (result.dueAt !== null) await quietly(watcher.wakeAt(result.dueAt))
  if (result.effects.includes('settle') && result.next.attempt > 0) await quietly(watcher.settle())
  if (result.task.webhook !== 0 && terminal[result.next.state]) {
    await quietly(courierOf(env, task.jobId).wake(task.jobId))
  }
  if (result.told) await quietly(watcher.announce())
  if (result.effects.includes('schedule')) await quietly(schedule(env))
  console.log(
    JSON.stringify({
      level: terminal[result.next.state] && result.next.state === 'failed' ? 'warn' : 'info',
      msg: event.type,
      task: result.task.id,
      attempt: result.next.attempt,
      from: result.task.state,
      to: result.next.state,
    }),
  )
  return result
}

/** Effects have nets; a failing one must not undo the answer to what was written. */
async function quietly(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    console.error(JSON.stringify({ level: 'warn', msg: 'effect failed', error: String(error) }))
  }
}
