// In charge of: the packets of CEA-708 in a video's frames (CTA-708-E, 4.4 and 5), as they are sent again in frames of
// another rate: whole, in their order, none before its time.
// Not in charge of: their services (captionDecoder.ts), the frames (captionFrames.ts).

/** Two bytes of a packet. */
export interface SentService {
  /** Seconds: the packet is complete from then on. */
  time: number
  isStart: boolean
  pair: number
}

/** 9600 bits per second, without CEA-608. */
const TRIPLETS_PER_SECOND = 540
/** What a stream sends too fast is late; from here on it is left out. */
const MAX_LATE_SECONDS = 10
/** 64 MB; four hours without a pause. */
const MAX_TRIPLETS = 8_000_000
const TICKS_PER_SECOND = 90_000
const [PAIR, START] = [0x1_0000, 0x2_0000]

export class SentPackets {
  /** `ticks * 0x20000 + isStart * 0x10000 + pair`: whole numbers below 2^53. */
  readonly #sent: number[] = []
  #packet: number[] = []
  #left = 0
  #next = 0

  /** A triplet whose cc_valid is set, of cc_type 3 (`isStart`) or 2. */
  push(time: number, isStart: boolean, first: number, second: number): void {
    if (isStart) {
      // A packet that its source left unfinished.
      this.#finish(time)
      this.#left = (first & 0x3f) === 0 ? 64 : first & 0x3f
    }
    if (this.#left === 0) return
    this.#packet.push((isStart ? PAIR : 0) + (first << 8) + second)
    this.#left -= 1
    if (this.#left === 0) this.#finish(time)
  }

  *[Symbol.iterator](): Generator<SentService> {
    for (const sent of this.#sent)
      yield {
        time: Math.floor(sent / START) / TICKS_PER_SECOND,
        isStart: sent % START >= PAIR,
        pair: sent % PAIR,
      }
  }

  /** One packet in two frames has nothing between its parts but CEA-608: decoders take padding for its end. */
  #finish(time: number): void {
    const packet = this.#packet
    this.#packet = []
    const begin = Math.max(this.#next, time)
    if (packet.length === 0 || begin - time > MAX_LATE_SECONDS) return
    if (this.#sent.length + packet.length > MAX_TRIPLETS) return
    this.#next = begin + packet.length / TRIPLETS_PER_SECOND
    const ticks = Math.round(time * TICKS_PER_SECOND)
    for (const each of packet) this.#sent.push(ticks * START + each)
  }
}
