// In charge of: the credentials of Oracle's Object Storage: a customer secret key, or an API signing key of a user.
// Not in charge of: telling the two apart (../storeKeys/storeKey.ts).
import { openKey, readKey, type KeyPair, type StoreKeyResult, type SignerForm } from '../storeKeys/storeKey.ts'
import type { SigningKey } from '../storeKeys/pem.ts'
import { checkKey, checkRegion, type CheckCredentials } from './credentialReport.ts'
import type { KnownCredential } from './storeRules.ts'

export interface OracleApiKey {
  kind: 'api-key'
  tenancy: string
  user: string
  fingerprint: string
  key: SigningKey
}

const fingerprintOf = ({ oci_fingerprint: given }: KnownCredential): string => (given ?? '').trim().toLowerCase()

const apiKey: SignerForm<OracleApiKey> = {
  members: ['tenancy_ocid', 'user_ocid', 'oci_fingerprint'],
  optional: [],
  either: 'oracle needs access_key and secret_key, or tenancy_ocid, user_ocid, oci_fingerprint and a PEM key',
  check(known, actual, report) {
    // Oracle, "Resource Identifiers": ocid1.<type>.<realm>.[region].<unique id>. They are sent in a header, in quotes.
    for (const type of ['tenancy', 'user'] as const) {
      const name = `${type}_ocid` as const
      if (!new RegExp(`^ocid[0-9a-z]{0,8}\\.${type}\\.[\\w.:-]{1,240}$`).test(known[name] ?? '')) {
        report(name, `must be the OCID of a ${type}: ocid1.${type}.oc1..…`)
      }
    }
    const fingerprint = fingerprintOf(known)
    if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/.test(fingerprint)) {
      report('oci_fingerprint', 'must be 16 bytes in hexadecimal with colons: 20:3b:97:…')
    } else if (actual !== null && actual !== fingerprint) {
      report('oci_fingerprint', `does not match the given key, whose fingerprint is ${actual}`)
    }
  },
  make(known, key) {
    const { tenancy_ocid: tenancy, user_ocid: user } = known
    return { kind: 'api-key', tenancy: tenancy ?? '', user: user ?? '', fingerprint: fingerprintOf(known), key }
  },
}

export function openOracleKey(known: KnownCredential): KeyPair | OracleApiKey | null {
  return openKey(apiKey, known)
}

export function readOracleKey(known: KnownCredential): StoreKeyResult<OracleApiKey> {
  return readKey(apiKey, known)
}

export const checkOracle: CheckCredentials = (known, report) => {
  checkKey(readOracleKey(known), report)
  if (!known.region) report.problem('required', 'region', 'oracle needs region')
  checkRegion(known, report)
}
