// In charge of: an account's webhooks: its secret (shown once), the deliveries of a job, and repeating one.
// Not in charge of: sending (webhookDelivery.ts).
import { Hono, type Context } from 'hono'
import type { NewWebhookSecret, WebhookSecret } from '#contract/api/administration.ts'
import type { Delivery, DeliveryList } from '#contract/api/answers.ts'
import { authenticate } from '../http/authenticate.ts'
import { webhookScheduler } from '../scheduler/applyEvent.ts'
import type { AppEnv } from '../http/context.ts'
import { findAccount, rotateWebhookSecret } from '../db/accounts.ts'
import type { Job } from '../db/jobs.ts'
import { listWebhooks, replayWebhook, type WebhookRow } from '../db/webhooks.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { webhookAddress, SECRET_OVERLAP_MS, webhookSecret } from './webhookDelivery.ts'

const time = (at: number): string => new Date(at).toISOString()

export const webhookRoutes = new Hono<AppEnv>()
  .use(authenticate('jobs'))
  .get('/secret', async (c) => {
    const owner = await findAccount(c.env.DB, c.get('account'))
    return c.json(secretFacts(owner.webhook_rotated_at))
  })
  // Creates the first secret too. This answer is the only one that contains it.
  .post('/secret/rotate', async (c) => {
    const now = Date.now()
    const generation = await rotateWebhookSecret(c.env.DB, c.get('account'), now)
    const secret = await webhookSecret(c.env, c.get('account'), generation)
    return c.json({ secret, ...secretFacts(now) } satisfies NewWebhookSecret, 201)
  })

function secretFacts(rotatedAt: number | null): WebhookSecret {
  return {
    rotated_at: rotatedAt === null ? null : time(rotatedAt),
    previous_valid_until: rotatedAt === null ? null : time(rotatedAt + SECRET_OVERLAP_MS),
  }
}

export async function listDeliveries(c: Context<AppEnv>, job: Job): Promise<Response> {
  const deliveries = (await listWebhooks(c.env.DB, job.id)).map(publicDelivery)
  return c.json({ deliveries } satisfies DeliveryList)
}

export async function replayDelivery(c: Context<AppEnv>, job: Job): Promise<Response> {
  const id = c.req.param('webhook') ?? ''
  if (!(await listWebhooks(c.env.DB, job.id)).some((row) => row.id === id)) throw notFound()
  try {
    await webhookAddress(c.env, job)
  } catch (error) {
    throw new RequestError('credentials_expired', error instanceof Error ? error.message : '', { field: 'webhook_url' })
  }
  if (!(await replayWebhook(c.env.DB, job.id, id, Date.now()))) throw notFound()
  await webhookScheduler(c.env, job.job_id).schedule(job.job_id)
  const row = (await listWebhooks(c.env.DB, job.id)).find((each) => each.id === id)
  return c.json(row ? publicDelivery(row) : {}, 202)
}

function publicDelivery(row: WebhookRow): Delivery {
  return {
    id: row.id,
    event: row.event,
    state: row.state,
    tries: row.tries,
    created_at: time(row.created_at),
    next_try_at: row.state === 'pending' ? time(row.next_at) : null,
    attempts: row.log.map((each) => ({ ...each, at: time(each.at) })),
  }
}
