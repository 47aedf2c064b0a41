// In charge of: packets of CEA-708 out of caption bytes, and the blocks of each service in them (ANSI/CTA-708-E 5 and 6).
// Not in charge of: what services say (service708.ts).

export interface ServiceBlock {
  /** 1 to 63. */
  service: number
  bytes: readonly number[]
}

/** Puts packets together over pictures, in the order of presentation. */
export class Packets708 {
  #bytes: number[] = []
  #length = 0

  /** The beginning of a packet (cc_type 3). What is left of one before is read as far as it goes. */
  start(first: number, second: number): ServiceBlock[] {
    const before = this.#read()
    const coded = first & 0x3f
    this.#length = coded === 0 ? 128 : coded * 2
    return [...before, ...this.#add(first, second)]
  }

  /** More of it (cc_type 2). */
  more(first: number, second: number): ServiceBlock[] {
    return this.#length === 0 ? [] : this.#add(first, second)
  }

  #add(first: number, second: number): ServiceBlock[] {
    this.#bytes.push(first, second)
    return this.#bytes.length >= this.#length ? this.#read() : []
  }

  #read(): ServiceBlock[] {
    const bytes = this.#bytes
    this.#bytes = []
    this.#length = 0
    const blocks: ServiceBlock[] = []
    for (let at = 1; at < bytes.length;) {
      const size = bytes[at]! & 0x1f
      const short = bytes[at]! >> 5
      const extended = short === 7 && size > 0
      const service = extended ? (bytes[at + 1] ?? 0) & 0x3f : short
      // Service 0 is padding: nothing follows it.
      if (service === 0) break
      const from = at + (extended ? 2 : 1)
      if (size > 0) blocks.push({ service, bytes: bytes.slice(from, from + size) })
      at = from + size
    }
    return blocks
  }
}
