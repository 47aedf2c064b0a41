// In charge of: issuing, listing, changing, rotating and revoking API keys (`/api/v0/keys`), for holders of the admin key.
// Not in charge of: what a key is let do (authenticate.ts, uploadQuota.ts), whom its jobs tell (webhookAddress.ts).
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Key, KeyList } from '#contract/api/administration.ts'
import { keyChange, newKey } from '#contract/api/requestBodies.ts'
import { MAX_LENGTH } from '#contract/limits.ts'
import { authenticate, hashKey } from '../http/authenticate.ts'
import { readJson } from '../http/jsonBody.ts'
import { hookLost, hookOf, keepHook, keyHookProblem } from '../webhooks/webhookAddress.ts'
import type { AppEnv } from '../http/context.ts'
import type { KeyRow } from '../db/apiKeys.ts'
import { changeKey, findKey, insertKey, listKeys, revokeKey } from '../db/apiKeys.ts'
import { handOverUploads } from '../db/uploads.ts'
import { invalidBody, notFound } from '../http/requestError.ts'
import type { Expectations } from '../http/validationErrors.ts'
import { problemsOf } from '../http/validationErrors.ts'
import { toBase64Url } from '../secrets/hmac.ts'
import { byteBound } from './accountRoutes.ts'

const MAX_BODY = 16 * 1024

type Wish = z.infer<typeof newKey>

const changeable = {
  label: { expects: 'a string of at most 100 characters', maximum: 100 },
  requests_per_minute: {
    expects: 'a whole number from 1 to 1000000, or null for the default',
    minimum: 1,
    maximum: 1_000_000,
  },
  priority: { expects: 'a whole number from -10 to 10', minimum: -10, maximum: 10 },
  max_stored_upload_bytes: { ...byteBound, expects: 'a whole number of bytes, or null for no bound but the account’s' },
  webhook_url: {
    expects: `an http or https address of at most ${MAX_LENGTH.address} characters, or null`,
    hidden: true,
  },
}
const expectations = {
  account: { expects: '1 to 40 lower-case letters, digits and hyphens, not beginning with a hyphen' },
  scopes: { expects: 'a list of at least one of "jobs", "admin"', allowed: ['jobs', 'admin'] },
  ...changeable,
}

const keyId = z.object({ id: z.string().check(z.regex(/^sp_[A-Za-z0-9_-]{12}$/)) })
const named = zValidator('param', keyId, (result) => {
  if (!result.success) throw notFound()
})

export const keys = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post('/', async (c) => {
    const wish = read(c.env, newKey, (await readJson(c, MAX_BODY)).value, expectations)
    return c.json(await issue(c.env, wish), 201)
  })
  .get('/', async (c) => c.json({ keys: (await listKeys(c.env.DB)).map(publicKey) } satisfies KeyList))
  .patch('/:id', named, async (c) => {
    const { env } = c
    const { id, account } = await inUse(env, c.req.valid('param').id)
    const { webhook_url: address, ...wish } = read(env, keyChange, (await readJson(c, MAX_BODY)).value, changeable)
    const hook = address === undefined ? {} : await keepHook(env, account, id, address)
    const row = await changeKey(env.DB, id, { ...wish, ...hook })
    if (!row) throw notFound()
    return c.json(publicKey(row))
  })
  .post('/:id/rotate', named, async (c) => {
    const old = await inUse(c.env, c.req.valid('param').id)
    const { id, account, webhook_url: shown, webhook_sealed: sealed } = old
    const webhook_url = shown === null ? null : await hookOf(c.env, account, { keyId: id, shown, sealed })
    const lost = shown !== null && webhook_url === null
    const made = await issue(c.env, { ...old, scopes: old.scopes.split(',') as Wish['scopes'], webhook_url })
    await c.env.DB.batch([revokeKey(c.env.DB, id, Date.now()), handOverUploads(c.env.DB, id, made.id, account)])
    return c.json({ ...made, warnings: lost ? [hookLost('the new key has none')] : [] }, 201)
  })
  .delete('/:id', named, async (c) => {
    if (!(await revokeKey(c.env.DB, c.req.valid('param').id, Date.now()).first())) throw notFound()
    return c.body(null, 204)
  })

/** @throws RequestError 400 with all problems */
function read<T extends z.ZodMiniType<{ webhook_url?: string | null | undefined }>>(
  env: Env,
  schema: T,
  value: unknown,
  known: Expectations,
): z.output<T> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    throw invalidBody(problemsOf(parsed.error.issues, value, known))
  }
  const problem = keyHookProblem(env, parsed.data.webhook_url ?? null)
  if (problem) throw invalidBody([problem])
  return parsed.data
}

/** @throws RequestError 404 for a key that is not there, or revoked */
async function inUse(env: Env, id: string): Promise<KeyRow> {
  const row = await findKey(env.DB, id)
  if (!row || row.revoked_at !== null) throw notFound()
  return row
}

/** 9 and 32 random bytes. The key is in this answer and nowhere else. */
async function issue(env: Env, wish: Wish) {
  const id = `sp_${toBase64Url(crypto.getRandomValues(new Uint8Array(9)))}`
  const key = `${id}.${toBase64Url(crypto.getRandomValues(new Uint8Array(32)))}`
  const row = {
    id,
    account: wish.account,
    label: wish.label,
    scopes: wish.scopes.join(','),
    hash: await hashKey(env, key),
    created_at: Date.now(),
    requests_per_minute: wish.requests_per_minute,
    priority: wish.priority,
    max_stored_upload_bytes: wish.max_stored_upload_bytes,
    ...(await keepHook(env, wish.account, id, wish.webhook_url)),
  }
  await insertKey(env.DB, row)
  return { ...publicKey({ ...row, last_used_at: null, revoked_at: null }), key }
}

function publicKey(row: KeyRow) {
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
    last_used_at: time(row.last_used_at),
    revoked_at: time(row.revoked_at),
  } satisfies Key
}
