// In charge of: bytes as text: hexadecimal, base64 and base64url (RFC 4648), SHA-256 in hexadecimal, random names.
// Not in charge of: signatures (secrets/hmac.ts, storage/s3/sigV4.ts).

/** A string stands for its UTF-8. */
type Data = string | Uint8Array | ArrayBuffer

const bytesOf = (data: Data) => (typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data))

export function toHex(data: Data): string {
  return Array.from(bytesOf(data), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export async function sha256Hex(data: Data): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', bytesOf(data)))
}

export function toBase64(data: Data): string {
  let binary = ''
  for (const byte of bytesOf(data)) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** @throws DOMException for a text that is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}

export function toBase64Url(data: Data): string {
  return toBase64(data).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * Accepts only the form that `toBase64Url` writes: other values of the unused bits of the last character are refused.
 */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null
  try {
    const bytes = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
    return toBase64Url(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

/** Random bytes in base64url. */
export function randomName(bytes: number): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)))
}
