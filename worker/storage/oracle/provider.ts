// In charge of: opening Oracle's Object Storage for a job: behind its door for S3 with an access key, else by its own API.
// Not in charge of: the requests of either (ociS3Store.ts, ociClient.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { OracleAddress } from '#contract/job/stores/oracle.ts'
import { readOracleKey } from '#contract/job/stores/oracleCredentials.ts'
import { cachingOf } from '../cacheControl.ts'
import type { StoreProvider } from '../provider.ts'
import { keyOf, noKey, requireRoot } from '../provider.ts'
import { xmlSink } from '../s3/s3Sink.ts'
import { xmlSource } from '../s3/s3Source.ts'
import { storeTransport } from '../guardedFetch.ts'
import type { OraclePlace } from './ociAddress.ts'
import { oracleSign } from './ociSignature.ts'
import { nativeSink } from './ociSink.ts'
import { nativeSource } from './ociSource.ts'
import { compatibleStore } from './ociS3Store.ts'

export const oracleProvider: StoreProvider<OracleAddress> = {
  openSource(env, { address, credentials }) {
    const { place, key } = accessOf(address, credentials)
    const transport = storeTransport(env, 'oracle')
    return key.kind === 'pair'
      ? xmlSource(compatibleStore(place, key, transport), address.key)
      : nativeSource({ place, sign: oracleSign(key), transport }, address.key)
  },
  openSink(env, request) {
    const { place, key } = accessOf(requireRoot(request, 'oracle').address, request.credentials)
    const transport = storeTransport(env, 'oracle')
    const caching = cachingOf(request.cacheControl, false)
    return key.kind === 'pair'
      ? xmlSink(compatibleStore(place, key, transport), '', caching)
      : nativeSink({ place, sign: oracleSign(key), transport }, '', caching)
  },
}

function accessOf({ namespace, bucket }: OracleAddress, credentials: Partial<Credentials>) {
  const key = keyOf(readOracleKey(credentials), 'oracle')
  const { region } = credentials
  if (!region) throw noKey('oracle')
  return { place: { namespace, bucket, region } satisfies OraclePlace, key }
}
