// In charge of: reserving space for an upload within the limits of its account, key and token.
// Not in charge of: its bytes (uploadRoutes.ts, tus/), its removal (reconciler.ts).
import type { Context } from 'hono'
import { settings } from '../env.ts'
import type { AppEnv } from '../http/context.ts'
import { findUploadToken } from '../db/uploadTokens.ts'
import { sumStoredBytes, insertUpload, type NewUpload } from '../db/uploads.ts'
import { RequestError, expiredToken } from '../http/requestError.ts'

/** @throws RequestError 413 for a file that is larger than the upload token allows */
export function requireWithinTokenLimit(c: Context<AppEnv>, bytes: number, field?: string): void {
  const token = c.get('uploadToken')
  if (!token || bytes <= token.max_bytes) return
  const message = `This upload token allows files of at most ${token.max_bytes} bytes; this one has ${bytes}.`
  throw new RequestError('too_large', message, {
    ...(field === undefined ? {} : { field }),
    details: { maximum: token.max_bytes },
  })
}

/**
 * @returns the number of the upload
 * @throws RequestError 401 for a key that was just revoked; 429 quota_exceeded, without Retry-After, because only a
 * deletion or an expiry frees space
 */
export async function reserveUpload(
  c: Context<AppEnv>,
  upload: Omit<NewUpload, 'account' | 'keyId' | 'maxStored' | 'token'>,
): Promise<number> {
  const owner = {
    account: c.get('account'),
    keyId: c.get('keyId'),
    maxStored: settings(c.env).maxStoredUploadBytes,
    token: c.get('uploadToken')?.id ?? null,
  }
  const number = await insertUpload(c.env.DB, { ...upload, ...owner })
  if (number !== null) return number
  if (owner.token !== null) await rejectExhaustedToken(c.env, owner.token)
  const stored = await sumStoredBytes(c.env.DB, owner)
  if (stored.key_revoked !== null) throw new RequestError('unauthorized', 'This API key was revoked.')
  const ofKey = stored.key_maximum !== null && stored.key + upload.announcedBytes > stored.key_maximum
  const [scope, bytes, maximum] = ofKey
    ? (['key', stored.key, stored.key_maximum] as const)
    : (['account', stored.account, stored.account_maximum] as const)
  throw new RequestError(
    'quota_exceeded',
    `The uploads of this ${scope} use ${bytes} of at most ${maximum} bytes, and this one has ${upload.announcedBytes}. Delete uploads that are no longer needed, including unfinished ones (DELETE /uploads/<n>; GET /uploads lists them), or wait until they expire.`,
    { details: { scope, stored_bytes: bytes, maximum, announced_bytes: upload.announcedBytes } },
  )
}

/** @throws RequestError 401 for a token that has just expired or been revoked; 429 for one without files left */
async function rejectExhaustedToken(env: Env, id: string): Promise<void> {
  const now = Date.now()
  const token = await findUploadToken(env.DB, id, now)
  if (!token || token.expires_at <= now) throw expiredToken()
  if (token.files < token.max_files) return
  const { max_files: maximum } = token
  const files = maximum === 1 ? 'one file, which was already sent' : `${maximum} files, all of which were already sent`
  throw new RequestError('quota_exceeded', `This upload token is for ${files}. Request a new token.`, {
    details: { scope: 'token', files: token.files, maximum },
  })
}
