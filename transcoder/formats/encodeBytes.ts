// In charge of: encoding bytes as text (base64, hex).
// Not in charge of: their meaning.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** RFC 4648, 4. */
export function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const word = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    for (let index = 0; index < 4; index++)
      text += at + index > bytes.length ? '=' : ALPHABET[(word >> (18 - 6 * index)) & 63]!
  }
  return text
}

/** Lower case, without a prefix. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
