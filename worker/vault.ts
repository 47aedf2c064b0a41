// In charge of: envelope encryption of what clients entrust to us (credentials, addresses with signatures).
// Not in charge of: what is secret (contract/redact.ts), where the envelope is stored (ledger).

const encoder = new TextEncoder()
const decoder = new TextDecoder()

interface Envelope {
  v: 1
  /** Id of the ring key that wraps the job's key. */
  kid: string
  /** base64: iv and wrapped key; iv and ciphertext. */
  wrapped: string
  sealed: string
}

interface RingKey {
  id: string
  key: CryptoKey
}

const rings = new Map<string, Promise<RingKey[]>>()

/** VAULT_KEYS = `id:base64 of 32 bytes`, comma-separated. The first seals; all of them open, so that keys can be rotated. */
function ring(env: Env): Promise<RingKey[]> {
  const text = env.VAULT_KEYS ?? ''
  const known = rings.get(text)
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
  rings.set(text, made)
  return made
}

/**
 * Seals a JSON value for one account, job and field. A ciphertext moved to another row does not open: the three are authenticated with it.
 * @throws Error when VAULT_KEYS is missing: better no job than a secret in clear
 */
export async function seal(env: Env, account: string, jobId: string, field: string, value: unknown): Promise<string> {
  const [current] = await ring(env)
  if (!current) throw new Error('VAULT_KEYS is missing')
  const raw = crypto.getRandomValues(new Uint8Array(32))
  const bound = boundTo(account, jobId, field, current.id)
  const key = crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt'])
  // Both at once: a client waits for this.
  const [wrapped, sealed] = await Promise.all([
    encrypt(current.key, raw, bound),
    key.then((made) => encrypt(made, encoder.encode(JSON.stringify(value)), bound)),
  ])
  return JSON.stringify({ v: 1, kid: current.id, wrapped, sealed } satisfies Envelope)
}

/** Id of the key that seals now. */
export async function currentKeyId(env: Env): Promise<string> {
  const [current] = await ring(env)
  if (!current) throw new Error('VAULT_KEYS is missing')
  return current.id
}

/** Ids of all keys of the ring; the first seals. @throws Error for an entry that is none */
export async function ringIds(env: Env): Promise<string[]> {
  return (await ring(env)).map(({ id }) => id)
}

/** @throws Error when the envelope was not made for exactly this account, job and field, or its key left the ring */
export async function open<T>(env: Env, account: string, jobId: string, field: string, text: string): Promise<T> {
  const envelope = JSON.parse(text) as Envelope
  const wrapping = (await ring(env)).find((entry) => entry.id === envelope.kid)
  if (!wrapping) throw new Error('the key that sealed this is no longer in VAULT_KEYS')
  const bound = boundTo(account, jobId, field, envelope.kid)
  const raw = await decrypt(wrapping.key, envelope.wrapped, bound)
  const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['decrypt'])
  return JSON.parse(decoder.decode(await decrypt(key, envelope.sealed, bound))) as T
}

function boundTo(account: string, jobId: string, field: string, kid: string): BufferSource {
  return encoder.encode(JSON.stringify([account, jobId, field, kid]))
}

async function encrypt(key: CryptoKey, plain: BufferSource, bound: BufferSource): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const cipher = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: bound }, key, plain))
  const both = new Uint8Array(iv.length + cipher.length)
  both.set(iv)
  both.set(cipher, iv.length)
  return toBase64(both)
}

async function decrypt(key: CryptoKey, text: string, bound: BufferSource): Promise<ArrayBuffer> {
  const both = fromBase64(text)
  return crypto.subtle.decrypt({ name: 'AES-GCM', iv: both.slice(0, 12), additionalData: bound }, key, both.slice(12))
}

function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}
