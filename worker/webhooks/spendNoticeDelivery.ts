// In charge of: sending an account's webhooks about its spend cap, with the retries of other webhooks.
// Not in charge of: when (webhookScheduler.ts), which percentages (db/spendNotices.ts), signing (webhookDelivery.ts).
import { retryDelayMs, spendNoticePayload } from '#contract/api/webhookMessage.ts'
import { MICRO } from '#contract/usage/priceList.ts'
import { findAccount } from '../db/accounts.ts'
import { listPendingNotices, recordNoticeAttempt, type SpendNotice } from '../db/spendNotices.ts'
import { log } from '../log.ts'
import { monthEnd } from '../usage/month.ts'
import { MAX_LOGGED_TRIES, sendSigned } from './webhookDelivery.ts'

/** @returns when the next try is due, in milliseconds since 1970; null = none */
export async function deliverDueNotices(env: Env, account: string): Promise<number | null> {
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
