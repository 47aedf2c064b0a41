// In charge of: the keys of Oracle and Google as a job's sealed credentials hold them.
// Not in charge of: which are wrong (contract/job/storeKeys/storeKey.ts tells a client before the job is accepted), opening stores.
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { StoreKey } from '#contract/job/storeKeys/storeKey.ts'
import { readStoreKey } from '#contract/job/storeKeys/storeKey.ts'
import type { GoogleKey } from './google/gcsStore.ts'
import type { OracleKey } from './registry.ts'
import type { OraclePlace } from './oracle/ociAddress.ts'
import { StoreError } from './objectStore.ts'

/** @throws StoreError `credentials_invalid` */
export function googleAccess(credentials: Credentials): GoogleKey {
  const { key } = keyIn('gcloud', credentials)
  if (key.kind === 'api-key') throw noKey('gcloud')
  return key
}

/** @throws StoreError `credentials_invalid` */
export function oracleAccess(
  { namespace, bucket }: { namespace: string; bucket: string },
  credentials: Credentials,
): { place: OraclePlace; access: OracleKey } {
  const { key } = keyIn('oracle', credentials)
  if (key.kind === 'service-account' || !credentials.region) throw noKey('oracle')
  return { place: { namespace, bucket, region: credentials.region }, access: key }
}

/** Judged when the job was accepted; an older version of the service may have been laxer. */
function keyIn(provider: 'oracle' | 'gcloud', credentials: Credentials): { key: StoreKey } {
  const read = readStoreKey(provider, credentials)
  if (!read.ok) throw noKey(provider)
  return read
}

function noKey(provider: string): StoreError {
  return new StoreError('credentials_invalid', provider, 'open', `The credentials hold no key for ${provider}.`)
}
