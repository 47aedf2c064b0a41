// In charge of: the form of a tar: POSIX.1-2001 (pax) entries of regular files. Pure.
// Not in charge of: what goes into one (archive.ts).

const BLOCK = 512
/** Above, a field of 11 octal digits does not hold the size. */
const MAX_OCTAL_SIZE = 0o77777777777
const MAX_NAME_BYTES = 100
const encoder = new TextEncoder()

/** Two blocks of zeros end an archive. */
export const END = new Uint8Array(2 * BLOCK)

export interface Entry {
  path: string
  size: number
  /** Seconds since 1970. */
  modified: number
}

/** Bytes between the end of a file's content and the next entry. */
export function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK
}

/** What stands before the content: one block, with extended records where it cannot hold the name or the size. */
export function header({ path, size, modified }: Entry): Uint8Array {
  const name = encoder.encode(path)
  const records: [string, string][] = []
  // Older readers take a name that is not ASCII for one of their own character set.
  if (name.length > MAX_NAME_BYTES || /[^\x20-\x7e]/.test(path)) records.push(['path', path])
  if (size > MAX_OCTAL_SIZE) records.push(['size', String(size)])
  const shortName = path.replaceAll(/[^\x20-\x7e]/g, '_').slice(-MAX_NAME_BYTES)
  const own = block({ name: shortName, size: Math.min(size, MAX_OCTAL_SIZE), modified, type: '0' })
  if (records.length === 0) return own
  const extended = joined(records.map(([key, value]) => record(key, value)))
  const before = block({ name: 'PaxHeaders/entry', size: extended.length, modified, type: 'x' })
  return joined([before, extended, new Uint8Array(padding(extended.length)), own])
}

/** `<length> <key>=<value>\n`, whose length counts its own digits. */
function record(key: string, value: string): Uint8Array {
  const rest = encoder.encode(` ${key}=${value}\n`)
  let length = rest.length
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length
  return joined([encoder.encode(String(length)), rest])
}

interface Fields {
  name: string
  size: number
  modified: number
  type: '0' | 'x'
}

function block({ name, size, modified, type }: Fields): Uint8Array {
  const bytes = new Uint8Array(BLOCK)
  const put = (offset: number, text: string): void => bytes.set(encoder.encode(text), offset)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  put(0, name)
  put(100, octal(0o644, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  put(124, octal(size, 11))
  put(136, octal(modified, 11))
  // The checksum is taken with spaces in its own place.
  put(148, ' '.repeat(8))
  put(156, type)
  put(257, 'ustar\u000000')
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  return bytes
}

function joined(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}
