// In charge of: opening Amazon S3, or with `endpoint` another store that speaks S3, for a job.
// Not in charge of: requests (s3Client.ts), addresses of buckets (bucketAddress.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { S3Address } from '#contract/job/stores/aws.ts'
import { cachingOf } from '../cacheControl.ts'
import type { StoreProvider } from '../provider.ts'
import { requireRoot } from '../provider.ts'
import { storeTransport } from '../guardedFetch.ts'
import type { XmlStore } from './s3Client.ts'
import { s3Place } from './bucketAddress.ts'
import { presigned, sigV4 } from './sigV4.ts'
import { xmlSink } from './s3Sink.ts'
import { xmlSource } from './s3Source.ts'

export const s3Provider: StoreProvider<S3Address> = {
  openSource: (env, { address, credentials }) => xmlSource(storeOf(env, address, credentials), address.key),
  openSink(env, request) {
    const { address } = requireRoot(request, 'aws')
    return xmlSink(storeOf(env, address, request.credentials), '', cachingOf(request.cacheControl, false))
  },
}

function storeOf(env: Env, { bucket }: S3Address, credentials: Partial<Credentials>): XmlStore {
  // Empty members are absent ones.
  const access = {
    accessKey: credentials.access_key || '',
    secretKey: credentials.secret_key || '',
    sessionToken: credentials.session_token || null,
  }
  const place = s3Place(bucket, credentials.region || null, credentials.endpoint || null)
  return {
    provider: 'aws',
    place,
    sign: sigV4(access, place.region),
    presign: presigned(access, place.region),
    transport: storeTransport(env, 'aws'),
    deletesMany: true,
  }
}
