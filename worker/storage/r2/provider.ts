// In charge of: opening the service's own R2 bucket for a job: outputs of earlier jobs, uploaded files, and its own
// outputs.
// Not in charge of: requests to R2 (r2Store.ts), who may upload (uploads/authenticateUpload.ts).
import type { UploadAddress } from '#contract/job/stores/fileUpload.ts'
import type { OwnAddress } from '#contract/job/stores/vendorStore.ts'
import { cacheControlOf } from '../cacheControl.ts'
import { findUpload } from '../../db/uploads.ts'
import { keyBelow, ownPrefix } from '../keyBelow.ts'
import type { StoreProvider } from '../provider.ts'
import { StoreError } from '../objectStore.ts'
import { r2Sink, r2Source } from './r2Store.ts'

export const ownProvider: StoreProvider<OwnAddress> = {
  openSource(env, { account, address }) {
    const owner = address.account ?? account
    // Another account's object looks like a missing one (I16).
    const prefix = owner === account ? ownPrefix(account, address.jobId) : 'none/'
    return r2Source(env.BUCKET, keyBelow(prefix, address.path, 'vendor-store', 'open'))
  },
  openSink: (env, { account, jobId, cacheControl }) =>
    r2Sink(env.BUCKET, ownPrefix(account, jobId), cacheControlOf(cacheControl, true)),
}

export const uploadProvider: StoreProvider<UploadAddress> = {
  /** The same error for an upload that is missing, unfinished, expired or another account's (I16). */
  async openSource(env, { account, address: { number } }) {
    const upload = await findUpload(env.DB, account, number, Date.now())
    if (!upload) throw new StoreError('not_found', 'file-upload', 'open', `There is no uploaded file ${number}.`)
    return r2Source(env.BUCKET, upload.key)
  },
  openSink: null,
}
