// In charge of: Oracle's Object Storage through its S3 API, with a customer secret key.
// Not in charge of: the requests (s3/), the native API (ociClient.ts).
import type { KeyPair } from '#contract/job/storeKeys/storeKey.ts'
import type { S3Store } from '../s3/s3Client.ts'
import { sigV4Presigner, sigV4Signer } from '../s3/sigV4.ts'
import type { FetchFunction } from '../guardedFetch.ts'
import { ociS3Endpoint, ociBucketName, type OciBucketAddress } from './ociAddress.ts'

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
