// In charge of: RSA keys for tests, generated in every run.
// Not in charge of: keys in other formats (test/node/contract/storeKeys/pem.test.ts).
import type { webcrypto } from 'node:crypto'

export interface RsaTestKey {
  pem: string
  publicKey: webcrypto.CryptoKey
}

const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }

export async function generateRsaKey(): Promise<RsaTestKey> {
  const made = await crypto.subtle.generateKey(
    { ...algorithm, modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1) },
    true,
    ['sign', 'verify'],
  )
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', made.privateKey))
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n')
  return { pem: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`, publicKey: made.publicKey }
}
