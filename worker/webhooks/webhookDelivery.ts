// In charge of: sending webhooks: signed, with the SSRF check, limited in time and size.
// Not in charge of: when (webhookScheduler.ts), their content (contract/api/webhookMessage.ts).
import { log } from '../log.ts'
import { isRedacted } from '#contract/job/redact.ts'
import { retryDelayMs, webhookPayload } from '#contract/api/webhookMessage.ts'
import { findAccount, type AccountRow } from '../db/accounts.ts'
import { findJobByJobId, type Job } from '../db/jobs.ts'
import { listWebhooks, recordDeliveryAttempt, type DeliveryAttempt, type WebhookRow } from '../db/webhooks.ts'
import { hmacSign } from '../secrets/hmac.ts'
import { openJobSecrets } from '../storage/jobStores.ts'
import { StoreError } from '../storage/objectStore.ts'
import { guardedFetch } from '../storage/guardedFetch.ts'
import { fromBase64, fromBase64Url, toBase64 } from '../util/encoding.ts'

/** From the request to the status line; the rest of the answer is not read. */
const TIMEOUT_MS = 15_000
/** After a rotation, messages are signed with the previous secret too, so that receivers have time to change. */
export const SECRET_OVERLAP_MS = 24 * 3600_000
export const MAX_LOGGED_TRIES = 20

/**
 * `whsec_` and 32 bytes in base64. Derived instead of stored, so that the database alone cannot sign. Messages are
 * signed even before the account has requested its secret: the first one is then known to no one.
 */
export async function webhookSecret(env: Env, account: string, generation: number): Promise<string> {
  const bytes = fromBase64Url(await hmacSign(env, 'webhook secret', `${account} ${generation}`)) ?? new Uint8Array(0)
  return `whsec_${toBase64(bytes)}`
}

/** Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`, one per valid secret, the current one first. */
async function signatures(env: Env, owner: AccountRow, id: string, seconds: number, body: string): Promise<string> {
  const { webhook_generation: current, webhook_rotated_at: rotatedAt } = owner
  const overlaps = rotatedAt !== null && Date.now() < rotatedAt + SECRET_OVERLAP_MS
  const attempt = (overlaps ? [current, current - 1] : [current]).map(async (generation) => {
    const secret = (await webhookSecret(env, owner.account, generation)).slice('whsec_'.length)
    const raw = fromBase64(secret)
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${seconds}.${body}`))
    return `v1,${toBase64(mac)}`
  })
  return (await Promise.all(attempt)).join(' ')
}

/**
 * Sends all due webhooks of one job.
 * @returns when the next try is due, in milliseconds since 1970; null = none
 */
export async function deliverDueWebhooks(env: Env, jobId: string): Promise<number | null> {
  const job = await findJobByJobId(env.DB, jobId)
  if (!job || job.deleted_at !== null) return null
  for (const row of await listWebhooks(env.DB, job.id)) {
    if (row.state === 'pending' && row.next_at <= Date.now()) await deliverWebhook(env, job, row)
  }
  const pending = (await listWebhooks(env.DB, job.id)).filter((row) => row.state === 'pending')
  return pending.length === 0 ? null : Math.min(...pending.map((row) => row.next_at))
}

async function deliverWebhook(env: Env, job: Job, row: WebhookRow): Promise<void> {
  const made = await sendWebhook(env, job, row)
  const wait = made.error === null ? null : retryDelayMs(row.tries + 1, made.status)
  const state = made.error === null ? 'delivered' : wait === null ? 'failed' : 'pending'
  const tries = [...row.log, made].slice(-MAX_LOGGED_TRIES)
  const now = Date.now()
  await recordDeliveryAttempt(env.DB, row, { state, nextAt: now + (wait ?? 0), log: tries, now })
  log[state === 'delivered' ? 'info' : 'warn']('webhook', {
    job: job.job_id,
    webhook: row.id,
    event: row.event,
    try: row.tries + 1,
    state,
    status: made.status,
  })
}

async function sendWebhook(env: Env, job: Job, row: WebhookRow): Promise<DeliveryAttempt> {
  const at = Date.now()
  return sendSigned(env, { id: row.id, account: job.account, at }, async () => ({
    url: await webhookAddress(env, job),
    body: webhookPayload(row.event, {
      id: job.id,
      jobId: job.job_id,
      state: job.state,
      error: job.error,
      outputs: job.outputs ?? [],
      retryOf: job.retry_of,
      dryRun: job.kind === 'plan',
      metadata: job.config.metadata ?? {},
      createdAt: job.created_at,
      finishedAt: job.finished_at ?? at,
    }),
  }))
}

/** One try, which is never repeated here. A message that cannot be made is a failed try. */
export async function sendSigned(
  env: Env,
  { id, account, at }: { id: string; account: string; at: number },
  message: () => Promise<{ url: string; body: string }>,
): Promise<DeliveryAttempt> {
  const tryResult = (status: number | null, error: string | null): DeliveryAttempt => ({
    at,
    status,
    error,
    milliseconds: Date.now() - at,
  })
  try {
    const { url, body } = await message()
    const seconds = Math.floor(at / 1000)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Splicepoint-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': await signatures(env, await findAccount(env.DB, account), id, seconds, body),
    }
    const init = { method: 'POST', headers, body }
    // Redirects are not followed: the signed message is meant for the given address.
    const answer = await guardedFetch(env, url, init, {
      maxRedirects: 0,
      headersTimeoutMs: TIMEOUT_MS,
      provider: 'webhook',
      operation: 'deliver',
    })
    await answer.body?.cancel()
    return tryResult(answer.status, answer.ok ? null : `The receiver answered ${answer.status}.`)
  } catch (error) {
    return tryResult(null, error instanceof Error ? error.message.slice(0, 300) : 'The message could not be sent.')
  }
}

/** Checked while the sealed addresses are stored. @throws StoreError if the row has other addresses than were sealed */
async function requireUnchangedAddress(env: Env, job: Job): Promise<void> {
  await openJobSecrets(env, job).catch((error: unknown) => {
    // The message contains no secret, so a missing vault key is no reason not to send it.
    if (error instanceof StoreError) throw error
  })
}

/** @throws Error if its sealed query is no longer stored, or the job was changed in the database */
export async function webhookAddress(env: Env, job: Job): Promise<string> {
  const shown = job.config.webhook_url
  const address = typeof shown === 'string' ? shown : ''
  if (!isRedacted(address)) {
    if (job.sealed !== null) await requireUnchangedAddress(env, job)
    return address
  }
  const full = job.sealed === null ? undefined : (await openJobSecrets(env, job)).addresses.webhook_url
  if (full === undefined)
    throw new Error(
      'The full address of this webhook is no longer stored; it is removed 72 hours after the end of the job.',
    )
  return full
}
