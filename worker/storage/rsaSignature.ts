// In charge of: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2), the request signature of Oracle and Google.
// Not in charge of: what is signed, reading keys (contract/job/storeKeys/pem.ts).
import type { SigningKey } from '#contract/job/storeKeys/pem.ts'
import { StoreError } from './objectStore.ts'

/**
 * → the signature of a UTF-8 text. The key is imported once, at the first signature.
 * @throws StoreError `credentials_invalid` if the numbers are not a valid key: earlier checks cover only the key's form
 */
export function rsaSha256Signer(provider: string, key: SigningKey): (text: string) => Promise<Uint8Array> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  let imported: Promise<CryptoKey> | null = null
  return async (text) => {
    imported ??= crypto.subtle.importKey('pkcs8', key.pkcs8, algorithm, false, ['sign'])
    const bytes = new TextEncoder().encode(text)
    try {
      return new Uint8Array(await crypto.subtle.sign(algorithm.name, await imported, bytes))
    } catch {
      throw new StoreError(
        'credentials_invalid',
        provider,
        'sign',
        'The given private key cannot be used: it is damaged.',
      )
    }
  }
}
