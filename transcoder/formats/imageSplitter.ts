// In charge of: splitting a byte stream of consecutive images of one format.
// Not in charge of: JPEG (jpegSplitter.ts), the content of images.
import { concatBytes } from './concatBytes.ts'
import { FormatError } from './formatError.ts'
import { JpegSplitter } from './jpegSplitter.ts'

export interface ImageSplitter {
  /** Returns the images that are now complete. Throws FormatError for anything else. */
  push(block: Uint8Array): Uint8Array[]
  /** Throws FormatError where an image is incomplete. */
  end(): void
}

/** Bytes of one image: a still of the largest size, hardly compressed. */
const LARGEST = 256 * 1024 * 1024

export function imageSplitter(format: 'jpeg' | 'webp' | 'png'): ImageSplitter {
  if (format === 'jpeg') return new JpegSplitter(LARGEST)
  return new LengthSplitter(format === 'webp' ? webpLength : pngLength)
}

/** Images whose length follows from their headers. */
class LengthSplitter implements ImageSplitter {
  readonly #lengthOf: (bytes: Uint8Array) => number | null
  #blocks: Uint8Array[] = []
  #bytes = 0
  /** Bytes of the image that has begun; null = not known yet. */
  #length: number | null = null

  constructor(lengthOf: (bytes: Uint8Array) => number | null) {
    this.#lengthOf = lengthOf
  }

  push(block: Uint8Array): Uint8Array[] {
    this.#blocks.push(block)
    this.#bytes += block.length
    const images: Uint8Array[] = []
    for (;;) {
      if (this.#length === null || this.#length <= this.#bytes) this.#blocks = [concatBytes(this.#blocks)]
      const [all = new Uint8Array(0)] = this.#blocks
      this.#length ??= this.#lengthOf(all)
      if (this.#length !== null && this.#length > LARGEST)
        throw new FormatError('damaged', 'An image exceeds its maximum size.')
      if (this.#length === null || this.#length > this.#bytes) return images
      images.push(all.slice(0, this.#length))
      this.#blocks = [all.subarray(this.#length)]
      this.#bytes -= this.#length
      this.#length = null
    }
  }

  end(): void {
    if (this.#bytes > 0) throw new FormatError('cut off', 'The last image is truncated.')
  }
}

/** RIFF: the bytes after the first eight. */
function webpLength(bytes: Uint8Array): number | null {
  if (bytes.length < 12) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  if (view.getUint32(0) !== 0x52_49_46_46 || view.getUint32(8) !== 0x57_45_42_50)
    throw new FormatError('damaged', 'The data is not WebP.')
  const length = view.getUint32(4, true)
  return 8 + length + (length % 2)
}

const PNG_SIGNATURE = 8
const IEND = 0x49_45_4e_44

/** Chunks of length, type, data and CRC, up to IEND. Null = the end has not arrived. */
function pngLength(bytes: Uint8Array): number | null {
  if (bytes.length < PNG_SIGNATURE) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  if (view.getUint32(0) !== 0x89_50_4e_47) throw new FormatError('damaged', 'The data is not PNG.')
  let at = PNG_SIGNATURE
  while (at + 8 <= bytes.length) {
    const next = at + 12 + view.getUint32(at)
    if (next > LARGEST) throw new FormatError('damaged', 'An image exceeds its maximum size.')
    if (view.getUint32(at + 4) === IEND) return next
    at = next
  }
  return null
}
