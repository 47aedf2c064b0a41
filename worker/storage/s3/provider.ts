// In charge of: opening Amazon S3 for a job, or with `endpoint` another S3-compatible store.
// Not in charge of: requests (s3Client.ts), addresses of buckets (bucketAddress.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { S3Address } from '#contract/job/stores/aws.ts'
import { cacheControlOf } from '../cacheControl.ts'
import { requireRoot, type StoreProvider } from '../provider.ts'
import { storeTransport } from '../guardedFetch.ts'
import type { S3Store } from './s3Client.ts'
import { s3BucketAddress } from './bucketAddress.ts'
import { sigV4Presigner, sigV4Signer } from './sigV4.ts'
import { s3Sink } from './s3Sink.ts'
import { s3Source } from './s3Source.ts'

export const s3Provider: StoreProvider<S3Address> = {
  openSource: (env, { address, credentials }) => s3Source(storeOf(env, address, credentials), address.key),
  openSink(env, request) {
    const { address } = requireRoot(request, 'aws')
    return s3Sink(storeOf(env, address, request.credentials), '', cacheControlOf(request.cacheControl, false))
  },
}

function storeOf(env: Env, { bucket }: S3Address, credentials: Partial<Credentials>): S3Store {
  // An empty field counts as missing.
  const access = {
    accessKey: credentials.access_key || '',
    secretKey: credentials.secret_key || '',
    sessionToken: credentials.session_token || null,
  }
  const bucketAddress = s3BucketAddress(bucket, credentials.region || null, credentials.endpoint || null)
  return {
    provider: 'aws',
    bucketAddress,
    sign: sigV4Signer(access, bucketAddress.region),
    presign: sigV4Presigner(access, bucketAddress.region),
    transport: storeTransport(env, 'aws'),
    supportsDeleteObjects: true,
  }
}
