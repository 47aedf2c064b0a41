// In charge of: keyed hashes of the service (attempt tokens, object addresses, API keys), each with its own label.
// Not in charge of: encryption (vault.ts).
import { fromBase64Url, toBase64Url } from '../util/encoding.ts'

const encoder = new TextEncoder()
const keys = new Map<string, Promise<CryptoKey>>()

/** One key per label, derived by HKDF (RFC 5869), so that a signature for one purpose is not valid for another. */
function hmacKey(secret: string, label: string): Promise<CryptoKey> {
  const name = `${label}\n${secret}`
  const known = keys.get(name)
  if (known) return known
  const made = (async () => {
    const root = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, ['deriveKey'])
    return crypto.subtle.deriveKey(
      { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: encoder.encode(`splicepoint ${label}`) },
      root,
      { name: 'HMAC', hash: 'SHA-256', length: 256 },
      false,
      ['sign', 'verify'],
    )
  })()
  keys.set(name, made)
  return made
}

function serviceSecret(env: Env): string {
  if (!env.SERVICE_SECRET || env.SERVICE_SECRET.length < 32) {
    throw new Error('SERVICE_SECRET is missing or shorter than 32 characters')
  }
  return env.SERVICE_SECRET
}

/** HMAC-SHA-256 as base64url without padding: 43 characters. */
export async function hmacSign(env: Env, label: string, text: string): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', await hmacKey(serviceSecret(env), label), encoder.encode(text))
  return toBase64Url(mac)
}

/** Verifies a signature of `hmacSign` in constant time. */
export async function hmacVerify(env: Env, label: string, text: string, signature: string): Promise<boolean> {
  const mac = fromBase64Url(signature)
  return (
    mac !== null && crypto.subtle.verify('HMAC', await hmacKey(serviceSecret(env), label), mac, encoder.encode(text))
  )
}
