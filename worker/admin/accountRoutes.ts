// In charge of: limits of accounts (`/api/v0/accounts`), their spend cap among them, for holders of the admin key.
// Not in charge of: enforcing them (db/jobs.ts, db/tasks.ts, db/uploads.ts, usage/spendingLimit.ts), the webhooks about a
// spend cap (webhooks/webhookScheduler.ts).
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Account, AccountList } from '#contract/api/administration.ts'
import { quotas, spendCap } from '#contract/api/requestBodies.ts'
import { MAX_LENGTH, MAX_SPEND_CAP } from '#contract/limits.ts'
import { MICRO, toMicro } from '#contract/usage/priceList.ts'
import { authenticate } from '../http/authenticate.ts'
import { readJson } from '../http/jsonBody.ts'
import { settings } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { findAccount, listAccounts, updateQuotas, type AccountRow, updateSpendCap } from '../db/accounts.ts'
import { notFound, validationFailed } from '../http/requestError.ts'
import { parseFields } from '../http/validationErrors.ts'
import { redactAddress } from '#contract/job/redact.ts'
import { insertSpendNotices } from '../db/spendNotices.ts'
import { scheduleSpendNotices } from '../scheduler/applyEvent.ts'
import { monthOf } from '../usage/month.ts'
import { administratorWebhookProblem } from '../webhooks/webhookAddress.ts'

const MAX_BODY = 16 * 1024

const nullMeansDefault = {
  expects: 'a whole number from 0 to 1000000, or null for the default',
  minimum: 0,
  maximum: 1_000_000,
}
export const byteLimitExpectation = { expects: 'a whole number of bytes, or null for the default', minimum: 0 }
const expectations = {
  max_active_jobs: nullMeansDefault,
  max_running: nullMeansDefault,
  max_stored_upload_bytes: byteLimitExpectation,
  weight: { expects: 'a number from 0.01 to 100', minimum: 0.01, maximum: 100 },
}

const spendExpectations = {
  spend_cap: {
    expects: `an amount from 0 to ${MAX_SPEND_CAP} in the currency of USAGE_PRICES, with at most 6 decimals, or null for none`,
  },
  spend_webhook_url: {
    expects: `an http or https address of at most ${MAX_LENGTH.address} characters, or null`,
    hidden: true,
  },
}

const name = z.object({ account: z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,39}$/)) })

const named = zValidator('param', name, (result) => {
  if (!result.success) throw notFound()
})

export const accountRoutes = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .get('/', async (c) => {
    const accounts = (await listAccounts(c.env.DB)).map((row) => publicAccount(c.env, row))
    return c.json({ accounts } satisfies AccountList)
  })
  .put('/:account', named, async (c) => {
    const given = parseFields(quotas, (await readJson(c, MAX_BODY)).value, expectations)
    const { account } = c.req.valid('param')
    await updateQuotas(c.env.DB, account, given)
    return c.json(publicAccount(c.env, await findAccount(c.env.DB, account)))
  })
  // Apart from the quotas: a request that sets those must not remove a cap that it does not know.
  .put('/:account/spend-cap', named, async (c) => {
    const given = parseFields(spendCap, (await readJson(c, MAX_BODY)).value, spendExpectations)
    await setSpendCap(c.env, c.req.valid('param').account, given)
    return c.json(publicAccount(c.env, await findAccount(c.env.DB, c.req.valid('param').account)))
  })

function publicAccount(env: Env, row: AccountRow): Account {
  return {
    account: row.account,
    max_active_jobs: row.max_active_jobs ?? settings(env).maxActiveJobs,
    max_running: row.max_running,
    max_stored_upload_bytes: row.max_stored_upload_bytes ?? settings(env).maxStoredUploadBytes,
    weight: row.weight,
    spend_cap: row.spend_cap === null ? null : row.spend_cap / MICRO,
    spend_webhook_url: row.spend_webhook_url,
  }
}

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
