// In charge of: assembling the sections of one PID from packets, and splitting a section into packets (ISO/IEC 13818-1,
// 2.4.4).
// Not in charge of: their content (programTables.ts, spliceInfo.ts).
import { continuityCounter, isDiscontinuity, PACKET_BYTES, payloadOf, isPayloadStart } from './packet.ts'

/** section_length has 12 bits. Private sections may use up to 4093. */
const MAX_SECTION_BYTES = 4096
const STUFFING = 0xff

/** Assembles the sections of one PID. Damaged ones are returned as well: the caller checks the CRC. */
export class SectionAssembler {
  /** Bytes of the current section; null = waiting for a packet in which one starts. */
  #bytes: number[] | null = null
  #counter: number | null = null
  #last: Uint8Array = new Uint8Array(0)

  push(packet: Uint8Array): Uint8Array[] {
    const payload = payloadOf(packet)
    if (payload.length === 0) return []
    const counter = continuityCounter(packet)
    const expected = this.#counter === null ? counter : (this.#counter + 1) & 15
    // 2.4.3.3: a packet may be sent twice. Another one with its counter begins another recording.
    const isSame = counter === this.#counter && payload.every((byte, at) => byte === this.#last[at])
    if (isSame && !isDiscontinuity(packet)) return []
    this.#last = Uint8Array.from(payload)
    if (counter !== expected) this.#bytes = null
    this.#counter = counter

    const sections: Uint8Array[] = []
    if (!isPayloadStart(packet)) {
      this.#take(payload, sections)
      return sections
    }
    // 2.4.4.2: pointer_field is the number of bytes that still belong to the previous section.
    const start = 1 + payload[0]!
    this.#take(payload.subarray(1, start), sections)
    this.#bytes = []
    this.#take(payload.subarray(start), sections)
    return sections
  }

  #take(bytes: Uint8Array, sections: Uint8Array[]): void {
    if (this.#bytes === null) return
    for (const byte of bytes) {
      // 2.4.4: a section is followed by another one, or by stuffing to the end of the packet.
      if (this.#bytes.length === 0 && byte === STUFFING) {
        this.#bytes = null
        return
      }
      this.#bytes.push(byte)
      if (this.#bytes.length < 3) continue
      const length = 3 + (((this.#bytes[1]! & 15) << 8) | this.#bytes[2]!)
      if (length > MAX_SECTION_BYTES) {
        this.#bytes = null
        return
      }
      if (this.#bytes.length < length) continue
      sections.push(Uint8Array.from(this.#bytes))
      this.#bytes = []
    }
  }
}

/** One section in packets of its own, stuffed to the end. Their counters start at `counter`. */
export function toPackets(section: Uint8Array, pid: number, counter: number): Uint8Array[] {
  const packets: Uint8Array[] = []
  for (let at = 0; at < section.length;) {
    const first = at === 0
    const packet = new Uint8Array(PACKET_BYTES).fill(STUFFING)
    packet.set([0x47, (first ? 0x40 : 0) | (pid >> 8), pid & 0xff, 0x10 | ((counter + packets.length) & 15)])
    if (first) packet[4] = 0
    const start = first ? 5 : 4
    const part = section.subarray(at, at + PACKET_BYTES - start)
    packet.set(part, start)
    packets.push(packet)
    at += part.length
  }
  return packets
}
