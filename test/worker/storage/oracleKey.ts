// In charge of: an API key of Oracle's form, around a private key that a test generates.
import { readPem } from '#contract/job/storeKeys/pem.ts'
import { readOracleKey, type OracleApiKey } from '#contract/job/stores/oracleCredentials.ts'

export const TENANCY = 'ocid1.tenancy.oc1..aaaaaaaaba3pv6wkcr4jqae5f15p2b2m2yt2j6rx32uzr4h25vqstifsfdsq'
export const USER = 'ocid1.user.oc1..aaaaaaaat5nvwcna5j6aqzjcaty5eqbb6qt2jvpkanghtgdaqedqw3rynjq'

export function oracleApiKey(pem: string): OracleApiKey {
  const read = readPem(pem)
  if (!read.ok) throw new Error(read.reason)
  const known = { tenancy_ocid: TENANCY, user_ocid: USER, oci_fingerprint: read.key.fingerprint, private_key: pem }
  const key = readOracleKey(known)
  if (!key.ok || key.key.kind !== 'api-key') throw new Error(JSON.stringify(key))
  return key.key
}
