// In charge of: reading private keys in PEM form (RFC 7468; PKCS#1 of RFC 8017, PKCS#8 of RFC 5208) for signing, and
// saying why a key cannot be read.
// Not in charge of: which provider needs one (storeKey.ts), signing.

const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const
/** RFC 1321 §3.4: "the integer part of 4294967296 times abs(sin(i))". */
const TABLE = Uint32Array.from({ length: 64 }, (_, i) => Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1))))

/** @returns 16 bytes */
export function md5(message: Uint8Array): Uint8Array {
  // §3.1 and §3.2: a 1 bit, zeros, and the length in bits, up to a multiple of 64 bytes.
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64)
  padded.set(message)
  padded[message.length] = 0x80
  const words = new DataView(padded.buffer)
  words.setUint32(padded.length - 8, message.length * 8, true)
  words.setUint32(padded.length - 4, Math.floor(message.length / 2 ** 29), true)
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476] as [number, number, number, number]
  for (let block = 0; block < padded.length; block += 64) {
    let [a, b, c, d] = state
    for (let step = 0; step < 64; step++) {
      const round = step >> 4
      const { mixed, word } = mix(round, step, b, c, d)
      const sum = (a + mixed + TABLE[step]! + words.getUint32(block + word * 4, true)) | 0
      const shift = SHIFTS[round]![step & 3]!
      ;[a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0]
    }
    state[0] = (state[0] + a) | 0
    state[1] = (state[1] + b) | 0
    state[2] = (state[2] + c) | 0
    state[3] = (state[3] + d) | 0
  }
  const digest = new DataView(new ArrayBuffer(16))
  for (const [index, value] of state.entries()) digest.setInt32(index * 4, value, true)
  return new Uint8Array(digest.buffer)
}

/** §3.4: the functions F, G, H, I, and the index of the block's word that each step uses. */
function mix(round: number, step: number, b: number, c: number, d: number): { mixed: number; word: number } {
  if (round === 0) return { mixed: (b & c) | (~b & d), word: step }
  if (round === 1) return { mixed: (b & d) | (c & ~d), word: (5 * step + 1) & 15 }
  if (round === 2) return { mixed: b ^ c ^ d, word: (3 * step + 5) & 15 }
  return { mixed: c ^ (b | ~d), word: (7 * step) & 15 }
}

interface DerElement {
  tag: number
  /** The content. */
  content: Uint8Array
  /** Tag, length and content. */
  whole: Uint8Array
}

/** The consecutive elements in `bytes`; null if they are not DER. */
function readDerElements(bytes: Uint8Array): DerElement[] | null {
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

function writeDerElement(tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
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

export interface SigningKey {
  /** PrivateKeyInfo, the only form that WebCrypto imports. */
  pkcs8: Uint8Array<ArrayBuffer>
}

export interface RsaKey extends SigningKey {
  /** Bits of the modulus. */
  bits: number
  /** MD5 of the public key (SubjectPublicKeyInfo, DER), as Oracle shows it: `20:3b:…`. */
  fingerprint: string
}

/** `why` follows the name of the field: "is encrypted with a passphrase; …". It contains no part of the key. */
export type PemResult = { ok: true; key: RsaKey } | { ok: false; reason: string }

const SEQUENCE = 0x30
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
/** AlgorithmIdentifier of rsaEncryption (1.2.840.113549.1.1.1), parameters NULL. */
const RSA = Uint8Array.of(0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00)
const ZERO = Uint8Array.of(0x02, 0x01, 0x00)

/** PEM labels that people send by mistake instead of a private key. */
const OTHER_PEM_LABELS: Readonly<Record<string, string>> = {
  'ENCRYPTED PRIVATE KEY': 'is encrypted with a passphrase; send it decrypted (openssl pkey -in key.pem)',
  'PUBLIC KEY': 'is a public key; send the private one',
  'RSA PUBLIC KEY': 'is a public key; send the private one',
  CERTIFICATE: 'is a certificate; send the private key',
  'EC PRIVATE KEY': 'is an elliptic-curve key; an RSA key is needed',
  'DSA PRIVATE KEY': 'is a DSA key; an RSA key is needed',
  'OPENSSH PRIVATE KEY': 'is in the OpenSSH format; convert it (ssh-keygen -p -m PEM -f key)',
}

export function isPem(text: string | null | undefined): text is string {
  return text?.includes('-----BEGIN ') === true
}

const SECTION = /-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*)-----END ([A-Z0-9 ]{1,40})-----/

/** Keys copied from JSON files still have their escaped line breaks. */
function unescapeLines(text: string): string {
  return text.replace(/\\r|\r/g, '').replaceAll('\\n', '\n')
}

/** The key of a text that `readPem` accepted, without judging it again; null if it holds none. */
export function decodePem(text: string): SigningKey | null {
  const [, label, body] = SECTION.exec(unescapeLines(text)) ?? []
  const der = fromBase64(body ?? '')
  return der && { pkcs8: label === 'RSA PRIVATE KEY' ? wrapPkcs8(der) : der }
}

export function readPem(text: string): PemResult {
  const lines = unescapeLines(text)
  const found = SECTION.exec(lines)
  if (!found) {
    // RFC 1421 §4.6.1.1: an encrypted PKCS#1 key has a header that says so. The header contains hyphens, which the
    // pattern above excludes.
    if (/Proc-Type: *4, *ENCRYPTED/.test(lines)) return refuse(OTHER_PEM_LABELS['ENCRYPTED PRIVATE KEY']!)
    return refuse('is not a key in PEM form, from -----BEGIN to -----END')
  }
  const [, label, body, end] = found
  if (/Proc-Type: *4, *ENCRYPTED/.test(body!)) return refuse(OTHER_PEM_LABELS['ENCRYPTED PRIVATE KEY']!)
  if (OTHER_PEM_LABELS[label!] !== undefined) return refuse(OTHER_PEM_LABELS[label!]!)
  if ((label !== 'PRIVATE KEY' && label !== 'RSA PRIVATE KEY') || end !== label) {
    return refuse('has no section "PRIVATE KEY" or "RSA PRIVATE KEY"')
  }
  const der = fromBase64(body!)
  const inner = der && (label === 'PRIVATE KEY' ? unwrapPkcs8(der) : der)
  if (inner === 'another') return refuse('is not an RSA key; an RSA key is needed')
  const key = inner && keyOf(inner)
  return key ? { ok: true, key } : refuse('is damaged: it does not contain an RSA private key')
}

function refuse(reason: string): PemResult {
  return { ok: false, reason }
}

/** RFC 5208 §5: version, algorithm, the key, and attributes, which are ignored. */
function unwrapPkcs8(der: Uint8Array): Uint8Array | 'another' | null {
  const [info, ...more] = readDerElements(der) ?? []
  const [version, algorithm, key] = (info?.tag === SEQUENCE && readDerElements(info.content)) || []
  if (more.length > 0 || version?.tag !== INTEGER || algorithm?.tag !== SEQUENCE || key?.tag !== OCTET_STRING) {
    return null
  }
  const [oid] = readDerElements(algorithm.content) ?? []
  return oid && same(oid.whole, RSA.subarray(2, 13)) ? key.content : 'another'
}

function wrapPkcs8(key: Uint8Array): Uint8Array<ArrayBuffer> {
  return writeDerElement(SEQUENCE, ZERO, RSA, writeDerElement(OCTET_STRING, key))
}

/** RFC 8017 §A.1.2: version, n, e, d, p, q, and three more values that speed up signing. */
function keyOf(der: Uint8Array): RsaKey | null {
  const [sequence, ...more] = readDerElements(der) ?? []
  const numbers = (sequence?.tag === SEQUENCE && readDerElements(sequence.content)) || []
  const [version, n, e] = numbers
  if (more.length > 0 || numbers.length !== 9 || numbers.some(({ tag }) => tag !== INTEGER)) return null
  if (!version || !n || !e || !same(version.whole, ZERO)) return null
  const publicKey = writeDerElement(SEQUENCE, n.whole, e.whole)
  const digest = md5(writeDerElement(SEQUENCE, RSA, writeDerElement(BIT_STRING, Uint8Array.of(0), publicKey)))
  return {
    pkcs8: wrapPkcs8(sequence!.whole),
    bits: bitsOf(n.content),
    fingerprint: [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join(':'),
  }
}

function bitsOf(integer: Uint8Array): number {
  const first = integer.findIndex((byte) => byte !== 0)
  return first === -1 ? 0 : (integer.length - first) * 8 - Math.clz32(integer[first]!) + 24
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** RFC 4648 §4, white space allowed; null for anything else. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const digits = text.replace(/\s+/g, '').replace(/={1,2}$/, '')
  if (digits === '' || digits.length % 4 === 1) return null
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4))
  let held = 0
  for (let i = 0; i < digits.length; i++) {
    const value = DIGITS.indexOf(digits[i]!)
    if (value === -1) return null
    held = ((held << 6) | value) & 0xffffff
    if (i % 4 === 1) bytes[Math.floor(i / 4) * 3] = (held >> 4) & 0xff
    if (i % 4 === 2) bytes[Math.floor(i / 4) * 3 + 1] = (held >> 2) & 0xff
    if (i % 4 === 3) bytes[Math.floor(i / 4) * 3 + 2] = held & 0xff
  }
  return bytes
}
