// In charge of: splitting a byte stream of consecutive JPEGs by their markers (ITU-T T.81, annex B).
// Not in charge of: their content.
import { concatBytes } from './concatBytes.ts'
import { FormatError } from './formatError.ts'

const MARKER = 0xff
const START = 0xd8
const END = 0xd9
const SCAN = 0xda
/** Bytes; far larger than any sheet or poster of this service. */
const LARGEST = 16 * 1024 * 1024

export class JpegSplitter {
  readonly #largest: number
  #bytes: Uint8Array = new Uint8Array(0)
  /** The bytes before this position have been parsed. */
  #at = 0
  #inScan = false

  /** `largest`: bytes of one image. */
  constructor(largest: number = LARGEST) {
    this.#largest = largest
  }

  /** Returns the images that are now complete. Throws FormatError for anything but JPEG. */
  push(block: Uint8Array): Uint8Array[] {
    this.#bytes = concatBytes([this.#bytes, block])
    const pictures: Uint8Array[] = []
    for (let code = this.#next(); code !== null; code = this.#next()) {
      if (code !== END) continue
      pictures.push(Uint8Array.from(this.#bytes.subarray(0, this.#at)))
      this.#bytes = this.#bytes.subarray(this.#at)
      this.#at = 0
    }
    if (this.#bytes.length > this.#largest) throw new FormatError('damaged', 'A JPEG exceeds its maximum size.')
    return pictures
  }

  /** Throws FormatError where an image is incomplete. */
  end(): void {
    if (this.#bytes.length > 0) throw new FormatError('cut off', 'The last JPEG is truncated.')
  }

  /** Moves past the next marker and its segment. Returns the marker's code; null = more bytes are needed. */
  #next(): number | null {
    const bytes = this.#bytes
    if (this.#inScan && !this.#scanEnds()) return null
    const code = bytes[this.#at + 1]
    if (code === undefined) return null
    if (bytes[this.#at] !== MARKER || (this.#at === 0) !== (code === START))
      throw new FormatError('damaged', 'The data is not a JPEG.')
    const isAlone = code === START || code === END
    if (!isAlone && this.#at + 4 > bytes.length) return null
    const length = isAlone ? 0 : (bytes[this.#at + 2]! << 8) | bytes[this.#at + 3]!
    if (this.#at + 2 + length > bytes.length) return null
    this.#at += 2 + length
    this.#inScan = code === SCAN
    return code
  }

  /** B.1.1.5: in coded data, ff followed by neither 0 nor a restart marker begins the next segment. */
  #scanEnds(): boolean {
    const bytes = this.#bytes
    for (;;) {
      const found = bytes.indexOf(MARKER, this.#at)
      this.#at = found < 0 ? bytes.length : found
      const code = bytes[this.#at + 1]
      if (code === undefined) return false
      if (code !== 0 && (code < 0xd0 || code > 0xd7)) return true
      this.#at += 2
    }
  }
}
