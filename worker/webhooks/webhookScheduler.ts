// In charge of: when webhooks are sent: an alarm. One Durable Object per job that has webhooks, and per account that has
// webhooks about its spend cap.
// Not in charge of: sending those of jobs (webhookDelivery.ts). All durable state is in D1; the reconciler restarts a lost scheduler.
import { DurableObject } from 'cloudflare:workers'
import { accountOfNotices } from '../scheduler/webhookOwner.ts'
import { deliverDueWebhooks, MAX_LOGGED_TRIES, sendSigned } from './webhookDelivery.ts'
import { retryDelayMs, spendNoticePayload } from '#contract/api/webhookMessage.ts'
import { MICRO } from '#contract/usage/priceList.ts'
import { findAccount } from '../db/accounts.ts'
import { listPendingNotices, recordNoticeAttempt, type SpendNotice } from '../db/spendNotices.ts'
import { log } from '../log.ts'
import { monthEnd } from '../usage/month.ts'

/** @returns when the next try is due, in milliseconds since 1970; null = none */
async function deliverDueNotices(env: Env, account: string): Promise<number | null> {
  for (const notice of await listPendingNotices(env.DB, account))
    if (notice.next_at <= Date.now()) await deliverNotice(env, notice)
  const [first] = await listPendingNotices(env.DB, account)
  return first?.next_at ?? null
}

async function deliverNotice(env: Env, notice: SpendNotice): Promise<void> {
  const made = await sendSigned(env, { ...notice, at: Date.now() }, async () => {
    const { spend_webhook_url: url } = await findAccount(env.DB, notice.account)
    if (url === null) throw new Error('The account has no spend_webhook_url any more.')
    return { url, body: payloadOf(notice) }
  })
  const wait = made.error === null ? null : retryDelayMs(notice.tries + 1, made.status)
  const state = made.error === null ? 'delivered' : wait === null ? 'failed' : 'pending'
  const now = Date.now()
  const tries = [...notice.log, made].slice(-MAX_LOGGED_TRIES)
  await recordNoticeAttempt(env.DB, notice, { state, nextAt: now + (wait ?? 0), log: tries, now })
  const { account, percent, id: webhook } = notice
  log[state === 'delivered' ? 'info' : 'warn']('spend cap webhook', {
    account,
    percent,
    webhook,
    try: notice.tries + 1,
    state,
    status: made.status,
  })
}

function payloadOf({ account, month, percent, cap, spent, currency, created_at: reachedAt }: SpendNotice): string {
  return spendNoticePayload({
    account,
    month,
    percent,
    spendCap: cap / MICRO,
    spent: spent / MICRO,
    currency,
    resetsAt: monthEnd(month),
    reachedAt,
  })
}

/** The alarm fires again after this time if a try dies before it sets the next alarm. */
const CRASH_RETRY_MS = 60_000

export class Courier extends DurableObject<Env> {
  /** In memory only: it matters only to a delivery that is running in the same memory. */
  private scheduleCount = 0

  /** @param owner a job's backend id, or an account's name of `noticesOf` */
  async schedule(owner: string): Promise<void> {
    this.scheduleCount++
    await Promise.all([this.ctx.storage.put('job', owner), this.ctx.storage.setAlarm(Date.now())])
  }

  override async alarm(): Promise<void> {
    const owner = await this.ctx.storage.get<string>('job')
    if (owner === undefined) return
    const account = accountOfNotices(owner)
    await this.ctx.storage.setAlarm(Date.now() + CRASH_RETRY_MS)
    let countBefore: number
    let next: number | null
    do {
      countBefore = this.scheduleCount
      next = account === null ? await deliverDueWebhooks(this.env, owner) : await deliverDueNotices(this.env, account)
      // Repeated if `schedule` was called meanwhile: the rows that were read may be older than that call.
    } while (countBefore !== this.scheduleCount)
    if (next !== null) return this.ctx.storage.setAlarm(next)
    // Started together: a call of `schedule` that comes now takes effect after both.
    await Promise.all([this.ctx.storage.deleteAlarm(), this.ctx.storage.deleteAll()])
  }
}
