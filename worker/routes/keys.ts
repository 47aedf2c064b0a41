// In charge of: issuing, listing, rotating and revoking API keys (`/api/v0/keys`), for holders of the admin key.
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import { authenticate, hashKey } from '../auth.ts'
import { readJson } from '../body.ts'
import type { AppEnv } from '../http.ts'
import type { KeyRow } from '../ledger/keys.ts'
import { findKey, insertKey, listKeys, revokeKey } from '../ledger/keys.ts'
import { invalidBody, notFound } from '../problems.ts'
import { problemsOf } from '../refusal.ts'
import { toBase64Url } from '../signing.ts'

const MAX_BODY = 16 * 1024
const newKey = z.strictObject({
  account: z._default(z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,39}$/)), 'default'),
  label: z._default(z.string().check(z.maxLength(100)), ''),
  scopes: z._default(z.array(z.enum(['jobs', 'admin'])).check(z.minLength(1)), ['jobs']),
  requests_per_minute: z._default(z.nullable(z.number().check(z.int(), z.gte(1), z.lte(1_000_000))), null),
  priority: z._default(z.number().check(z.int(), z.gte(-10), z.lte(10)), 0),
})

const expectations = {
  account: { expects: '1 to 40 lower-case letters, digits and hyphens, not beginning with a hyphen' },
  label: { expects: 'a text of at most 100 characters', maximum: 100 },
  scopes: { expects: 'a list of at least one of "jobs", "admin"', allowed: ['jobs', 'admin'] },
  requests_per_minute: {
    expects: 'a whole number from 1 to 1000000, or null for the default',
    minimum: 1,
    maximum: 1_000_000,
  },
  priority: { expects: 'a whole number from -10 to 10', minimum: -10, maximum: 10 },
}

const keyId = z.object({ id: z.string().check(z.regex(/^sp_[A-Za-z0-9_-]{12}$/)) })

export const keys = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post('/', async (c) => {
    const { value } = await readJson(c, MAX_BODY)
    const parsed = newKey.safeParse(value)
    if (!parsed.success) {
      throw invalidBody(problemsOf(parsed.error.issues, value, expectations))
    }
    return c.json(await issue(c.env, parsed.data), 201)
  })
  .get('/', async (c) => c.json({ keys: (await listKeys(c.env.DB)).map(publicKey) }))
  .post(
    '/:id/rotate',
    zValidator('param', keyId, (result) => {
      if (!result.success) throw notFound()
    }),
    async (c) => {
      const { id } = c.req.valid('param')
      const old = await findKey(c.env.DB, id)
      if (!old || old.revoked_at !== null) throw notFound()
      const made = await issue(c.env, { ...old, scopes: old.scopes.split(',') })
      await revokeKey(c.env.DB, id, Date.now())
      return c.json(made, 201)
    },
  )
  .delete(
    '/:id',
    zValidator('param', keyId, (result) => {
      if (!result.success) throw notFound()
    }),
    async (c) => {
      if (!(await revokeKey(c.env.DB, c.req.valid('param').id, Date.now()))) throw notFound()
      return c.body(null, 204)
    },
  )

/** 9 and 32 random bytes. The key is in this answer and nowhere else. */
async function issue(
  env: Env,
  wish: { account: string; label: string; scopes: string[]; requests_per_minute: number | null; priority: number },
) {
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
    scopes: row.scopes.split(','),
    requests_per_minute: row.requests_per_minute,
    priority: row.priority,
    created_at: time(row.created_at),
    last_used_at: time(row.last_used_at),
    revoked_at: time(row.revoked_at),
  }
}
