// In charge of: the end of a chunk of a constant bitrate: the frames that were encoded after it are dropped. Filler
// brings it to the number of bytes with which the buffer is as full as the next chunk expects it.
// Not in charge of: how many bytes these are (plan/video/rangeBuffer.ts), segments (cmafVideoCutter.ts).
import type { ChunkEnd } from '../../plan/video/rangeBuffer.ts'
import { concatBytes } from '../../formats/concatBytes.ts'
import { FormatError } from '../../formats/formatError.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'
import { readInit, type TrackInfo } from '../../formats/mp4/initSegment.ts'
import { readFragment, writeFragment, type Fragment } from '../../formats/mp4/movieFragment.ts'
import { fillerUnit, LEAST_FILLER, NalCounter, START_CODE } from '../../formats/video/filler.ts'
import { missingKeyFrame } from './cmafVideoCutter.ts'
import type { CutEvent, Cutter } from './cutter.ts'

/** The last fragment of the chunk. Its last sample becomes a fragment of its own: only that one is held back. */
interface LastFragment {
  fragment: Fragment
  /** Bytes before the last sample that are still to come. */
  before: number
  held: Uint8Array[]
}

export class ChunkEndCutter implements Cutter {
  readonly #cutter: Cutter
  readonly #end: ChunkEnd
  readonly #reader = new BoxReader()
  #track: TrackInfo | null = null
  #counter: NalCounter | null = null
  #moof: Uint8Array | null = null
  #last: LastFragment | null = null
  #frames = 0
  #bytes = 0
  /** Bytes by which the chunk is too long; 0 = it ends as it should. Valid after the end. */
  overrun = 0

  constructor(cutter: Cutter, end: ChunkEnd) {
    this.#cutter = cutter
    this.#end = end
  }

  push(chunk: Uint8Array): CutEvent[] {
    const passed: Uint8Array[] = []
    for (const event of this.#reader.push(chunk)) {
      if (event.kind === 'box') passed.push(...this.#box(event.name, event.bytes))
      else if (this.#frames >= this.#end.frames && this.#last === null) this.#moof = null
      else if (event.kind === 'mdat') passed.push(...this.#mdat(event.header, event.bytes))
      else passed.push(...this.#payload(event.bytes, event.last))
    }
    return passed.length === 0 ? [] : this.#cutter.push(concatBytes(passed))
  }

  end(videoSegments: number | null): CutEvent[] {
    this.#reader.end()
    return this.#cutter.end(videoSegments)
  }

  #box(name: string, bytes: Uint8Array): Uint8Array[] {
    if (name === 'moof') {
      this.#moof = bytes
      return []
    }
    if (name === 'moov') {
      this.#track = readInit(bytes)
      this.#counter = new NalCounter(this.#track.nalLengthBytes)
    }
    return [bytes]
  }

  #mdat(header: Uint8Array, bytes: number): Uint8Array[] {
    const moof = this.#moof
    if (moof === null || this.#track === null)
      throw new FormatError('damaged', 'The encoder wrote an mdat box without a moof box.')
    this.#moof = null
    const fragment = readFragment(moof, this.#track.defaults, header.length)
    const { samples } = fragment
    this.#frames += samples.length
    // The first start code of an access unit has one byte more.
    this.#bytes += bytes + samples.length
    if (this.#frames > this.#end.frames) throw missingKeyFrame(this.#end.frames)
    if (this.#frames < this.#end.frames) return [moof, header]
    const before = samples.slice(0, -1)
    this.#last = { fragment, before: before.reduce((sum, { size }) => sum + size, 0), held: [] }
    return before.length === 0 ? [] : [this.#write({ ...fragment, samples: before })]
  }

  #payload(bytes: Uint8Array, isEnd: boolean): Uint8Array[] {
    this.#counter!.push(bytes)
    const last = this.#last
    if (last === null) return [bytes]
    const passed = bytes.subarray(0, last.before)
    last.before -= passed.length
    last.held.push(Uint8Array.from(bytes.subarray(passed.length)))
    if (!isEnd) return [passed]
    this.#last = null
    return [passed, ...this.#closed(last)]
  }

  #closed({ fragment, held }: LastFragment): Uint8Array[] {
    const { nalLengthBytes } = this.#track!
    const counted = this.#bytes - this.#counter!.units * (nalLengthBytes - START_CODE)
    const missing = this.#end.bytes - counted
    if (missing < 0) this.overrun = -missing
    const filler = missing <= 0 ? new Uint8Array() : fillerUnit(Math.max(missing, LEAST_FILLER), nalLengthBytes)
    const sample = fragment.samples.at(-1)!
    const earlier = fragment.samples.slice(0, -1).reduce((sum, { duration }) => sum + duration, 0)
    return [
      this.#write({
        decodeTime: fragment.decodeTime + earlier,
        samples: [{ ...sample, size: sample.size + filler.length }],
      }),
      ...held,
      filler,
    ]
  }

  /** CmafVideoCutter numbers the fragments. */
  #write(fragment: Fragment): Uint8Array {
    return writeFragment({ sequence: 1, trackId: this.#track!.id, fragment, time: 'tfdt' })
  }
}
