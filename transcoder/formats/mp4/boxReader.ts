// In charge of: splitting an mp4 that arrives through a pipe, in blocks of any size, into boxes (ISO/IEC 14496-12,
// 4.2).
// Not in charge of: their content (initSegment.ts, movieFragment.ts).
import { concatBytes } from '../concatBytes.ts'
import { FormatError } from '../formatError.ts'

/** A moov of these encoders has 1 KiB. The moof of a minute at 60 frames per second has 60 KiB. */
const MAX_BOX_BYTES = 4 * 1024 * 1024
/** Limit for one GOP: a minute at 100 Mb/s is three quarters of this. */
const MAX_MDAT_BYTES = 2 ** 30
/** Four printable characters. Some of Apple's names begin with ©. */
export const BOX_TYPE = /^[\u0020-\u007e\u00a9]{4}$/

/**
 * box: a complete box with its header. mdat: the header only; its bytes follow as `payload` events, and `last` marks
 * the final one.
 */
export type BoxEvent =
  | { kind: 'box'; name: string; bytes: Uint8Array }
  | { kind: 'mdat'; header: Uint8Array; bytes: number }
  | { kind: 'payload'; bytes: Uint8Array; last: boolean }

/** Buffers at most one box other than mdat. Throws FormatError. */
export class BoxReader {
  #buffered: Uint8Array[] = []
  #bufferedBytes = 0
  #wanted = 8
  /** Remaining bytes of the current mdat. */
  #left = 0;

  *push(block: Uint8Array): Generator<BoxEvent> {
    for (let at = 0; at < block.length;) {
      if (this.#left > 0) {
        const bytes = block.subarray(at, at + this.#left)
        at += bytes.length
        this.#left -= bytes.length
        yield { kind: 'payload', bytes, last: this.#left === 0 }
        continue
      }
      const bytes = block.subarray(at, at + this.#wanted - this.#bufferedBytes)
      at += bytes.length
      this.#buffered.push(bytes)
      this.#bufferedBytes += bytes.length
      if (this.#bufferedBytes === this.#wanted) yield* this.#reached()
    }
  }

  end(): void {
    if (this.#left > 0 || this.#bufferedBytes > 0)
      throw new FormatError('cut off', 'The encoder’s stream ends in the middle of a box.')
  }

  *#reached(): Generator<BoxEvent> {
    const bytes = concatBytes(this.#buffered)
    this.#buffered = [bytes]
    const view = viewOf(bytes)
    const name = boxType(bytes, 4)
    const short = view.getUint32(0)
    if (short === 1 && bytes.length < 16) {
      this.#wanted = 16
      return
    }
    const header = short === 1 ? 16 : 8
    const size = short === 1 ? Number(view.getBigUint64(8)) : short
    const largest = name === 'mdat' ? MAX_MDAT_BYTES : MAX_BOX_BYTES
    if (!BOX_TYPE.test(name) || size < header || size > largest)
      throw new FormatError('damaged', `The encoder wrote a box with an invalid size of ${size} bytes.`)
    if (name !== 'mdat' && bytes.length < size) {
      this.#wanted = size
      return
    }
    this.#buffered = []
    this.#bufferedBytes = 0
    this.#wanted = 8
    if (name !== 'mdat') yield { kind: 'box', name, bytes }
    else {
      this.#left = size - header
      yield { kind: 'mdat', header: bytes, bytes: this.#left }
      if (this.#left === 0) yield { kind: 'payload', bytes: bytes.subarray(0, 0), last: true }
    }
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function boxType(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4))
}

/**
 * The boxes inside another one, from `from` on, each with its name and body. Throws where one extends past its parent.
 */
export function* children(bytes: Uint8Array, from: number): Generator<{ name: string; body: Uint8Array }> {
  const view = viewOf(bytes)
  for (let at = from; at + 8 <= bytes.length;) {
    const size = view.getUint32(at)
    if (size < 8 || at + size > bytes.length)
      throw new FormatError('damaged', 'A box is longer than the box that contains it.')
    yield { name: boxType(bytes, at + 4), body: bytes.subarray(at + 8, at + size) }
    at += size
  }
}

/**
 * The body of the box at a path of names, the first match of each; null where there is none. `bytes` begins with a
 * child.
 */
export function findBox(bytes: Uint8Array, ...path: string[]): Uint8Array | null {
  let inside: Uint8Array | null = bytes
  for (const name of path) {
    if (inside === null) return null
    inside = [...children(inside, 0)].find((child) => child.name === name)?.body ?? null
  }
  return inside
}

/** Like findBox, but throws where the box is missing. */
export function requireBox(bytes: Uint8Array, ...path: string[]): Uint8Array {
  const body = findBox(bytes, ...path)
  if (body === null) throw new FormatError('damaged', `The encoder wrote no ${path.join('/')}.`)
  return body
}
