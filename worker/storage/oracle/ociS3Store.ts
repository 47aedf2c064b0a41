// In charge of: Oracle's Object Storage behind its door for S3, with a customer secret key.
// Not in charge of: the requests (s3/), the native API (ociClient.ts).
import type { KeyPair } from '#contract/job/storeKeys/storeKey.ts'
import type { XmlStore } from '../s3/s3Client.ts'
import { presigned, sigV4 } from '../s3/sigV4.ts'
import type { Transport } from '../guardedFetch.ts'
import type { OraclePlace } from './ociAddress.ts'
import { compatibleBase, oracleName } from './ociAddress.ts'

export function compatibleStore(place: OraclePlace, key: KeyPair, transport: Transport): XmlStore {
  const { region } = place
  return {
    provider: 'oracle',
    place: { name: oracleName(place), base: compatibleBase(place), region },
    sign: sigV4(key, region),
    presign: presigned(key, region),
    transport,
    // Not among the operations that Oracle lists.
    deletesMany: false,
    members: 'access_key and secret_key',
  }
}
