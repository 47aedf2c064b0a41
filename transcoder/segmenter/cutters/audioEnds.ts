// In charge of: where each sound inside of a transport stream of ours ends.
// Not in charge of: cutting (tsCutter.ts), what follows from it (segmenter/segmentCheck.ts).
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
  readonly #sounds = new Map<number, AudioPosition | null>()

  /** `origin`: the clock at the presentation's first picture. */
  constructor(origin: number) {
    this.#origin = origin
  }

  /** The streams of the newest table; each stays the one that it was. */
  setStreams(streams: readonly ElementaryStream[]): void {
    for (const stream of streams)
      if (!isVideo(stream) && AUDIO_STREAM_TYPES.has(stream.type) && !this.#sounds.has(stream.pid))
        this.#sounds.set(stream.pid, null)
  }

  push(packet: Uint8Array): void {
    if (!isPayloadStart(packet)) return
    const sound = this.#sounds.get(pidOf(packet))
    if (sound === undefined) return
    const stamps = readPesTimestamps(payloadOf(packet))
    if (stamps === null) return
    const time = (sound?.time ?? 0) + ticksBetween(sound?.clock ?? this.#origin, stamps.pts)
    this.#sounds.set(pidOf(packet), {
      clock: stamps.pts,
      time,
      first: sound?.first ?? time,
      units: (sound?.units ?? 0) + 1,
    })
  }

  /** In ticks from the origin, in the order of the table; 0 for a sound of which nothing came. The last unit counts as the mean one. */
  get ends(): number[] {
    return [...this.#sounds.values()].map((sound) =>
      sound === null ? 0 : sound.time + (sound.units > 1 ? (sound.time - sound.first) / (sound.units - 1) : 0),
    )
  }
}
