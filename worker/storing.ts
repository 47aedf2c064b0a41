// In charge of: whether one more upload may be stored: its row, or what is in its way.
// Not in charge of: its bytes (routes/uploads.ts, tus/), when it is removed (sweep.ts).
import type { Context } from 'hono'
import { settings } from './env.ts'
import type { AppEnv } from './http.ts'
import type { NewUpload } from './ledger/uploads.ts'
import { findStoredBytes, insertUpload } from './ledger/uploads.ts'
import { RequestError } from './problems.ts'

/**
 * @returns the number of the upload
 * @throws RequestError 401 for a key that was revoked a moment ago; 429 quota_exceeded, without Retry-After, since what makes room is a deletion or an expiry
 */
export async function beginUpload(
  c: Context<AppEnv>,
  upload: Omit<NewUpload, 'account' | 'keyId' | 'maxStored'>,
): Promise<number> {
  const who = {
    account: c.get('account'),
    keyId: c.get('keyId'),
    maxStored: settings(c.env).maxStoredUploadBytes,
  }
  const number = await insertUpload(c.env.DB, { ...upload, ...who })
  if (number !== null) return number
  const stored = await findStoredBytes(c.env.DB, who)
  if (stored.key_revoked !== null) throw new RequestError('unauthorized', 'This API key was revoked.')
  const ofKey = stored.key_maximum !== null && stored.key + upload.announced > stored.key_maximum
  const [scope, bytes, maximum] = ofKey
    ? (['key', stored.key, stored.key_maximum] as const)
    : (['account', stored.account, stored.account_maximum] as const)
  throw new RequestError(
    'quota_exceeded',
    `The uploads of this ${scope} take ${bytes} of at most ${maximum} bytes, and this one has ${upload.announced}. Delete some that are no longer needed, unfinished ones too (DELETE /uploads/<n>; GET /uploads lists them), or wait until they expire.`,
    { details: { scope, stored_bytes: bytes, maximum, announced_bytes: upload.announced } },
  )
}
