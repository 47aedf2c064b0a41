// In charge of: envelope encryption of clients' secrets (credentials, addresses with signatures).
// Not in charge of: which values are secret (contract/job/redact.ts), where an envelope is stored (db/).
import { fromBase64, toBase64 } from '../util/encoding.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

interface Envelope {
  /** Id of the vault key that wraps the job's key. */
  kid: string
  /** base64: iv and wrapped key; iv and ciphertext. */
  wrapped: string
  sealed: string
}

/** The envelope was changed, or sealed for another account, job, field or address. */
export class WrongBindingError extends Error {
  override name = 'NotSealedForThis'
}

interface RingKey {
  id: string
  key: CryptoKey
}

const keyRings = new Map<string, Promise<RingKey[]>>()

/**
 * VAULT_KEYS = `id:base64 of 32 bytes`, comma-separated. The first key seals; all of them open, so keys can be rotated.
 */
function keyRing(env: Env): Promise<RingKey[]> {
  const text = env.VAULT_KEYS ?? ''
  const known = keyRings.get(text)
  if (known) return known
  const made = Promise.all(
    text
      .split(',')
      .filter((entry) => entry.trim() !== '')
      .map(async (entry): Promise<RingKey> => {
        const [id, encoded] = entry.trim().split(':')
        const raw = fromBase64(encoded ?? '')
        if (!id || raw.length !== 32) throw new Error('VAULT_KEYS: each entry is id:base64 of 32 bytes')
        return { id, key: await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']) }
      }),
  )
  keyRings.set(text, made)
  return made
}

/**
 * Seals a JSON value for one account, job and field, and for the addresses that it will be sent to: all of them are
 * authenticated with it. It cannot be opened in another row, or if its row has other addresses than at the sealing.
 * @throws Error when VAULT_KEYS is missing: a job is refused rather than stored with its secrets in plain text
 */
export async function seal(
  env: Env,
  account: string,
  jobId: string,
  field: string,
  value: unknown,
  addresses: readonly string[] = [],
): Promise<string> {
  const [current] = await keyRing(env)
  if (!current) throw new Error('VAULT_KEYS is missing')
  const raw = crypto.getRandomValues(new Uint8Array(32))
  const additionalData = additionalDataOf([account, jobId, field, current.id, ...addresses])
  const key = crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt'])
  // In parallel, because a client waits for the result.
  const [wrapped, sealed] = await Promise.all([
    encrypt(current.key, raw, additionalData),
    key.then((made) => encrypt(made, encoder.encode(JSON.stringify(value)), additionalData)),
  ])
  return JSON.stringify({ kid: current.id, wrapped, sealed } satisfies Envelope)
}

/** Id of the key that is used for sealing. */
export async function newestKeyId(env: Env): Promise<string> {
  const [current] = await keyRing(env)
  if (!current) throw new Error('VAULT_KEYS is missing')
  return current.id
}

/** Ids of all vault keys; the first seals. @throws Error for a malformed entry */
export async function keyIds(env: Env): Promise<string[]> {
  return (await keyRing(env)).map(({ id }) => id)
}

/** @throws WrongBindingError; Error when the envelope's key was removed from VAULT_KEYS */
export async function unseal<T>(
  env: Env,
  account: string,
  jobId: string,
  field: string,
  text: string,
  addresses: readonly string[] = [],
): Promise<T> {
  const envelope = JSON.parse(text) as Envelope
  const wrapping = (await keyRing(env)).find((entry) => entry.id === envelope.kid)
  if (!wrapping) throw new Error('the key that encrypted this is no longer in VAULT_KEYS')
  const additionalData = additionalDataOf([account, jobId, field, envelope.kid, ...addresses])
  const raw = await decrypt(wrapping.key, envelope.wrapped, additionalData)
  const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['decrypt'])
  return JSON.parse(decoder.decode(await decrypt(key, envelope.sealed, additionalData))) as T
}

function additionalDataOf(parts: readonly string[]): BufferSource {
  return encoder.encode(JSON.stringify(parts))
}

async function encrypt(key: CryptoKey, plain: BufferSource, additionalData: BufferSource): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const cipher = new Uint8Array(
    await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: additionalData }, key, plain),
  )
  const both = new Uint8Array(iv.length + cipher.length)
  both.set(iv)
  both.set(cipher, iv.length)
  return toBase64(both)
}

async function decrypt(key: CryptoKey, text: string, additionalData: BufferSource): Promise<ArrayBuffer> {
  const both = fromBase64(text)
  const algorithm = { name: 'AES-GCM', iv: both.slice(0, 12), additionalData: additionalData }
  return crypto.subtle.decrypt(algorithm, key, both.slice(12)).catch((error: unknown) => {
    throw new WrongBindingError('this was encrypted for another purpose, or it was changed', { cause: error })
  })
}
