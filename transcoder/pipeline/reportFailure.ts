// In charge of: reporting that an attempt failed, was cancelled or was interrupted.
// Not in charge of: the code of an error (errors.ts).
import type { FailPost } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { AttemptAbort, redactText, StaleAttempt, toJobError, type AbortKind } from '../errors.ts'
import type { Log } from '../log.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'
import type { ResourceMeter } from './resourceUsage.ts'
import type { LogSender } from './attemptReports.ts'

/** How long posting the log is retried: the job waits no longer for it. */
export const LOG_MS = 5000
const FINAL_LOG_MS = 3000

/** How long reporting a result is retried. After a second request to end, the process has 10 s altogether. */
const REPORT_MS: Record<AbortKind | 'failed', number> = {
  failed: 120_000,
  cancelled: 30_000,
  interrupted: 4000,
  heartbeat_lost: 10_000,
  stopped: 0,
}

/** Not `interrupted`: the attempt counts as lost. */
const HEARTBEAT_LOST = new TaskError('internal', 'The service did not answer the transcoder’s heartbeats for too long.')

export async function reportFailure(
  {
    taskClient,
    log,
    logSender,
    meter,
  }: { taskClient: TaskClient; log: Log; logSender: LogSender; meter: ResourceMeter },
  cause: unknown,
  secrets: readonly string[],
): Promise<void> {
  const kind = cause instanceof AttemptAbort ? cause.kind : 'failed'
  if (kind === 'stopped' || cause instanceof StaleAttempt) {
    log.info('stopped: this attempt is no longer the current one')
    return
  }
  const { cpu_seconds } = meter.usage()
  const used = { bytes_read: taskClient.bytesRead, ...(cpu_seconds === undefined ? {} : { cpu_seconds }) }
  const post: FailPost =
    kind === 'failed' || kind === 'heartbeat_lost'
      ? { reason: 'failed', error: toJobError(kind === 'heartbeat_lost' ? HEARTBEAT_LOST : cause, secrets), ...used }
      : {
          reason: kind,
          ...used,
          ...(cause instanceof AttemptAbort && cause.why !== undefined ? { why: cause.why } : {}),
        }
  if (post.error?.code === 'internal' && cause instanceof Error)
    log.error('unexpected', { stack: redactText(cause.stack ?? '', secrets) })
  log.info('ended', { reason: post.reason, why: post.why, code: post.error?.code, error: post.error?.message })
  // The next attempt waits for the report of an interrupted one; otherwise the log is complete before the job ends.
  if (kind !== 'interrupted') await logSender.send(LOG_MS)
  await taskClient.postFailure(post, REPORT_MS[kind], new AbortController().signal).catch((error: unknown) => {
    log.warn('the result could not be reported', { error: redactText(String(error), secrets) })
  })
  if (kind === 'interrupted') await logSender.send(FINAL_LOG_MS)
}
