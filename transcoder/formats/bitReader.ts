// In charge of: reading fields of any number of bits, most significant first.
// Not in charge of: their meaning.

export class BitReader {
  readonly #bytes: Uint8Array
  #at: number

  /** `start` in bytes. */
  constructor(bytes: Uint8Array, start = 0) {
    this.#bytes = bytes
    this.#at = start * 8
  }

  /** Position in whole bytes. */
  get byte(): number {
    return this.#at >> 3
  }

  /** The first whole byte of which nothing was read. */
  get end(): number {
    return (this.#at + 7) >> 3
  }

  /** Up to 53 bits. Throws RangeError past the end, so that no field gets an invented value. */
  read(bits: number): number {
    let value = 0
    for (let left = bits; left > 0; left--, this.#at++) {
      const byte = this.#bytes[this.#at >> 3]
      if (byte === undefined) throw new RangeError('a section ends in the middle of a field')
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1)
    }
    return value
  }

  flag(): boolean {
    return this.read(1) === 1
  }

  skip(bits: number): void {
    this.#at += bits
  }
}
