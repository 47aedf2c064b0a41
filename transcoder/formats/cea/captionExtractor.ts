// In charge of: the caption bytes in a transport stream of one video, frame by frame in presentation order.
// Not in charge of: decoding them (captionDecoder.ts), producing the stream (plan/argv/segmentArgs.ts).
import { concatBytes } from '../concatBytes.ts'
import { readPesTimestamps, ticksBetween, TICKS_PER_SECOND, type Timestamps } from '../mpegts/clock.ts'
import { videoCodecOf, type VideoCodec } from '../codecs.ts'
import { PacketReader, payloadOf, pidOf, isPayloadStart } from '../mpegts/packet.ts'
import { SectionAssembler } from '../mpegts/section.ts'
import { readPat, readPmt } from '../mpegts/programTables.ts'
import { readUserData } from '../video/userData.ts'

export interface CaptionedFrame {
  /** Seconds; 0 = the clock's `origin`. Negative for frames before it. */
  time: number
  /** Triplets as stored in the frame; may be empty. */
  bytes: Uint8Array
}

/** Limit for one coded frame. A larger unit cannot be a frame. */
const MAX_FRAME_BYTES = 32 * 1024 * 1024
/** H.264 and HEVC reorder 16 frames at most, of two fields each. */
const REORDER_DEPTH = 64

export class CaptionExtractor {
  readonly #packets = new PacketReader()
  readonly #pat = new SectionAssembler()
  #pmt: { pid: number; sections: SectionAssembler } | null = null
  #video: { pid: number; codec: VideoCodec } | null = null
  #parts: Uint8Array[] = []
  #bytes = 0
  /** Frames that may be presented after one still to be decoded, by time. */
  readonly #reorderBuffer: CaptionedFrame[] = []
  #newest: { clock: number; ticks: number }

  /** `origin`: 90 kHz ticks at presentation time 0. */
  constructor(origin: number) {
    this.#newest = { clock: origin, ticks: 0 }
  }

  push(block: Uint8Array): CaptionedFrame[] {
    return [...this.#packets.push(block)].flatMap((packet) => this.#packet(packet))
  }

  end(): CaptionedFrame[] {
    const last = [...this.#packets.end()].flatMap((packet) => this.#packet(packet))
    return [...last, ...this.#finishFrame(), ...this.#reorderBuffer.splice(0)]
  }

  #packet(packet: Uint8Array): CaptionedFrame[] {
    const pid = pidOf(packet)
    if (pid === this.#video?.pid) return this.#media(packet)
    if (pid === 0) for (const section of this.#pat.push(packet)) this.#programs(section)
    else if (pid === this.#pmt?.pid) for (const section of this.#pmt.sections.push(packet)) this.#map(section)
    return []
  }

  #programs(section: Uint8Array): void {
    const [pid] = readPat(section)?.values() ?? []
    if (pid !== undefined && pid !== this.#pmt?.pid) this.#pmt = { pid, sections: new SectionAssembler() }
  }

  #map(section: Uint8Array): void {
    for (const { pid, type } of readPmt(section)?.streams ?? []) {
      const codec = videoCodecOf(type)
      if (codec !== null) this.#video = { pid, codec }
    }
  }

  #media(packet: Uint8Array): CaptionedFrame[] {
    const done = isPayloadStart(packet) ? this.#finishFrame() : []
    const payload = payloadOf(packet)
    this.#bytes += payload.length
    if (this.#bytes <= MAX_FRAME_BYTES) this.#parts.push(payload)
    return done
  }

  /** Finishes the current frame. Returns the frames whose presentation order is now final. */
  #finishFrame(): CaptionedFrame[] {
    const unit = concatBytes(this.#parts.splice(0))
    this.#bytes = 0
    const stamps = readPesTimestamps(unit)
    if (stamps === null || this.#video === null) return []
    const { captions } = readUserData(unit.subarray(9 + unit[8]!), this.#video.codec)
    const decoded = this.#ticks(stamps)
    const time = (decoded + ticksBetween(stamps.dts, stamps.pts)) / TICKS_PER_SECOND
    const later = this.#reorderBuffer.findIndex((each) => each.time > time)
    this.#reorderBuffer.splice(later < 0 ? this.#reorderBuffer.length : later, 0, {
      time,
      bytes: concatBytes(captions),
    })
    // Frames decoded from now on are presented at their own decoding time at the earliest.
    const ready = this.#reorderBuffer.findIndex((each) => each.time * TICKS_PER_SECOND > decoded)
    const count = Math.max(ready < 0 ? this.#reorderBuffer.length : ready, this.#reorderBuffer.length - REORDER_DEPTH)
    return this.#reorderBuffer.splice(0, count)
  }

  /** Decoding time on a clock that does not wrap. */
  #ticks({ dts }: Timestamps): number {
    const ticks = this.#newest.ticks + ticksBetween(this.#newest.clock, dts)
    this.#newest = { clock: dts, ticks }
    return ticks
  }
}
