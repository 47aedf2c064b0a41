// In charge of: issuing, listing, changing, rotating and revoking API keys (`/api/v0/keys`), for holders of the admin
// key.
// Not in charge of: what a key allows (http/authenticate.ts, uploads/uploadQuota.ts), its webhook
// (webhooks/webhookAddress.ts).
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Key, KeyList } from '#contract/api/administration.ts'
import { keyChange, newKey } from '#contract/api/requestBodies.ts'
import { KEY_SECONDS, MAX_LENGTH } from '#contract/limits.ts'
import { authenticate, hashApiKey } from '../http/authenticate.ts'
import { readJson } from '../http/jsonBody.ts'
import {
  webhookUnreadable,
  openKeyWebhook,
  sealKeyWebhook,
  administratorWebhookProblem,
} from '../webhooks/webhookAddress.ts'
import type { AppEnv } from '../http/context.ts'
import {
  updateApiKey,
  findApiKey,
  insertApiKey,
  isKeyUsable,
  listApiKeys,
  revokeApiKey,
  type ApiKeyRow,
} from '../db/apiKeys.ts'
import { transferUploads } from '../db/uploads.ts'
import { validationFailed, notFound } from '../http/requestError.ts'
import { parseFields, type FieldExpectations } from '../http/validationErrors.ts'
import { byteLimitExpectation } from './accountRoutes.ts'
import { randomName } from '../util/encoding.ts'

const MAX_BODY = 16 * 1024

type NewKeyRequest = z.infer<typeof newKey>

const changeable = {
  label: { expects: 'a string of at most 100 characters', maximum: 100 },
  requests_per_minute: {
    expects: 'a whole number from 1 to 1000000, or null for the default',
    minimum: 1,
    maximum: 1_000_000,
  },
  priority: { expects: 'a whole number from -10 to 10', minimum: -10, maximum: 10 },
  max_stored_upload_bytes: {
    ...byteLimitExpectation,
    expects: 'a whole number of bytes, or null for no limit except the account’s',
  },
  webhook_url: {
    expects: `an http or https address of at most ${MAX_LENGTH.address} characters, or null`,
    hidden: true,
  },
}
const expectations = {
  account: { expects: '1 to 40 lower-case letters, digits and hyphens, not beginning with a hyphen' },
  scopes: { expects: 'a list of at least one of "jobs", "admin"', allowed: ['jobs', 'admin'] },
  ...changeable,
  expires_in_seconds: {
    expects: `a whole number of seconds from ${KEY_SECONDS.minimum} to ${KEY_SECONDS.maximum}, or null for a key that does not expire`,
    ...KEY_SECONDS,
  },
}

const keyId = z.object({ id: z.string().check(z.regex(/^sp_[A-Za-z0-9_-]{12}$/)) })
const named = zValidator('param', keyId, (result) => {
  if (!result.success) throw notFound()
})

export const apiKeyRoutes = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post('/', async (c) => {
    const { expires_in_seconds: seconds, ...wish } = readKeyBody(
      c.env,
      newKey,
      (await readJson(c, MAX_BODY)).value,
      expectations,
    )
    return c.json(await issueKey(c.env, wish, seconds === null ? null : Date.now() + seconds * 1000), 201)
  })
  .get('/', async (c) => c.json({ keys: (await listApiKeys(c.env.DB)).map(publicKey) } satisfies KeyList))
  .patch('/:id', named, async (c) => {
    const { env } = c
    const { id, account } = await findActiveKey(env, c.req.valid('param').id)
    const { webhook_url: address, ...wish } = readKeyBody(
      env,
      keyChange,
      (await readJson(c, MAX_BODY)).value,
      changeable,
    )
    const hook = address === undefined ? {} : await sealKeyWebhook(env, account, id, address)
    const row = await updateApiKey(env.DB, id, { ...wish, ...hook })
    if (!row) throw notFound()
    return c.json(publicKey(row))
  })
  .post('/:id/rotate', named, async (c) => {
    const old = await findActiveKey(c.env, c.req.valid('param').id)
    const { id, account, webhook_url: redacted, webhook_sealed: sealed } = old
    const webhook_url = redacted === null ? null : await openKeyWebhook(c.env, account, { keyId: id, redacted, sealed })
    const lost = redacted !== null && webhook_url === null
    const scopes = old.scopes.split(',') as NewKeyRequest['scopes']
    const made = await issueKey(c.env, { ...old, scopes, webhook_url }, old.expires_at)
    await c.env.DB.batch([revokeApiKey(c.env.DB, id, Date.now()), transferUploads(c.env.DB, id, made.id, account)])
    return c.json({ ...made, warnings: lost ? [webhookUnreadable('the new key has none')] : [] }, 201)
  })
  .delete('/:id', named, async (c) => {
    if (!(await revokeApiKey(c.env.DB, c.req.valid('param').id, Date.now()).first())) throw notFound()
    return c.body(null, 204)
  })

/** @throws RequestError 400 with all problems */
function readKeyBody<T extends z.ZodMiniType<{ webhook_url?: string | null | undefined }>>(
  env: Env,
  schema: T,
  value: unknown,
  known: FieldExpectations,
): z.output<T> {
  const parsed = parseFields(schema, value, known)
  const problem = administratorWebhookProblem(env, parsed.webhook_url ?? null)
  if (problem) throw validationFailed([problem])
  return parsed
}

/** @throws RequestError 404 for a key that is missing, revoked or expired */
async function findActiveKey(env: Env, id: string): Promise<ApiKeyRow> {
  const row = await findApiKey(env.DB, id)
  if (!row || !isKeyUsable(row, Date.now())) throw notFound()
  return row
}

/** 9 and 32 random bytes. This answer is the only one that contains the key. */
async function issueKey(env: Env, wish: Omit<NewKeyRequest, 'expires_in_seconds'>, expiresAt: number | null) {
  const id = `sp_${randomName(9)}`
  const key = `${id}.${randomName(32)}`
  const row = {
    id,
    account: wish.account,
    label: wish.label,
    scopes: wish.scopes.join(','),
    hash: await hashApiKey(env, key),
    created_at: Date.now(),
    expires_at: expiresAt,
    requests_per_minute: wish.requests_per_minute,
    priority: wish.priority,
    max_stored_upload_bytes: wish.max_stored_upload_bytes,
    ...(await sealKeyWebhook(env, wish.account, id, wish.webhook_url)),
  }
  await insertApiKey(env.DB, row)
  return { ...publicKey({ ...row, last_used_at: null, revoked_at: null }), key }
}

function publicKey(row: ApiKeyRow) {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  return {
    id: row.id,
    account: row.account,
    label: row.label,
    scopes: row.scopes.split(',') as Key['scopes'],
    requests_per_minute: row.requests_per_minute,
    priority: row.priority,
    max_stored_upload_bytes: row.max_stored_upload_bytes,
    webhook_url: row.webhook_url,
    created_at: new Date(row.created_at).toISOString(),
    expires_at: time(row.expires_at),
    last_used_at: time(row.last_used_at),
    revoked_at: time(row.revoked_at),
  } satisfies Key
}
