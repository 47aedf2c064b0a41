// In charge of: opening Google Cloud Storage for a job.
// Not in charge of: its requests (gcsStore.ts), tokens (accessToken.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { GoogleAddress } from '#contract/job/stores/gcloud.ts'
import { readGoogleKey } from '#contract/job/stores/gcloudCredentials.ts'
import { cachingOf } from '../cacheControl.ts'
import type { StoreProvider } from '../provider.ts'
import { keyOf, requireRoot } from '../provider.ts'
import type { XmlStore } from '../s3/s3Client.ts'
import { xmlSink } from '../s3/s3Sink.ts'
import { xmlSource } from '../s3/s3Source.ts'
import { storeTransport } from '../guardedFetch.ts'
import { googleStore } from './gcsStore.ts'

export const googleProvider: StoreProvider<GoogleAddress> = {
  openSource: (env, { address, credentials }) => xmlSource(storeOf(env, address, credentials), address.key),
  openSink(env, request) {
    const { address } = requireRoot(request, 'gcloud')
    return xmlSink(storeOf(env, address, request.credentials), '', cachingOf(request.cacheControl, false))
  },
}

function storeOf(env: Env, { bucket }: GoogleAddress, credentials: Partial<Credentials>): XmlStore {
  return googleStore(bucket, keyOf(readGoogleKey(credentials), 'gcloud'), storeTransport(env, 'gcloud'))
}
