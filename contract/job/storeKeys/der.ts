// In charge of: the subset of DER (ITU-T X.690) that RSA keys use.
// Not in charge of: the structure of a key (pem.ts).

export interface DerElement {
  tag: number
  /** The content. */
  content: Uint8Array
  /** Tag, length and content. */
  whole: Uint8Array
}

/** The consecutive elements in `bytes`; null if they are not DER. */
export function readDerElements(bytes: Uint8Array): DerElement[] | null {
  const found: DerElement[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!
    const first = bytes[at + 1]
    if (first === undefined) return null
    // §8.1.3.5: the long form begins with the length of the length. Four bytes are enough for every key.
    const longer = first < 0x80 ? 0 : first & 0x7f
    if (first === 0x80 || longer > 4) return null
    let length = longer === 0 ? first : 0
    for (const byte of bytes.subarray(at + 2, at + 2 + longer)) length = length * 256 + byte
    const start = at + 2 + longer
    if (start + length > bytes.length) return null
    found.push({ tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) })
    at = start + length
  }
  return found
}

export function writeDerElement(tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const digits: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 + digits.length, ...digits]
  const bytes = new Uint8Array(head.length + length)
  bytes.set(head)
  let at = head.length
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
