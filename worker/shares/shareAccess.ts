// In charge of: tokens of shares, their lifetimes, and what a valid share lets its holder read.
// Not in charge of: routes (shareRoutes.ts, sharedPageRoutes.ts), rows (db/shares.ts), the format
// (contract/api/sharedMedia.ts).
import type { SharedMedia } from '#contract/api/answers.ts'
import { sharedMedia } from '#contract/api/sharedMedia.ts'
import type { Job } from '../db/jobs.ts'
import { findSharedJobRow, type ShareRow } from '../db/shares.ts'
import { hmacSign, hmacVerify } from '../secrets/hmac.ts'
import { buildStatus } from '../jobs/jobStatus.ts'
import { randomName, toBase64Url } from '../util/encoding.ts'

/**
 * Addresses of media do not name the share, so that a segment needs no database query. They stay valid after the share
 * is revoked, for at most this long. A viewer who watches for longer gets new ones (web/src/share/).
 */
const MEDIA_URL_TTL_MS = 12 * 3600_000
/** Addresses made within one hour are the same for all viewers. */
const EXPIRY_ROUNDING_MS = 3600_000

export function newShareId(): string {
  return `sh_${randomName(12)}`
}

/** `<share id>.<signature>`: a token with a wrong signature is refused without a database query. */
export async function createShareToken(env: Env, id: string): Promise<string> {
  return `${id}.${await hmacSign(env, 'share', id)}`
}

/** workerd's maximum for PBKDF2. */
const ITERATIONS = 100_000

/** PBKDF2 with SHA-256, salted with the share's id. */
export async function hashSharePassword(id: string, password: string): Promise<string> {
  const utf8 = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', utf8.encode(password.normalize('NFC')), 'PBKDF2', false, [
    'deriveBits',
  ])
  const terms = { name: 'PBKDF2', hash: 'SHA-256', salt: utf8.encode(id), iterations: ITERATIONS }
  return toBase64Url(await crypto.subtle.deriveBits(terms, key, 256))
}

export async function isSharePassword(
  env: Env,
  { id, password_hash: hash }: ShareRow,
  password: string,
): Promise<boolean> {
  // Both sides are signed, so the duration of the comparison reveals nothing.
  const signed = await hmacSign(env, 'share-password', await hashSharePassword(id, password))
  return hmacVerify(env, 'share-password', hash ?? '', signed)
}

export interface SharedJob {
  share: ShareRow
  job: Job
}

/** Null for a share that is forged, unknown, expired or revoked, or whose job is deleted. */
export async function findSharedJob(env: Env, token: string): Promise<SharedJob | null> {
  const [, id, signature] = /^(sh_[\w-]{16})\.([\w-]{43})$/.exec(token) ?? []
  if (!id || !signature || !(await hmacVerify(env, 'share', id, signature))) return null
  return findSharedJobRow(env.DB, id, Date.now())
}

export async function sharedMediaOf(env: Env, { share, job }: SharedJob, base: string): Promise<SharedMedia> {
  const rounded = Math.ceil((Date.now() + MEDIA_URL_TTL_MS) / EXPIRY_ROUNDING_MS) * EXPIRY_ROUNDING_MS
  const until = Math.min(rounded, share.expires_at)
  const status = await buildStatus(env, job, base, { expiresAtMs: until, isShared: true })
  return sharedMedia(status, {
    title: share.title,
    expires_at: new Date(share.expires_at).toISOString(),
    addresses_expire_at: new Date(until).toISOString(),
  })
}
