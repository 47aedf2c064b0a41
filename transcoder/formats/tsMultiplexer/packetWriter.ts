// In charge of: writing consecutive transport packets (ISO/IEC 13818-1, 2.4.3.2).
// Not in charge of: choosing the next one (multiplexer.ts).
import { wrapTicks } from '../mpegts/clock.ts'
import { PACKET_BYTES, SYNC_BYTE } from '../mpegts/packet.ts'

const BLOCK_BYTES = 512 * PACKET_BYTES
const STUFFING = 0xff
/** adaptation_field_length and the flags, followed by the PCR. */
const FIELD_BYTES = 2
const CLOCK_BYTES = 6
const HAS_CLOCK = 0x10
const RANDOM_ACCESS = 0x40

export interface PayloadPacket {
  pid: number
  counter: number
  /** The packet begins a PES packet. */
  begins: boolean
  isKey: boolean
  /** PCR in 27 MHz ticks; null = none. */
  clock: number | null
  /** Bytes available to send. */
  remaining: number
  copy: (target: Uint8Array, at: number, bytes: number) => void
}

export class PacketWriter {
  #block = new Uint8Array(BLOCK_BYTES)
  #at = 0
  #full: Uint8Array[] = []

  /** Writes as much of the payload as fits. Returns the number of bytes. */
  writePayload({ pid, counter, begins, isKey, clock, remaining, copy }: PayloadPacket): number {
    const [block, at] = this.#next()
    const wanted = clock !== null ? FIELD_BYTES + CLOCK_BYTES : isKey ? FIELD_BYTES : 0
    const bytes = Math.min(remaining, PACKET_BYTES - 4 - wanted)
    const field = PACKET_BYTES - 4 - bytes
    header(block, at, begins, pid, (field > 0 ? 0x30 : 0x10) | counter)
    if (field > 0) adaptation(block, at + 4, field, isKey, clock)
    copy(block, at + 4 + field, bytes)
    return bytes
  }

  /** Writes a PCR without payload, which does not advance the counter. */
  writePcr(pid: number, counter: number, clock: number): void {
    const [block, at] = this.#next()
    header(block, at, false, pid, 0x20 | counter)
    adaptation(block, at + 4, PACKET_BYTES - 4, false, clock)
  }

  /** Writes a packet of a section, with another counter. */
  copyPacket(packet: Uint8Array, counter: number): void {
    const [block, at] = this.#next()
    block.set(packet, at)
    block[at + 3] = (block[at + 3]! & 0xf0) | counter
  }

  writeNull(): void {
    const [block, at] = this.#next()
    header(block, at, false, 0x1fff, 0x10)
    block.fill(STUFFING, at + 4, at + PACKET_BYTES)
  }

  /** A block is complete. */
  get isFull(): boolean {
    return this.#full.length > 0
  }

  /** Returns the blocks completed since the last call. */
  takeBlocks(): Uint8Array[] {
    const parts = this.#full
    if (this.#at > 0) parts.push(this.#block.subarray(0, this.#at))
    this.#block = this.#block.subarray(this.#at)
    this.#at = 0
    this.#full = []
    return parts
  }

  #next(): [Uint8Array, number] {
    if (this.#at + PACKET_BYTES > this.#block.length) {
      if (this.#at > 0) this.#full.push(this.#block.subarray(0, this.#at))
      this.#block = new Uint8Array(BLOCK_BYTES)
      this.#at = 0
    }
    const at = this.#at
    this.#at += PACKET_BYTES
    return [this.#block, at]
  }
}

function header(block: Uint8Array, at: number, begins: boolean, pid: number, last: number): void {
  block[at] = SYNC_BYTE
  block[at + 1] = (begins ? 0x40 : 0) | (pid >> 8)
  block[at + 2] = pid & 0xff
  block[at + 3] = last
}

/** An adaptation field of that many bytes, including its length byte. */
function adaptation(block: Uint8Array, at: number, bytes: number, isKey: boolean, clock: number | null): void {
  block[at] = bytes - 1
  if (bytes === 1) return
  block[at + 1] = (isKey ? RANDOM_ACCESS : 0) | (clock === null ? 0 : HAS_CLOCK)
  let from = at + FIELD_BYTES
  if (clock !== null) {
    const base = wrapTicks(Math.floor(clock / 300))
    const extension = clock % 300
    block[from] = Math.floor(base / 2 ** 25)
    block[from + 1] = Math.floor(base / 2 ** 17) & 0xff
    block[from + 2] = Math.floor(base / 2 ** 9) & 0xff
    block[from + 3] = Math.floor(base / 2) & 0xff
    block[from + 4] = ((base % 2) << 7) | 0x7e | (extension >> 8)
    block[from + 5] = extension & 0xff
    from += CLOCK_BYTES
  }
  block.fill(STUFFING, from, at + bytes)
}
