// In charge of: opening Oracle's Object Storage for a job: through its S3 API with an access key, else through its
// native API.
// Not in charge of: the requests of either (ociS3Store.ts, ociClient.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { OracleAddress } from '#contract/job/stores/oracle.ts'
import { openOracleKey } from '#contract/job/stores/oracleCredentials.ts'
import { cacheControlOf } from '../cacheControl.ts'
import { requireKey, noKey, requireRoot, type StoreProvider } from '../provider.ts'
import { s3Sink } from '../s3/s3Sink.ts'
import { s3Source } from '../s3/s3Source.ts'
import { storeTransport } from '../guardedFetch.ts'
import type { OciBucketAddress } from './ociAddress.ts'
import { ociSigner } from './ociSignature.ts'
import { ociSink } from './ociSink.ts'
import { ociSource } from './ociSource.ts'
import { ociS3Store } from './ociS3Store.ts'

export const oracleProvider: StoreProvider<OracleAddress> = {
  openSource(env, { address, credentials }) {
    const { place: bucketAddress, key } = accessOf(address, credentials)
    const transport = storeTransport(env, 'oracle')
    return key.kind === 'pair'
      ? s3Source(ociS3Store(bucketAddress, key, transport), address.key)
      : ociSource({ bucketAddress, sign: ociSigner(key), transport }, address.key)
  },
  openSink(env, request) {
    const { place: bucketAddress, key } = accessOf(requireRoot(request, 'oracle').address, request.credentials)
    const transport = storeTransport(env, 'oracle')
    const caching = cacheControlOf(request.cacheControl, false)
    return key.kind === 'pair'
      ? s3Sink(ociS3Store(bucketAddress, key, transport), '', caching)
      : ociSink({ bucketAddress, sign: ociSigner(key), transport }, '', caching)
  },
}

function accessOf({ namespace, bucket }: OracleAddress, credentials: Partial<Credentials>) {
  const key = requireKey(openOracleKey(credentials), 'oracle')
  const { region } = credentials
  if (!region) throw noKey('oracle')
  return { place: { namespace, bucket, region } satisfies OciBucketAddress, key }
}
