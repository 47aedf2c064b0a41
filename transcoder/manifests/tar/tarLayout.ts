// In charge of: the position of each member in the tar of a presentation.
// Not in charge of: headers and padding (contract/formats/tarHeader.ts), the members' bytes, uploading
// (transcoder/segmenter).
import { TAR_END_BYTES, tarHeader, tarPadding } from '#contract/formats/tarHeader.ts'
import type { ByteRange } from '../presentation/presentation.ts'

/** 1980-01-01: the same in every run. tar warns of earlier dates. */
const TIME = 315_532_800

export class TarLayout {
  readonly ranges = new Map<string, ByteRange>()
  #at = 0

  /** Bytes of the tar so far. */
  get bytes(): number {
    return this.#at
  }

  /** The header before a member's bytes. `size` in bytes. Throws RangeError for a name that already exists. */
  header(path: string, size: number): Uint8Array {
    if (this.ranges.has(path)) throw new RangeError(`the tar already contains ${path}`)
    const bytes = tarHeader({ path, size, modified: TIME })
    this.ranges.set(path, { offset: this.#at + bytes.length, bytes: size })
    this.#at += bytes.length + size + tarPadding(size)
    return bytes
  }

  /** The padding after a member's bytes. */
  padding(size: number): Uint8Array {
    return new Uint8Array(tarPadding(size))
  }

  end(): Uint8Array {
    this.#at += TAR_END_BYTES
    return new Uint8Array(TAR_END_BYTES)
  }
}
