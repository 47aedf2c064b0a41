// In charge of: tar headers and padding (POSIX.1-2017, pax: ustar and its extended headers). Pure.
// Not in charge of: which members an archive has (transcoder/manifests/tar/tarLayout.ts,
// worker/delivery/tarArchive.ts).

const BLOCK = 512
/** The size field has eleven octal digits. */
const LARGEST_USTAR = 8 ** 11 - 1
/** Two blocks of zeros end an archive. */
export const TAR_END_BYTES = 2 * BLOCK

export interface TarMember {
  path: string
  /** Bytes. */
  size: number
  /** Seconds since 1970. tar warns about dates before 1980. */
  modified: number
}

/** The header block of a member, with an extended header where needed. */
export function tarHeader({ path, size, modified }: TarMember): Uint8Array {
  const name = splitName(path)
  const records = [
    ...(name === null ? [['path', path] as const] : []),
    ...(size > LARGEST_USTAR ? [['size', `${size}`] as const] : []),
  ]
  const extended = records.length === 0 ? [] : paxHeader(records, modified)
  const own = headerBlock({
    ...(name ?? { prefix: '', name: truncateName(path) }),
    size: Math.min(size, LARGEST_USTAR),
    modified,
    type: '0',
  })
  return concatBytes([...extended, own])
}

/** Number of zero bytes after a member's content. */
export function tarPadding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK
}

/** 100 bytes of name and 155 of directory; null if the path does not fit or is not ASCII. */
function splitName(path: string): { prefix: string; name: string } | null {
  if (!/^[\u0020-\u007e]+$/.test(path)) return null
  if (path.length <= 100) return { prefix: '', name: path }
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1))
    if (at <= 155 && path.length - at - 1 <= 100 && at + 1 < path.length)
      return { prefix: path.slice(0, at), name: path.slice(at + 1) }
  return null
}

/** A fallback name for programs that do not read extended headers. */
function truncateName(path: string): string {
  return path.replaceAll(/[^\u0020-\u007e]/gu, '_').slice(-100)
}

/** An extended header: `<length> <key>=<value>\n`, where the length includes itself. */
function paxHeader(records: readonly (readonly [string, string])[], modified: number): Uint8Array[] {
  const body = concatBytes(
    records.map(([key, value]) => {
      const rest = utf8Bytes(` ${key}=${value}\n`)
      let length = rest.length + 1
      while (`${length}`.length + rest.length !== length) length = `${length}`.length + rest.length
      return concatBytes([utf8Bytes(`${length}`), rest])
    }),
  )
  return [
    headerBlock({ prefix: '', name: 'PaxHeader', size: body.length, modified, type: 'x' }),
    body,
    new Uint8Array(tarPadding(body.length)),
  ]
}

interface Fields {
  prefix: string
  name: string
  size: number
  modified: number
  type: '0' | 'x'
}

function headerBlock(fields: Fields): Uint8Array {
  const bytes = new Uint8Array(BLOCK)
  const put = (at: number, text: string): void => bytes.set(utf8Bytes(text), at)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  put(0, fields.name)
  put(100, octal(0o644, 7))
  // Owner and group 0.
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  put(124, octal(fields.size, 11))
  put(136, octal(fields.modified, 11))
  put(156, fields.type)
  put(257, 'ustar\u000000')
  put(345, fields.prefix)
  // The checksum is computed with spaces in its own field.
  put(148, ' '.repeat(8))
  put(
    148,
    `${bytes
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
  )
  return bytes
}

/** encodeURIComponent exists on every platform; this pure code cannot rely on TextEncoder. */
function utf8Bytes(text: string): Uint8Array {
  const escaped = encodeURIComponent(text)
  const bytes: number[] = []
  for (let at = 0; at < escaped.length; at++) {
    if (escaped[at] !== '%') bytes.push(escaped.charCodeAt(at))
    else {
      bytes.push(Number.parseInt(escaped.slice(at + 1, at + 3), 16))
      at += 2
    }
  }
  return Uint8Array.from(bytes)
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
