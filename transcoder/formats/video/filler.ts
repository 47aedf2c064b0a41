// In charge of: filler data of H.264 (ITU-T H.264, 7.3.2.7), and how many bytes NAL units with length fields take in the
// stream with start codes, which encoders count.
// Not in charge of: how much filler is needed.

/** Bytes; the first one of an access unit has one more. */
export const START_CODE = 3
const FILLER = 12
const STOP = 0x80
/** Start code, header and stop bit. */
export const LEAST_FILLER = START_CODE + 2

/** A NAL unit that takes `bytes` with a start code; the one that is returned has a length field in its place. */
export function fillerUnit(bytes: number, lengthBytes: number): Uint8Array<ArrayBuffer> {
  const size = bytes - START_CODE
  if (bytes < LEAST_FILLER || size >= 2 ** (8 * lengthBytes)) throw new RangeError(`no filler has ${bytes} bytes`)
  const unit = new Uint8Array(lengthBytes + size).fill(0xff)
  for (let at = 0; at < lengthBytes; at++) unit[at] = Math.floor(size / 2 ** (8 * (lengthBytes - 1 - at))) & 0xff
  unit[lengthBytes] = FILLER
  unit[unit.length - 1] = STOP
  return unit
}

/** Counts NAL units with length fields, in pieces of any size. */
export class NalCounter {
  readonly #lengthBytes: number
  #skip = 0
  #length = 0
  #read = 0
  units = 0

  constructor(lengthBytes: number) {
    this.#lengthBytes = lengthBytes
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, bytes.length - at)
        this.#skip -= step
        at += step
        continue
      }
      this.#length = this.#length * 256 + bytes[at++]!
      this.#read += 1
      if (this.#read < this.#lengthBytes) continue
      this.units += 1
      this.#skip = this.#length
      this.#read = 0
      this.#length = 0
    }
  }
}
