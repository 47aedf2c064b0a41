// In charge of: the credentials of Google Cloud Storage: an HMAC key, or the key of a service account.
// Not in charge of: telling the two apart (../storeKeys/storeKey.ts).
import { openKey, readKey, type KeyPair, type StoreKeyResult, type SignerForm } from '../storeKeys/storeKey.ts'
import type { SigningKey } from '../storeKeys/pem.ts'
import { checkKey, type CheckCredentials } from './credentialReport.ts'
import type { KnownCredential } from './storeRules.ts'

export interface ServiceAccount {
  kind: 'service-account'
  clientEmail: string
  keyId: string | null
  key: SigningKey
}

const serviceAccount: SignerForm<ServiceAccount> = {
  members: ['client_email'],
  optional: ['private_key_id'],
  either: 'gcloud needs access_key and secret_key, or client_email and a PEM key',
  check(known, _fingerprint, report) {
    if (!/^[^\s@"\\]+@[^\s@"\\]+$/.test(known.client_email ?? '')) report('client_email', 'must be an e-mail address')
  },
  make({ client_email: clientEmail, private_key_id: keyId }, key) {
    return { kind: 'service-account', clientEmail: clientEmail ?? '', keyId: keyId || null, key }
  },
}

export function openGoogleKey(known: KnownCredential): KeyPair | ServiceAccount | null {
  return openKey(serviceAccount, known)
}

export function readGoogleKey(known: KnownCredential): StoreKeyResult<ServiceAccount> {
  return readKey(serviceAccount, known)
}

export const checkGoogle: CheckCredentials = (known, report) => checkKey(readGoogleKey(known), report)
