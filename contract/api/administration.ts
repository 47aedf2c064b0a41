// In charge of: the schemas of answers about the service itself: keys, accounts, secrets, the vault, its health.
// Not in charge of: limits (limits.ts), the diagnosis (diagnosis.ts). The service imports only the types.
import * as z from 'zod'
import { warning } from '../errors.ts'
import { count, id, time } from '../schemaParts.ts'

export const key = z.object({
  id: z.string(),
  account: z.string(),
  label: z.string(),
  scopes: z.array(z.enum(['jobs', 'admin'])),
  requests_per_minute: z.int().nullable().describe('null = the default of the service.'),
  priority: z.int().min(-10).max(10).describe('Higher starts first.'),
  max_stored_upload_bytes: count.nullable().describe('null = no limit except the account’s.'),
  webhook_url: z.string().nullable().describe('For jobs without a webhook_url; shown without its query.'),
  created_at: time,
  expires_at: time.nullable().describe('null = never.'),
  last_used_at: time.nullable(),
  revoked_at: time.nullable(),
})
export type Key = z.infer<typeof key>

/** The properties of a key that can be changed after it was issued. */
export type KeyTerms = Pick<
  Key,
  'label' | 'requests_per_minute' | 'priority' | 'max_stored_upload_bytes' | 'webhook_url'
>

export const keyList = z.object({ keys: z.array(key) })
export type KeyList = z.infer<typeof keyList>

export const issuedKey = key.extend({ key: z.string().describe('Returned only once, in this answer.') })
export type IssuedKey = z.infer<typeof issuedKey>

export const replacedKey = issuedKey.extend({
  warnings: z.array(warning).describe('Settings of the old key that the new key does not have.'),
})
export type ReplacedKey = z.infer<typeof replacedKey>

/** Where the account has no value of its own, the service's default is shown. */
export const account = z.object({
  account: z.string(),
  max_active_jobs: count,
  max_running: count.nullable().describe('null = no limit of its own.'),
  max_stored_upload_bytes: count.nullable().describe('null = no limit.'),
  weight: z
    .number()
    .min(0.01)
    .max(100)
    .describe('Its share of the transcoders while jobs of several accounts are waiting.'),
  spend_cap: z
    .number()
    .nullable()
    .describe('Per calendar month in UTC, in the currency of the price list; null = none.'),
  spend_webhook_url: z.string().nullable().describe('Notified at 80 % and 100 % of the spend cap.'),
})
export type Account = z.infer<typeof account>

export const accountList = z.object({ accounts: z.array(account) })
export type AccountList = z.infer<typeof accountList>

const transcoder = z.object({
  id: z.string(),
  slot: count,
  url: z.string().describe('Where the service reaches it.'),
  state: z
    .enum(['ready', 'draining', 'lost', 'unreachable', 'incompatible'])
    .describe(
      'ready = it can be given jobs, or has one. lost = it has not registered for 30 s. incompatible = another protocol.',
    ),
  problem: z.string().nullable().describe('Why it is given no job.'),
  version: z.string(),
  protocol: count,
  ffmpeg: z.string().nullable(),
  registered_at: time.describe('When this process registered for the first time.'),
  seen_at: time,
  job: id.nullable().describe('The job that it has.'),
})

export const transcoderList = z.object({
  transcoders: z.array(transcoder),
  protocol: count.describe('The protocol that the service needs.'),
})
export type TranscoderList = z.infer<typeof transcoderList>

/** When the secret that signs webhooks was created. */
export const webhookSecret = z.object({ rotated_at: time.nullable(), previous_valid_until: time.nullable() })
export type WebhookSecret = z.infer<typeof webhookSecret>

export const newWebhookSecret = z.object({
  secret: z.string().describe('Returned only once, in this answer.'),
  ...webhookSecret.shape,
})
export type NewWebhookSecret = z.infer<typeof newWebhookSecret>

/** Progress of one batch that encrypts secrets again with the newest key of the vault. */
export const vaultRotation = z.object({
  key_id: z.string().describe('The key that encrypts new data.'),
  resealed: count,
  done: z.boolean().describe('True when nothing after `next` and `next_key` is encrypted with another key.'),
  unreadable: z.array(id).describe('Jobs whose key is no longer in the vault.'),
  unreadable_keys: z
    .array(z.string())
    .describe('API keys whose webhook_url was encrypted with a key that is no longer in the vault.'),
  next: count.describe('`after` for the next call.'),
  next_key: z.string().describe('`after_key` for the next call.'),
})
export type VaultRotation = z.infer<typeof vaultRotation>

export const health = z.object({
  status: z.enum(['ok', 'degraded', 'not_ready']),
  missing: z.array(z.string()),
  version: z.string(),
  commit: z.string().nullable().describe('The commit that was deployed; null = unknown.'),
  slots: count,
  starts_failing: count.describe('Waiting jobs whose start has failed three or more times in a row.'),
  transcoders_silent: count.describe(
    'How many of TRANSCODER_URLS do not answer, or how many of the registered ones are lost, unreachable or incompatible; 0 with containers, which start when they are needed.',
  ),
  transcoders: z
    .enum(['local', 'registered', 'containers'])
    .describe('local = those of TRANSCODER_URLS; registered = those that registered themselves.'),
  egress: z.string(),
})
export type Health = z.infer<typeof health>
