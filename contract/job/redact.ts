// In charge of: keeping secrets out of everything that is stored in clear, returned or logged.
// Not in charge of: encrypting the full values (the Worker's vault does that with JobSecrets).

/** Members whose value is never shown, not even partly. */
const SECRET_MEMBERS = new Set(['secret_key', 'private_key', 'session_token'])
/** Names of unknown fields that may hold a misplaced secret: the name is echoed, the value is not. */
const SECRET_NAME = /secret|passw|private_?key|token|access_?key|api_?key|credential|authorization|signature/i

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i

/**
 * An address without possible secrets: user info is removed, and a query or fragment becomes `?…` as a whole, because
 * even names of query parameters can be tokens. `https://user:pw@host/a.mp4?sig=1` → `https://host/a.mp4?…`.
 */
export function redactAddress(url: string): string {
  const scheme = ADDRESS.exec(url)?.[0] ?? ''
  const rest = url.slice(scheme.length)
  const authorityEnd = scheme === '' ? 0 : (/[/?#\\]/.exec(rest)?.index ?? rest.length)
  const authority = rest.slice(0, authorityEnd)
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const tail = rest.slice(authorityEnd)
  const cut = tail.search(/[?#]/)
  return scheme + host + (cut === -1 ? tail : `${tail.slice(0, cut)}?…`)
}

/**
 * Whether this is an http address that `redactAddress` shortened. The service returns such addresses but cannot use
 * them.
 */
export function isRedacted(address: unknown): boolean {
  return typeof address === 'string' && /^https?:\/\//i.test(address) && address.endsWith('?…')
}

/** The end of an error message about such an address. */
export const SEND_UNREDACTED =
  'is an address without its query string, as this service shows it in answers; send the full address'

/** `AKIAIOSFODNN7EXAMPLE` → `AKIA…MPLE`; anything shorter than 12 characters → `…`. */
export function maskKey(key: string): string {
  if (key === '') return key
  return key.length >= 12 ? `${key.slice(0, 4)}…${key.slice(-4)}` : '…'
}

/** The form of a credential that is stored and returned: only known members, without secrets. */
export function redactCredentials<T extends object>(known: T): T {
  const entries = Object.entries(known).map(([name, value]: [string, unknown]): [string, unknown] => {
    if (SECRET_MEMBERS.has(name)) return [name, null]
    return [name, name === 'access_key' && typeof value === 'string' ? maskKey(value) : value]
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same members; those that become null are nullable by specification 2.3
  return Object.fromEntries(entries) as T
}

/** Whether the name of an unknown field suggests that its value must not be echoed. */
export function looksSecret(name: string): boolean {
  return SECRET_NAME.test(name)
}

/**
 * A copy of an unknown field's value that is safe to store and echo: plain JSON, no `__proto__`, no values under names
 * that look like secrets, addresses redacted. The caller has limited the depth.
 */
export function redactUnknownValue(value: unknown): unknown {
  if (typeof value === 'string') return ADDRESS.test(value) ? redactAddress(value) : value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean' || value === null) return value
  if (Array.isArray(value)) return value.map(redactUnknownValue)
  if (typeof value !== 'object') return null
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    if (name !== '__proto__') copy[name] = looksSecret(name) ? null : redactUnknownValue(member)
  }
  return copy
}

/** A value for a message: short, on one line, and hidden if it could contain a credential. */
export function printableValue(value: unknown): string {
  if (typeof value === 'string') {
    const scheme = ADDRESS.exec(value)?.[0]
    if (scheme !== undefined) return scheme.length <= 20 ? `"${scheme}…"` : 'an address'
    if (/[@?\\=]|-----/.test(value)) return `a string of ${value.length} characters`
    return value.length > 60 ? `${JSON.stringify(value.slice(0, 60))}…` : JSON.stringify(value)
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
