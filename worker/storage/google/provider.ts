// In charge of: opening Google Cloud Storage for a job.
// Not in charge of: the requests (gcsStore.ts), tokens (accessToken.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { GoogleAddress } from '#contract/job/stores/gcloud.ts'
import { openGoogleKey } from '#contract/job/stores/gcloudCredentials.ts'
import { cacheControlOf } from '../cacheControl.ts'
import { requireKey, requireRoot, type StoreProvider } from '../provider.ts'
import type { S3Store } from '../s3/s3Client.ts'
import { s3Sink } from '../s3/s3Sink.ts'
import { s3Source } from '../s3/s3Source.ts'
import { storeTransport } from '../guardedFetch.ts'
import { gcsStore } from './gcsStore.ts'

export const googleProvider: StoreProvider<GoogleAddress> = {
  openSource: (env, { address, credentials }) => s3Source(storeOf(env, address, credentials), address.key),
  openSink(env, request) {
    const { address } = requireRoot(request, 'gcloud')
    return s3Sink(storeOf(env, address, request.credentials), '', cacheControlOf(request.cacheControl, false))
  },
}

function storeOf(env: Env, { bucket }: GoogleAddress, credentials: Partial<Credentials>): S3Store {
  return gcsStore(bucket, requireKey(openGoogleKey(credentials), 'gcloud'), storeTransport(env, 'gcloud'))
}
