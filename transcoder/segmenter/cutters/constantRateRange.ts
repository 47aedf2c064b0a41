// In charge of: the ends of a range of a constant bitrate, which continues the range before it and is continued by the next
// one. The first access unit becomes one of a stream that began before it. The frames that were encoded after the end are
// dropped, and filler brings the range to the number of bytes with which the buffer is as full as the next one expects it.
// Not in charge of: how many bytes these are (plan/video/rangeBuffer.ts), what changes in an access unit
// (formats/video/pictureTiming.ts), segments (cmafVideoCutter.ts).
import { rangeEnd, ticksBefore, type RangeEnd } from '../../plan/video/rangeBuffer.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { concatBytes } from '../../formats/concatBytes.ts'
import { FormatError } from '../../formats/formatError.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'
import { readInit, type TrackInfo } from '../../formats/mp4/initSegment.ts'
import { readFragment, writeFragment, type Fragment } from '../../formats/mp4/movieFragment.ts'
import { fillerUnit, LEAST_FILLER, NalCounter, START_CODE } from '../../formats/video/filler.ts'
import { removalDelayBits } from '../../formats/video/hrdLengths.ts'
import { continuedUnit } from '../../formats/video/pictureTiming.ts'
import { missingKeyFrame } from './cmafVideoCutter.ts'
import type { CutEvent, Cutter } from './cutter.ts'

interface ConstantRateRange {
  cutter: Cutter
  /** As RangeEndCutter.overrun. */
  overrun: () => number
}

/** Wraps the cutter of a range of a constant bitrate. Every other stream keeps its cutter. `plan`: of the range. */
export function constantRateRange(
  cutter: Cutter,
  plan: Pick<Plan, 'range' | 'packaging'>,
  video: VideoPlan | null,
): ConstantRateRange {
  const end = video === null ? null : rangeEnd(plan, video)
  const ticks = video === null ? null : ticksBefore(plan, video)
  const ended = end === null ? null : new RangeEndCutter(cutter, end)
  const inner = ended ?? cutter
  return { cutter: ticks === null ? inner : new RangeStartCutter(inner, ticks), overrun: () => ended?.overrun ?? 0 }
}

export class RangeStartCutter implements Cutter {
  readonly #cutter: Cutter
  readonly #ticks: number
  readonly #reader = new BoxReader()
  #track: TrackInfo | null = null
  #moof: Uint8Array | null = null
  /** Until the first sample is complete. */
  #first: { fragment: Fragment; held: Uint8Array[]; left: number } | null = null
  #isChanged = false

  /** `ticks`: clock ticks from the last key frame before the range to its first frame. */
  constructor(cutter: Cutter, ticks: number) {
    this.#cutter = cutter
    this.#ticks = ticks
  }

  push(block: Uint8Array): CutEvent[] {
    const passed: Uint8Array[] = []
    for (const event of this.#reader.push(block)) {
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

/** The last fragment of the range. Its last sample becomes a fragment of its own: only that one is held back. */
interface LastFragment {
  fragment: Fragment
  /** Bytes before the last sample that are still to come. */
  before: number
  held: Uint8Array[]
}

export class RangeEndCutter implements Cutter {
  readonly #cutter: Cutter
  readonly #end: RangeEnd
  readonly #reader = new BoxReader()
  #track: TrackInfo | null = null
  #counter: NalCounter | null = null
  #moof: Uint8Array | null = null
  #last: LastFragment | null = null
  #frames = 0
  #bytes = 0
  /** Bytes by which the range is too long; 0 = it ends as it should. Valid after the end. */
  overrun = 0

  constructor(cutter: Cutter, end: RangeEnd) {
    this.#cutter = cutter
    this.#end = end
  }

  push(block: Uint8Array): CutEvent[] {
    const passed: Uint8Array[] = []
    for (const event of this.#reader.push(block)) {
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
