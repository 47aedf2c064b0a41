// In charge of: `POST /api/v0/vault/rotate`: moves sealed credentials to the newest key of VAULT_KEYS, one batch per
// request.
// Not in charge of: how (resealSecrets.ts).
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import * as z from 'zod/mini'
import { authenticate } from '../http/authenticate.ts'
import type { AppEnv } from '../http/context.ts'
import { onInvalidQuery } from '../http/validationErrors.ts'
import { resealSecrets } from './resealSecrets.ts'

/** Two D1 statements and some cryptography per entry: well within the limits of one request. */
const BATCH = 100

const query = z.strictObject({
  after: z._default(z.coerce.number().check(z.int(), z.gte(0)), 0),
  after_key: z._default(z.string().check(z.regex(/^(sp_[A-Za-z0-9_-]{12})?$/)), ''),
})
const refuse = onInvalidQuery({
  after: { expects: 'the next of the last answer, or be left out' },
  after_key: { expects: 'the next_key of the last answer, or be left out' },
})

export const vaultRoutes = new Hono<AppEnv>()
  .use(authenticate('admin'))
  .post('/rotate', zValidator('query', query, refuse), async (c) => {
    const { after: job, after_key: key } = c.req.valid('query')
    return c.json(await resealSecrets(c.env, { job, key }, BATCH))
  })
