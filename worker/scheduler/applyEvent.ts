// In charge of: the side effects of a transition outside D1. Each is repeated after a crash: the monitor's alarm reads
// the task again, and the reconciler (cron) finds tasks that no monitor watches.
// Not in charge of: deciding (contract/task/lifecycle.ts), writing (transitionTask.ts).
import { log } from '../log.ts'
import { waitUntil } from 'cloudflare:workers'
import { terminal, type TaskEvent } from '#contract/task/lifecycle.ts'
import { MAIN_TASK, parseTaskId } from '#contract/taskId.ts'
import { transitionTask, type TransitionResult, type TransitionOptions } from './transitionTask.ts'
import { cancelAttempt } from './dispatch.ts'
import type { ProgressPost } from '#contract/task/protocol.ts'
import { findEventOfParts, listOpenParts, type PartRef } from '../db/parts.ts'
import { mapConcurrent } from '../util/mapConcurrent.ts'
import { assignSlots } from './assignSlots.ts'
import { noticesOf } from './webhookOwner.ts'

/** What a transition needs of the job's monitor. When the monitor is the caller, it passes itself. */
export interface MonitorHandle {
  lastProgress(): Promise<ProgressPost | null>
  wakeAt(at: number): Promise<void>
  cleanUp(): Promise<void>
  notifyListeners(): Promise<void>
}

/** The monitor of the job's main task. It also answers for the whole job. */
export function jobMonitor(env: Env, jobId: string) {
  return env.MONITOR.get(env.MONITOR.idFromName(jobId))
}

/** Each part of a divided job has a monitor of its own, so that hundreds of attempts do not report to one object. */
export function taskMonitor(env: Env, task: string) {
  const { jobId, number } = parseTaskId(task)
  return env.MONITOR.get(env.MONITOR.idFromName(number === MAIN_TASK ? jobId : task))
}

export function webhookScheduler(env: Env, jobId: string) {
  return env.COURIER.get(env.COURIER.idFromName(jobId))
}

/** Sends the account's webhooks about its spend cap that are due. */
export async function scheduleSpendNotices(env: Env, account: string): Promise<void> {
  const name = noticesOf(account)
  await webhookScheduler(env, name).schedule(name)
}

/** Applies an event and runs its side effects. A refused event is a result, not an error. */
export async function applyEvent(
  env: Env,
  task: { id: string; jobId: string },
  event: TaskEvent,
  options: TransitionOptions & { monitor?: MonitorHandle } = {},
): Promise<TransitionResult> {
  const monitor = options.monitor ?? taskMonitor(env, task.id)
  const result = await transitionTask(env, task.id, event, {
    lastProgress: async () => {
      const live = await monitor.lastProgress().catch(() => null)
      return live && JSON.stringify(live)
    },
    ...options,
  })
  if (!result.ok) return result

  // Not awaited: a transcoder that is starting or frozen answers late or never.
  if (result.effects.includes('stop_transcoder')) {
    waitUntil(logFailure(cancelAttempt(env, result.task.slot, result.task.id, result.task.attempt)))
  }
  if (result.dueAt !== null) await logFailure(monitor.wakeAt(result.dueAt))
  if (result.effects.includes('cancel_parts'))
    await logFailure(listOpenParts(env.DB, task.id).then((parts) => endParts(env, parts)))
  if (result.effects.includes('check_main') && result.task.main !== null)
    await logFailure(checkMain(env, { id: result.task.main, jobId: task.jobId }))
  if (result.effects.includes('clean_up') && result.next.attempt > 0) await logFailure(monitor.cleanUp())
  if (result.task.webhook !== 0 && result.task.main === null && terminal[result.next.state]) {
    await logFailure(webhookScheduler(env, task.jobId).schedule(task.jobId))
  }
  if (result.spendNotices) await logFailure(scheduleSpendNotices(env, result.task.account))
  if (result.timelineChanged) await logFailure(jobMonitor(env, task.jobId).notifyListeners())
  if (result.effects.includes('schedule')) await logFailure(assignSlots(env))
  log[result.next.state === 'failed' ? 'warn' : 'info'](event.type, {
    job: task.jobId,
    task: result.task.id,
    attempt: result.next.attempt,
    from: result.task.state,
    to: result.next.state,
  })
  return result
}

/**
 * The parts of a divided job let its main task go on or make it fail. Safe at any time: nothing happens unless all are
 * completed or one has failed. Repeated by the monitor of the main task and by the reconciler.
 */
export async function checkMain(
  env: Env,
  main: { id: string; jobId: string },
  options: { monitor?: MonitorHandle } = {},
): Promise<void> {
  const event = await findEventOfParts(env.DB, main.id)
  if (event !== null) await applyEvent(env, main, event, options)
}

/** Parts that are ended at the same time. Each needs a few requests, and a Worker has six connections. */
const CONCURRENT_ENDS = 6

/** Parts end with the main task. */
export async function endParts(env: Env, parts: readonly PartRef[]): Promise<void> {
  await mapConcurrent(parts, CONCURRENT_ENDS, ({ id, job_id: jobId }) =>
    applyEvent(env, { id, jobId }, { type: 'cancel' }),
  )
}

/** A side effect that fails is repeated later. It must not turn a successful write into an error. */
async function logFailure(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    log.warn('effect failed', { error: String(error) })
  }
}
