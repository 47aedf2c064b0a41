// In charge of: the end time of each audio stream in a transport stream written by our encoder.
// Not in charge of: cutting (tsCutter.ts), checking the end times (segmenter/segmentCheck.ts).
import { readPesTimestamps, ticksBetween } from '../../formats/mpegts/clock.ts'
import { payloadOf, pidOf, isPayloadStart } from '../../formats/mpegts/packet.ts'
import { isVideo, type ElementaryStream } from '../../formats/mpegts/programTables.ts'

/** MPEG-1 and -2 audio, AAC with ADTS, AC-3 (ISO/IEC 13818-1 table 2-34, ATSC A/52 annex A). */
const AUDIO_STREAM_TYPES = new Set([0x03, 0x04, 0x0f, 0x81])

interface AudioPosition {
  /** The newest time stamp, as written and without wrapping. */
  clock: number
  time: number
  first: number
  units: number
}

export class AudioEnds {
  readonly #origin: number
  readonly #streams = new Map<number, AudioPosition | null>()

  /** `origin`: the clock at the presentation's first frame. */
  constructor(origin: number) {
    this.#origin = origin
  }

  /** Sets the streams of the newest table; streams that are known already are kept. */
  setStreams(streams: readonly ElementaryStream[]): void {
    for (const stream of streams)
      if (!isVideo(stream) && AUDIO_STREAM_TYPES.has(stream.type) && !this.#streams.has(stream.pid))
        this.#streams.set(stream.pid, null)
  }

  push(packet: Uint8Array): void {
    if (!isPayloadStart(packet)) return
    const position = this.#streams.get(pidOf(packet))
    if (position === undefined) return
    const stamps = readPesTimestamps(payloadOf(packet))
    if (stamps === null) return
    const time = (position?.time ?? 0) + ticksBetween(position?.clock ?? this.#origin, stamps.pts)
    this.#streams.set(pidOf(packet), {
      clock: stamps.pts,
      time,
      first: position?.first ?? time,
      units: (position?.units ?? 0) + 1,
    })
  }

  /**
   * In ticks from the origin, in the order of the table; 0 for an audio stream without data. The last unit is assumed
   * to have the mean duration.
   */
  get ends(): number[] {
    return [...this.#streams.values()].map((position) =>
      position === null
        ? 0
        : position.time + (position.units > 1 ? (position.time - position.first) / (position.units - 1) : 0),
    )
  }
}
