// In charge of: assembling packets of CEA-708 from caption bytes, and the blocks of each service in them
// (ANSI/CTA-708-E 5 and 6).
// Not in charge of: the commands of a service (service708.ts).

export interface ServiceBlock {
  /** 1 to 63. */
  service: number
  bytes: readonly number[]
}

/** Assembles packets from several frames, in presentation order. */
export class Packets708 {
  #bytes: number[] = []
  #length = 0

  /** The beginning of a packet (cc_type 3). Of an unfinished packet before it, the available part is read. */
  start(first: number, second: number): ServiceBlock[] {
    const before = this.#read()
    const coded = first & 0x3f
    this.#length = coded === 0 ? 128 : coded * 2
    return [...before, ...this.#add(first, second)]
  }

  /** The continuation of a packet (cc_type 2). */
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
      // Service 0 is padding and ends the packet.
      if (service === 0) break
      const from = at + (extended ? 2 : 1)
      if (size > 0) blocks.push({ service, bytes: bytes.slice(from, from + size) })
      at = from + size
    }
    return blocks
  }
}
