// In charge of: `POST /api/v0/vault/rotate`: an admin moves sealed credentials to the newest key of VAULT_KEYS, batch by batch.
// Not in charge of: how (rotation.ts).
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import { authenticate } from '../auth.ts'
import type { AppEnv } from '../http.ts'
import { refuseQuery } from '../refusal.ts'
import { reseal } from '../rotation.ts'

/** Two D1 statements and some cryptography each: well within one request. */
const BATCH = 100

const query = z.strictObject({ after: z._default(z.coerce.number().check(z.int(), z.gte(0)), 0) })

export const vault = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post(
    '/rotate',
    zValidator('query', query, refuseQuery({ after: { expects: 'the next of the last answer, or be left out' } })),
    async (c) => c.json(await reseal(c.env, c.req.valid('query').after, BATCH)),
  )
