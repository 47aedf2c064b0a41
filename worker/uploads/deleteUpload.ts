// In charge of: deleting an upload before it expires: complete, in progress, or abandoned.
// Not in charge of: expired uploads (reconciler.ts, tus/resumableUpload.ts).
import { deleteUpload, findAnyUpload } from '../db/uploads.ts'
import { resumableUpload } from './tus/resumableUpload.ts'

/** @returns false if the account has no upload with this number, or it has expired */
export async function deleteUploadByNumber(env: Env, account: string, number: number): Promise<boolean> {
  const row = await findAnyUpload(env.DB, account, number)
  if (!row || row.expires_at <= Date.now()) return false
  // A resumable upload has more than its object, and a request may be writing to it.
  await resumableUpload(env, number).terminate(account)
  // The object is deleted first: as long as the row exists, the reconciler finds what could not be deleted now. A
  // request that is still receiving the file finds the row missing and deletes its object.
  await env.BUCKET.delete(row.key)
  await deleteUpload(env.DB, account, number)
  return true
}
