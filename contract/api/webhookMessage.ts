// In charge of: the content of a webhook and its retry schedule, as in the Standard Webhooks specification 1.0.0
// (github.com/standard-webhooks/standard-webhooks).
// Not in charge of: sending (worker/webhooks/webhookDelivery.ts), storing (worker/db/webhooks.ts).
import type { JobError } from '../errors.ts'
import type { JobState } from '../task/lifecycle.ts'

type WebhookEvent = 'job.completed' | 'job.failed' | 'job.cancelled'

/** The event that reports the end of a job; null while the job has not ended. */
export function webhookEvent(state: JobState): WebhookEvent | null {
  return state === 'completed' || state === 'failed' || state === 'cancelled' ? `job.${state}` : null
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Delays between retries: eleven tries within a day. */
const RETRY_DELAYS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  8 * HOUR,
]

/**
 * Milliseconds until the next try after `tries` tries; null = give up. 410 means that the receiver wants no more
 * messages (Standard Webhooks).
 */
export function retryDelayMs(tries: number, status: number | null): number | null {
  return status === 410 ? null : (RETRY_DELAYS[tries - 1] ?? null)
}

/** A message lists this many outputs at most. All are counted. */
const MAX_OUTPUTS = 100

export interface WebhookJob {
  id: number
  jobId: string
  state: JobState
  error: JobError | null
  outputs: { path: string; size: number; sha256: string; content_type: string; profile: number | null; role: string }[]
  retryOf: number | null
  dryRun: boolean
  metadata: Record<string, string>
  createdAt: number
  finishedAt: number
}

/** Contains no credentials and no signed addresses. The receiver reads the job to get those. */
export function webhookPayload(event: string, job: WebhookJob): string {
  return JSON.stringify({
    type: event,
    timestamp: new Date(job.finishedAt).toISOString(),
    data: {
      _auto_generated_id_: job.id,
      job_id: job.jobId,
      state: job.state,
      error: job.error && { code: job.error.code, message: job.error.message },
      outputs: job.outputs.slice(0, MAX_OUTPUTS).map(({ path, size, sha256, content_type, profile, role }) => ({
        path,
        size,
        sha256,
        content_type,
        profile,
        role,
      })),
      outputs_total: job.outputs.length,
      retry_of: job.retryOf,
      dry_run: job.dryRun,
      metadata: job.metadata,
      created_at: new Date(job.createdAt).toISOString(),
      finished_at: new Date(job.finishedAt).toISOString(),
    },
  })
}

export interface SpendNoticeFacts {
  account: string
  month: string
  percent: number
  /** In the currency. */
  spendCap: number
  spent: number
  currency: string
  /** When the next month begins. */
  resetsAt: number
  reachedAt: number
}

/** `spent` is what was spent when the percentage was reached. */
export function spendNoticePayload(notice: SpendNoticeFacts): string {
  return JSON.stringify({
    type: notice.percent < 100 ? 'spend_cap.warning' : 'spend_cap.reached',
    timestamp: new Date(notice.reachedAt).toISOString(),
    data: {
      account: notice.account,
      month: notice.month,
      percent: notice.percent,
      spend_cap: notice.spendCap,
      spent: notice.spent,
      currency: notice.currency,
      resets_at: new Date(notice.resetsAt).toISOString(),
    },
  })
}
