// In charge of: shares of a job: their tokens, how long they live, and what one in force lets its holder read.
// Not in charge of: routes (shareRoutes.ts, sharedPageRoutes.ts), rows (db/shares.ts), the shape (contract/api/sharedMedia.ts).
import type { SharedMedia } from '#contract/api/answers.ts'
import { sharedMedia } from '#contract/api/sharedMedia.ts'
import type { Job } from '../db/jobs.ts'
import type { ShareRow } from '../db/shares.ts'
import { findShared } from '../db/shares.ts'
import { sign, toBase64Url, verify } from '../secrets/hmac.ts'
import { statusOf } from '../jobs/jobStatus.ts'

/**
 * Addresses of media carry no share, so that a segment costs no look into the ledger: they outlive a revoked share, for so
 * long at most. A viewer who watches for longer is given new ones (web/src/share/).
 */
const ADDRESS_MS = 12 * 3600_000
/** Addresses of one hour are the same for all viewers. */
const ROUND_MS = 3600_000

export function newShareId(): string {
  return `sh_${toBase64Url(crypto.getRandomValues(new Uint8Array(12)))}`
}

/** `<share id>.<signature>`: what was not signed here never reaches the ledger. */
export async function shareToken(env: Env, id: string): Promise<string> {
  return `${id}.${await sign(env, 'share', id)}`
}

export interface Shared {
  share: ShareRow
  job: Job
}

/** Null for whatever is no share in force: forged, unknown, expired, revoked, or of a job that is gone. */
export async function sharedBy(env: Env, token: string): Promise<Shared | null> {
  const [, id, signature] = /^(sh_[\w-]{16})\.([\w-]{43})$/.exec(token) ?? []
  if (!id || !signature || !(await verify(env, 'share', id, signature))) return null
  return findShared(env.DB, id, Date.now())
}

export async function mediaOf(env: Env, { share, job }: Shared, base: string): Promise<SharedMedia> {
  const rounded = Math.ceil((Date.now() + ADDRESS_MS) / ROUND_MS) * ROUND_MS
  const until = Math.min(rounded, share.expires_at)
  const status = await statusOf(env, job, base, { until, isShared: true })
  return sharedMedia(status, {
    title: share.title,
    expires_at: new Date(share.expires_at).toISOString(),
    addresses_expire_at: new Date(until).toISOString(),
  })
}
