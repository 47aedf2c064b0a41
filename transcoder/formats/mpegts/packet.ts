// In charge of: transport packets: finding them in a byte stream, their header, their payload (ISO/IEC 13818-1, 2.4.3).
// Not in charge of: the payload's content (section.ts, clock.ts).

export const PACKET_BYTES = 188
export const SYNC_BYTE = 0x47
/** PID of the program association table. */
export const PAT_PID = 0
export const NULL_PID = 0x1fff

/**
 * Bytes from one packet to the next: plain, with a time stamp before each packet (M2TS), with error correction after
 * it.
 */
const STRIDES = [188, 192, 204] as const
const MAX_STRIDE = 204
/** Consecutive sync bytes that identify a stream. Random data matches at one in 2^32 positions. */
const SYNC_CHECKS = 4

export function pidOf(packet: Uint8Array): number {
  return ((packet[1]! & 0x1f) << 8) | packet[2]!
}

/** payload_unit_start_indicator. */
export function isPayloadStart(packet: Uint8Array): boolean {
  return (packet[1]! & 0x40) !== 0
}

export function continuityCounter(packet: Uint8Array): number {
  return packet[3]! & 15
}

/** discontinuity_indicator of the adaptation field: the counter may jump here. */
export function isDiscontinuity(packet: Uint8Array): boolean {
  return (packet[3]! & 0x20) !== 0 && packet[4]! > 0 && (packet[5]! & 0x80) !== 0
}

/** Empty where there is no payload, where it is scrambled, or where the packet is marked as damaged. */
export function payloadOf(packet: Uint8Array): Uint8Array {
  const readable = (packet[1]! & 0x80) === 0 && (packet[3]! & 0xc0) === 0 && (packet[3]! & 0x10) !== 0
  const start = (packet[3]! & 0x20) === 0 ? 4 : 5 + packet[4]!
  return readable && start < PACKET_BYTES ? packet.subarray(start, PACKET_BYTES) : packet.subarray(0, 0)
}

/**
 * Splits a byte stream into packets and resynchronises after invalid data. Buffers less than the bytes of one sync
 * check.
 */
export class PacketReader {
  #buffered: Uint8Array = new Uint8Array(0)
  #stride: number | null = null
  /** Bytes between two packets that have not yet arrived (strides of 192 and 204). */
  #gap = 0
  /** Position of the first buffered byte in the stream. */
  #start = 0
  #position = 0

  /** Bytes of the stream before the packet that was returned last. */
  get position(): number {
    return this.#position
  }

  /** Bytes of the stream that hold no packet which is still to be returned. Not during `push`. */
  get taken(): number {
    return this.#start
  }

  *push(block: Uint8Array): Generator<Uint8Array> {
    const bytes = this.#buffered.length === 0 ? block : join(this.#buffered, block)
    let at = this.#gap
    while (at < bytes.length) {
      if (this.#stride !== null && bytes[at] === SYNC_BYTE) {
        if (at + PACKET_BYTES > bytes.length) break
        this.#position = this.#start + at
        yield bytes.subarray(at, at + PACKET_BYTES)
        at += this.#stride
        continue
      }
      const found = findSync(bytes, at)
      this.#stride = found?.stride ?? null
      at = found?.at ?? Math.max(at, bytes.length - SYNC_CHECKS * MAX_STRIDE)
      if (found === null) break
    }
    this.#gap = Math.max(0, at - bytes.length)
    this.#start += Math.min(at, bytes.length)
    this.#buffered = Uint8Array.from(bytes.subarray(at))
  }

  /** The remaining packets: a stream may be too short for the sync check. */
  *end(): Generator<Uint8Array> {
    const buffered = this.#buffered
    for (
      let at = Math.max(0, buffered.indexOf(SYNC_BYTE));
      buffered[at] === SYNC_BYTE && at + PACKET_BYTES <= buffered.length;
    ) {
      this.#position = this.#start + at
      yield buffered.subarray(at, at + PACKET_BYTES)
      at += this.#stride ?? PACKET_BYTES
    }
    this.#buffered = new Uint8Array(0)
  }
}

function findSync(bytes: Uint8Array, from: number): { at: number; stride: number } | null {
  for (let at = from; ; at++) {
    at = bytes.indexOf(SYNC_BYTE, at)
    if (at === -1 || at + SYNC_CHECKS * PACKET_BYTES > bytes.length) return null
    for (const stride of STRIDES) {
      if (at + (SYNC_CHECKS - 1) * stride >= bytes.length) continue
      let agreed = 1
      while (agreed < SYNC_CHECKS && bytes[at + agreed * stride] === SYNC_BYTE) agreed += 1
      if (agreed === SYNC_CHECKS) return { at, stride }
    }
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
