// In charge of: the bodies of requests other than job creation: each member, and its default.
// Not in charge of: job bodies (fields/), preset bodies (validatePreset.ts), error messages
// (worker/http/validationErrors.ts).
import * as z from 'zod/mini'
import { _default as withDefault } from 'zod/mini'
import { isCleanText } from '../job/paths/inputAddress.ts'
import { isMoney } from '../usage/priceList.ts'
import {
  CAPTIONS,
  INPUTS,
  KEY_SECONDS,
  MAX_LENGTH,
  MAX_RESUMABLE_BYTES,
  MAX_SPEND_CAP,
  SHARE_PASSWORD_LENGTH,
  SHARE_SECONDS,
  SHARE_TITLE_LENGTH,
  UPLOAD_TOKENS,
} from '../limits.ts'

const wholeFrom = ({ minimum, maximum }: { minimum: number; maximum: number }) =>
  z.number().check(z.int(), z.gte(minimum), z.lte(maximum))

/** A quota of stored uploads; 0 = uploads are not allowed. */
const bytes = z.nullable(z.number().check(z.int(), z.gte(0)))

const label = z.string().check(z.maxLength(100))
const perMinute = z.nullable(wholeFrom({ minimum: 1, maximum: 1_000_000 }))
const priority = wholeFrom({ minimum: -10, maximum: 10 })
const webhook = z.nullable(z.string().check(z.minLength(1), z.maxLength(MAX_LENGTH.address)))

export const newKey = z.strictObject({
  account: withDefault(z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{0,39}$/)), 'default'),
  label: withDefault(label, ''),
  scopes: withDefault(z.array(z.enum(['jobs', 'admin'])).check(z.minLength(1)), ['jobs']),
  requests_per_minute: withDefault(perMinute, null),
  priority: withDefault(priority, 0),
  max_stored_upload_bytes: withDefault(bytes, null),
  webhook_url: withDefault(webhook, null),
  expires_in_seconds: withDefault(z.nullable(wholeFrom(KEY_SECONDS)), null),
})

/** Account, scopes and expiry cannot be changed: that would make it a different key. */
export const keyChange = z.strictObject({
  label: z.optional(label),
  requests_per_minute: z.optional(perMinute),
  priority: z.optional(priority),
  max_stored_upload_bytes: z.optional(bytes),
  webhook_url: z.optional(webhook),
})

/** Null = the deployment's default. */
const jobs = withDefault(z.nullable(wholeFrom({ minimum: 0, maximum: 1_000_000 })), null)

export const quotas = z.strictObject({
  max_active_jobs: jobs,
  max_running: jobs,
  max_stored_upload_bytes: withDefault(bytes, null),
  weight: withDefault(z.number().check(z.gte(0.01), z.lte(100)), 1),
})

export const spendCap = z.strictObject({
  /** Per calendar month in UTC, in the currency of USAGE_PRICES. */
  spend_cap: z.nullable(z.number().check(z.refine((amount) => isMoney(amount, MAX_SPEND_CAP)))),
  spend_webhook_url: withDefault(webhook, null),
})

const sharePassword = z
  .string()
  .check(z.minLength(SHARE_PASSWORD_LENGTH.minimum), z.maxLength(SHARE_PASSWORD_LENGTH.maximum))

export const newShare = z.strictObject({
  title: z.optional(
    z.pipe(
      z.string().check(z.trim(), z.minLength(1), z.maxLength(SHARE_TITLE_LENGTH)),
      z.string().check(z.refine((text) => isCleanText(text))),
    ),
  ),
  expires_in_seconds: withDefault(wholeFrom(SHARE_SECONDS), SHARE_SECONDS.maximum),
  password: withDefault(z.nullable(sharePassword), null),
})

/** What a viewer of a share with a password sends. */
export const openedShare = z.strictObject({ password: z.string().check(z.maxLength(SHARE_PASSWORD_LENGTH.maximum)) })

export const newUploadToken = z.strictObject({
  max_bytes: withDefault(wholeFrom({ minimum: 1, maximum: MAX_RESUMABLE_BYTES }), MAX_RESUMABLE_BYTES),
  max_files: withDefault(wholeFrom(UPLOAD_TOKENS.max_files), UPLOAD_TOKENS.max_files.default),
  expires_in_seconds: withDefault(
    wholeFrom(UPLOAD_TOKENS.expires_in_seconds),
    UPLOAD_TOKENS.expires_in_seconds.default,
  ),
  name: withDefault(z.string().check(z.regex(new RegExp(`^${UPLOAD_TOKENS.name_pattern}$`, 'u'))), ''),
})

const address = z.optional(z.nullable(z.string()))

/**
 * Secrets that the service does not store in clear can be sent again. Everything else is taken from the earlier job.
 */
export const retry = z.strictObject({
  cloud_credentials: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  input: address,
  /** As many as the job has; null keeps an address. */
  inputs: z.optional(
    z.nullable(z.array(z.nullable(z.strictObject({ input: address }))).check(z.maxLength(INPUTS.maximum))),
  ),
  logo_url: address,
  webhook_url: address,
  captions: z.optional(z.nullable(z.array(z.record(z.string(), z.unknown())).check(z.maxLength(CAPTIONS.maximum)))),
})
