// In charge of: deleting an upload before its time, of either kind: whole, on its way, or begun and left.
// Not in charge of: those whose time is over (reconciler.ts, tus/resumableUpload.ts).
import { deleteUpload, findAnyUpload } from '../db/uploads.ts'
import { resumableUpload } from './tus/resumableUpload.ts'

/** @returns false where that account has none of this number, or its time is over */
export async function deleteUploadByNumber(env: Env, account: string, number: number): Promise<boolean> {
  const row = await findAnyUpload(env.DB, account, number)
  if (!row || row.expires_at <= Date.now()) return false
  // A resumable one has more than its object, and somebody may be writing to it.
  await resumableUpload(env, number).terminate(account)
  // The object first: while the row is there, the sweep finds what could not be removed now. A request that is still bringing
  // the file finds its row gone, and removes what it stored.
  await env.BUCKET.delete(row.key)
  await deleteUpload(env.DB, account, number)
  return true
}
