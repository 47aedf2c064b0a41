// In charge of: opening Oracle's Object Storage for a job: through its S3 API with an access key, else through its
// native API.
// Not in charge of: the requests of either (ociClient.ts, s3/).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { OracleAddress } from '#contract/job/stores/oracle.ts'
import { openOracleKey } from '#contract/job/stores/oracleCredentials.ts'
import { cacheControlOf } from '../cacheControl.ts'
import { requireKey, noKey, requireRoot, type StoreProvider } from '../provider.ts'
import { s3Sink } from '../s3/s3Sink.ts'
import { s3Source } from '../s3/s3Source.ts'
import { storeTransport, type FetchFunction } from '../guardedFetch.ts'
import { type OciBucketAddress, ociS3Endpoint, ociBucketName } from './ociAddress.ts'
import { ociSigner } from './ociSignature.ts'
import { ociSink } from './ociSink.ts'
import { ociSource } from './ociSource.ts'
import type { KeyPair } from '#contract/job/storeKeys/storeKey.ts'
import type { S3Store } from '../s3/s3Client.ts'
import { sigV4Presigner, sigV4Signer } from '../s3/sigV4.ts'

export function ociS3Store(place: OciBucketAddress, key: KeyPair, transport: FetchFunction): S3Store {
  const { region } = place
  return {
    provider: 'oracle',
    bucketAddress: { name: ociBucketName(place), base: ociS3Endpoint(place), region },
    sign: sigV4Signer(key, region),
    presign: sigV4Presigner(key, region),
    transport,
    // DeleteObjects is not among the operations that Oracle lists.
    supportsDeleteObjects: false,
    credentialNames: 'access_key and secret_key',
  }
}

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
