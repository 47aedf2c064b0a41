// In charge of: setting an account's spend cap.
// Not in charge of: refusing jobs once it is reached (usage/spendingLimit.ts), sending the webhooks
// (webhooks/webhookScheduler.ts).
import { redactAddress } from '#contract/job/redact.ts'
import { toMicro } from '#contract/usage/priceList.ts'
import { updateSpendCap } from '../db/accounts.ts'
import { insertSpendNotices } from '../db/spendNotices.ts'
import { settings } from '../env.ts'
import { validationFailed } from '../http/requestError.ts'
import { scheduleSpendNotices } from '../scheduler/applyEvent.ts'
import { monthOf } from '../usage/month.ts'
import { administratorWebhookProblem } from '../webhooks/webhookAddress.ts'

/** @throws RequestError 400 for a cap without a price list, and for an address that may not be used */
export async function setSpendCap(
  env: Env,
  account: string,
  { spend_cap: cap, spend_webhook_url: url }: { spend_cap: number | null; spend_webhook_url: string | null },
): Promise<void> {
  const { prices } = settings(env)
  if (cap !== null && prices === null) {
    const message = 'spend_cap needs a price list: set USAGE_PRICES first (docs/usage.md).'
    throw validationFailed([{ code: 'invalid_value', field: 'spend_cap', message }])
  }
  const problem = administratorWebhookProblem(env, url, 'spend_webhook_url')
  if (problem) throw validationFailed([problem])
  // Webhooks are signed, so that they need no secret in the address. One would be stored, and shown in the list.
  if (url !== null && redactAddress(url) !== url) {
    const message = 'spend_webhook_url must have no query and no password: the messages are signed instead.'
    throw validationFailed([{ code: 'invalid_value', field: 'spend_webhook_url', message }])
  }
  const now = Date.now()
  const statements = [
    updateSpendCap(env.DB, account, { spend_cap: cap === null ? null : toMicro(cap), spend_webhook_url: url }),
  ]
  if (prices !== null) statements.push(insertSpendNotices(env.DB, account, monthOf(now), prices.currency, now))
  const results = await env.DB.batch(statements)
  if ((results[1]?.results.length ?? 0) > 0) await scheduleSpendNotices(env, account)
}
