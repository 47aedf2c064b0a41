// In charge of: start and end of each track in one fragmented MP4 segment of a source (ISO/IEC 14496-12, 8.8).
// Not in charge of: media missing between two segments (formats/mpegts/segmentTiming.ts), truncated boxes
// (mp4FileCheck.ts).
import { TICKS_PER_SECOND } from '../mpegts/clock.ts'
import type { StreamTiming } from '../mpegts/segmentTiming.ts'
import { FormatError } from '../formatError.ts'
import { BoxReader, children, findBox, boxType, viewOf } from './boxReader.ts'

interface Track {
  /** Ticks per second. */
  timescale: number
  isAudio: boolean
  /** Duration in ticks of samples for which a fragment states none. */
  duration: number
}

/**
 * The audio and video tracks of an initialisation section, by number. Empty where it cannot be read, and where it
 * contains the first fragments itself, as ffmpeg can write it: the timing of the segments alone is then incomplete.
 */
export type Tracks = ReadonlyMap<number, Track>

export function tracksOf(init: Uint8Array): Tracks {
  try {
    const moov = findBox(init, 'moov')
    if (moov === null || findBox(init, 'moof') !== null) return new Map()
    const extended = new Map(
      [...children(findBox(moov, 'mvex') ?? new Uint8Array(), 0)].flatMap(({ name, body }) =>
        name === 'trex' && body.length >= 16 ? [[viewOf(body).getUint32(4), viewOf(body).getUint32(12)] as const] : [],
      ),
    )
    return new Map(
      [...children(moov, 0)].flatMap(({ name, body }) => {
        const track = name === 'trak' ? trackOf(body) : null
        return track === null ? [] : [[track.id, { ...track, duration: extended.get(track.id) ?? 0 }] as const]
      }),
    )
  } catch (error) {
    if (error instanceof FormatError || error instanceof RangeError) return new Map()
    throw error
  }
}

function trackOf(trak: Uint8Array): { id: number; timescale: number; isAudio: boolean } | null {
  const [tkhd, mdhd, hdlr] = [findBox(trak, 'tkhd'), findBox(trak, 'mdia', 'mdhd'), findBox(trak, 'mdia', 'hdlr')]
  if (tkhd === null || mdhd === null || hdlr === null) return null
  const kind = boxType(hdlr, 8)
  const timescale = viewOf(mdhd).getUint32(mdhd[0] === 1 ? 20 : 12)
  if ((kind !== 'vide' && kind !== 'soun') || timescale === 0) return null
  return { id: viewOf(tkhd).getUint32(tkhd[0] === 1 ? 20 : 12), timescale, isAudio: kind === 'soun' }
}

interface TrackTiming {
  /** Times in ticks of the track. */
  first: number
  end: number
  step: number
}

/** Reads the headers of fragments from a stream of bytes. */
export class FragmentTimingReader {
  readonly #tracks: Tracks
  readonly #boxes = new BoxReader()
  readonly #timings = new Map<number, TrackTiming>()
  #isUnreadable = false

  constructor(tracks: Tracks) {
    this.#tracks = tracks
  }

  push(block: Uint8Array): void {
    if (this.#isUnreadable) return
    try {
      for (const event of this.#boxes.push(block))
        if (event.kind === 'box' && event.name === 'moof') this.#read(event.bytes)
    } catch (error) {
      // Other checks report the format and damage. This reader only stops measuring.
      if (!(error instanceof FormatError || error instanceof RangeError)) throw error
      this.#isUnreadable = true
    }
  }

  /** null = the timing is unknown. */
  end(): Map<number, StreamTiming> | null {
    if (this.#isUnreadable || this.#tracks.size === 0) return null
    return new Map(
      [...this.#timings].map(([id, { first, end, step }]) => {
        const { timescale, isAudio } = this.#tracks.get(id)!
        const ticks = (units: number): number => Math.round((units * TICKS_PER_SECOND) / timescale)
        const last = ticks(end) - ticks(step)
        return [
          id,
          {
            first: ticks(first),
            last,
            maxInterval: ticks(step),
            lastDuration: ticks(step),
            isAudio,
            isUnitIncomplete: false,
            startsMidUnit: false,
            counters: null,
          },
        ]
      }),
    )
  }

  #read(moof: Uint8Array): void {
    for (const { name, body: traf } of children(moof, 8)) {
      if (name !== 'traf') continue
      const [tfhd, tfdt] = [findBox(traf, 'tfhd'), findBox(traf, 'tfdt')]
      const id = tfhd === null ? null : viewOf(tfhd).getUint32(4)
      const track = id === null ? undefined : this.#tracks.get(id)
      if (tfhd === null || tfdt === null || id === null || track === undefined) continue
      const view = viewOf(tfdt)
      const first = tfdt[0] === 1 ? Number(view.getBigUint64(4)) : view.getUint32(4)
      const { sum, last } = durationOf(traf, defaultOf(tfhd) ?? track.duration)
      const seen = this.#timings.get(id)
      this.#timings.set(id, { first: Math.min(seen?.first ?? first, first), end: first + sum, step: last })
    }
  }
}

/** default_sample_duration of this fragment; null where it states none. */
function defaultOf(tfhd: Uint8Array): number | null {
  const flags = viewOf(tfhd).getUint32(0) & 0xffffff
  if ((flags & 0x8) === 0) return null
  // base_data_offset has eight bytes, sample_description_index four.
  return viewOf(tfhd).getUint32(8 + ((flags & 0x1) === 0 ? 0 : 8) + ((flags & 0x2) === 0 ? 0 : 4))
}

/** Duration of all samples of a fragment, and of its last one, in ticks. */
function durationOf(traf: Uint8Array, usual: number): { sum: number; last: number } {
  let [sum, last] = [0, 0]
  for (const { name, body } of children(traf, 0)) {
    if (name !== 'trun') continue
    const view = viewOf(body)
    const flags = view.getUint32(0) & 0xffffff
    const count = view.getUint32(4)
    const each = [0x100, 0x200, 0x400, 0x800].filter((bit) => (flags & bit) !== 0).length * 4
    const from = 8 + ((flags & 0x1) === 0 ? 0 : 4) + ((flags & 0x4) === 0 ? 0 : 4)
    if (count === 0) continue
    if ((flags & 0x100) === 0) {
      sum += count * usual
      last = usual
      continue
    }
    // A sample count larger than its box throws a RangeError.
    for (let n = 0; n < count; n++) sum += last = view.getUint32(from + n * each)
  }
  return { sum, last }
}
