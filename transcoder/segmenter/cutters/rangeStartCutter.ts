// In charge of: the first access unit of a chunk of a constant bitrate, as one of a stream that began before it.
// Not in charge of: what changes in it (formats/video/pictureTiming.ts), the end of the chunk (rangeEndCutter.ts).
import { concatBytes } from '../../formats/concatBytes.ts'
import { FormatError } from '../../formats/formatError.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'
import { readInit, type TrackInfo } from '../../formats/mp4/initSegment.ts'
import { readFragment, writeFragment, type Fragment } from '../../formats/mp4/movieFragment.ts'
import { removalDelayBits } from '../../formats/video/hrdLengths.ts'
import { continuedUnit } from '../../formats/video/pictureTiming.ts'
import type { CutEvent, Cutter } from './cutter.ts'

export class ChunkStartCutter implements Cutter {
  readonly #cutter: Cutter
  readonly #ticks: number
  readonly #reader = new BoxReader()
  #track: TrackInfo | null = null
  #moof: Uint8Array | null = null
  /** Until the first sample is complete. */
  #first: { fragment: Fragment; held: Uint8Array[]; left: number } | null = null
  #isChanged = false

  /** `ticks`: clock ticks from the last key frame before the chunk to its first frame. */
  constructor(cutter: Cutter, ticks: number) {
    this.#cutter = cutter
    this.#ticks = ticks
  }

  push(chunk: Uint8Array): CutEvent[] {
    const passed: Uint8Array[] = []
    for (const event of this.#reader.push(chunk)) {
      if (event.kind === 'box') passed.push(...this.#box(event.name, event.bytes))
      else if (event.kind === 'mdat') passed.push(...this.#mdat(event.header))
      else passed.push(...this.#payload(event.bytes))
    }
    return passed.length === 0 ? [] : this.#cutter.push(concatBytes(passed))
  }

  end(videoSegments: number | null): CutEvent[] {
    this.#reader.end()
    return this.#cutter.end(videoSegments)
  }

  #box(name: string, bytes: Uint8Array): Uint8Array[] {
    if (name === 'moov') this.#track = readInit(bytes)
    if (name !== 'moof' || this.#isChanged) return [bytes]
    this.#moof = bytes
    return []
  }

  #mdat(header: Uint8Array): Uint8Array[] {
    if (this.#isChanged) return [header]
    if (this.#moof === null || this.#track === null)
      throw new FormatError('damaged', 'The encoder wrote an mdat box without a moof box.')
    const fragment = readFragment(this.#moof, this.#track.defaults, header.length)
    this.#first = { fragment, held: [], left: fragment.samples[0]!.size }
    return []
  }

  #payload(bytes: Uint8Array): Uint8Array[] {
    const first = this.#first
    if (first === null) return [bytes]
    const held = bytes.subarray(0, first.left)
    first.left -= held.length
    first.held.push(Uint8Array.from(held))
    if (first.left > 0) return []
    this.#first = null
    this.#isChanged = true
    return [...this.#changed(first.fragment, concatBytes(first.held)), bytes.subarray(held.length)]
  }

  #changed({ decodeTime, samples }: Fragment, unit: Uint8Array): Uint8Array[] {
    const { id, nalLengthBytes, codecPrivateData } = this.#track!
    const bits = removalDelayBits(codecPrivateData)
    // The field counts modulo its size.
    const changed = continuedUnit(unit, nalLengthBytes, { ticks: this.#ticks % 2 ** bits, bits })
    const fragment = { decodeTime, samples: samples.with(0, { ...samples[0]!, size: changed.length }) }
    return [writeFragment({ sequence: 1, trackId: id, fragment, time: 'tfdt' }), changed]
  }
}
