// In charge of: the bytes of a tar around its members, and where each member lies (POSIX.1-2017, pax: ustar and its extended headers).
// Not in charge of: members' bytes, sending them anywhere (transcoder/segments).
import { joined } from '../../mpegts/joined.ts'
import type { ByteSpan } from '../model.ts'

const BLOCK = 512
/** 1980-01-01: the same in every run; tar warns of anything before. */
const TIME = 315_532_800
/** The size field has eleven octal digits. */
const LARGEST_USTAR = 8 ** 11 - 1

export class TarLayout {
  readonly spans = new Map<string, ByteSpan>()
  #at = 0

  /** Bytes of the whole up to now. */
  get bytes(): number {
    return this.#at
  }

  /** What goes in front of a member's bytes. `size` in bytes. Throws RangeError for a name that is there already. */
  header(path: string, size: number): Uint8Array {
    if (this.spans.has(path)) throw new RangeError(`the tar has ${path} already`)
    const name = splitName(path)
    const records = [
      ...(name === null ? [['path', path] as const] : []),
      ...(size > LARGEST_USTAR ? [['size', `${size}`] as const] : []),
    ]
    const extended = records.length === 0 ? [] : pax(records)
    const own = block({
      ...(name ?? { prefix: '', name: shortened(path) }),
      size: Math.min(size, LARGEST_USTAR),
      type: '0',
    })
    const bytes = joined([...extended, own])
    this.spans.set(path, { offset: this.#at + bytes.length, bytes: size })
    this.#at += bytes.length + size + paddingOf(size)
    return bytes
  }

  /** What goes behind a member's bytes. */
  padding(size: number): Uint8Array {
    return new Uint8Array(paddingOf(size))
  }

  /** Two blocks of zeros end an archive. */
  end(): Uint8Array {
    this.#at += 2 * BLOCK
    return new Uint8Array(2 * BLOCK)
  }
}

function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK
}

/** 100 bytes of name behind 155 of directory; null where it does not fit, or has letters beyond ASCII. */
function splitName(path: string): { prefix: string; name: string } | null {
  if (!/^[\u0020-\u007e]+$/.test(path)) return null
  if (path.length <= 100) return { prefix: '', name: path }
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1))
    if (at <= 155 && path.length - at - 1 <= 100 && at + 1 < path.length)
      return { prefix: path.slice(0, at), name: path.slice(at + 1) }
  return null
}

/** For programs that do not read extended headers. */
function shortened(path: string): string {
  return path.replaceAll(/[^\u0020-\u007e]/gu, '_').slice(-100)
}

/** An extended header: `<length> <key>=<value>\n`, where the length counts itself. */
function pax(records: readonly (readonly [string, string])[]): Uint8Array[] {
  const body = joined(
    records.map(([key, value]) => {
      const rest = utf8(` ${key}=${value}\n`)
      let length = rest.length + 1
      while (`${length}`.length + rest.length !== length) length = `${length}`.length + rest.length
      return joined([utf8(`${length}`), rest])
    }),
  )
  return [
    block({ prefix: '', name: 'PaxHeader', size: body.length, type: 'x' }),
    body,
    new Uint8Array(paddingOf(body.length)),
  ]
}

function block(fields: { prefix: string; name: string; size: number; type: string }): Uint8Array {
  const bytes = new Uint8Array(BLOCK)
  const put = (at: number, text: string): void => bytes.set(utf8(text), at)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  put(0, fields.name)
  put(100, octal(0o644, 7))
  // Nobody's: owner and group 0.
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  put(124, octal(fields.size, 11))
  put(136, octal(TIME, 11))
  put(156, fields.type)
  put(257, 'ustar\u000000')
  put(345, fields.prefix)
  // The checksum is taken with spaces in its place.
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

/** No TextEncoder in the pure part: every platform has encodeURIComponent. */
function utf8(text: string): Uint8Array {
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
