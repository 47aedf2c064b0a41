// In charge of: segments that consist of one rewritten movie fragment each: CMAF audio, and audio and video of Smooth.
// Not in charge of: CMAF video, whose fragments are kept (cmafVideoCutter.ts).
import { concatBytes } from '../../formats/concatBytes.ts'
import { isShortTail, nextBoundary, ticksOf, type Cadence, type CutEvent, type Cutter } from './cutter.ts'
import { FormatError } from '../../formats/formatError.ts'
import { NalLengthScanner } from '../../formats/video/keyFrameScan.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'
import {
  isSync,
  readFragment,
  SMOOTH_TIMESCALE,
  writeFragment,
  type Fragment,
  type Sample,
} from '../../formats/mp4/movieFragment.ts'
import { readInit, withoutPreSkip, type TrackInfo } from '../../formats/mp4/initSegment.ts'
import { missingKeyFrame } from './cmafVideoCutter.ts'

/** One segment and one movie fragment are kept in memory: 6 s at 80 Mb/s. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024
interface SampleGroup {
  decodeTime: number
  samples: Sample[]
  parts: Uint8Array[]
  bytes: number
}

export class RefragmentingCutter implements Cutter {
  readonly #cadence: Cadence
  readonly #form: 'cmaf' | 'smooth'
  readonly #reader = new BoxReader()
  #ftyp: Uint8Array | null = null
  track: TrackInfo | null = null
  #moof: Uint8Array | null = null
  #fragment: Fragment | null = null
  #payload: Uint8Array[] = []
  #payloadBytes = 0
  /** The current segment, and the one before it: the last audio segment may have to include the remaining samples. */
  #group: SampleGroup | null = null
  #previousGroup: SampleGroup | null = null
  #count = 0
  /** Frames of the video, at whose segment ends these segments end. */
  #firstFrame = 0
  #endFrame: number
  #samples = 0

  constructor(cadence: Cadence, form: 'cmaf' | 'smooth') {
    this.#cadence = cadence
    this.#form = form
    this.#endFrame = nextBoundary(cadence, 0)
  }

  push(block: Uint8Array): CutEvent[] {
    const cuts: CutEvent[] = []
    for (const event of this.#reader.push(block)) {
      if (event.kind === 'box') this.#box(event.name, event.bytes, cuts)
      else if (event.kind === 'mdat') this.#mdat(event.header.length, event.bytes)
      else {
        this.#payload.push(event.bytes)
        if (event.last) this.#addSamples(cuts)
      }
    }
    return cuts
  }

  end(videoSegments: number | null): CutEvent[] {
    this.#reader.end()
    if (this.#moof !== null || this.#group === null)
      throw new FormatError('cut off', 'The encoder’s stream ends before its first media data.')
    const cuts: CutEvent[] = []
    const waiting = this.#previousGroup
    const length = ({ samples }: SampleGroup) => samples.reduce((sum, { duration }) => sum + duration, 0)
    const isSurplus =
      waiting !== null &&
      (videoSegments === null ? isShortTail(length(this.#group), length(waiting)) : this.#count + 2 > videoSegments)
    if (isSurplus) {
      waiting.samples.push(...this.#group.samples)
      waiting.parts.push(...this.#group.parts)
      this.#group = null
    }
    this.#previousGroup = null
    if (waiting !== null) this.#write(waiting, cuts)
    if (this.#group !== null) this.#write(this.#group, cuts)
    return cuts
  }

  #box(name: string, bytes: Uint8Array, cuts: CutEvent[]): void {
    if (name === 'ftyp') this.#ftyp = bytes
    else if (name === 'moov' && this.track === null && this.#ftyp !== null) {
      this.track = readInit(bytes)
      // Clients of Smooth create their own init segment (2.2.2.5, CodecPrivateData).
      if (this.#form === 'cmaf') cuts.push({ kind: 'init', bytes: concatBytes([this.#ftyp, withoutPreSkip(bytes)]) })
    } else if (name === 'moof' && this.#moof === null) this.#moof = bytes
    else if (!['mfra', 'sidx', 'free', 'skip', 'styp', 'uuid'].includes(name))
      throw new FormatError('damaged', `The encoder wrote an unexpected ${name} box.`)
  }

  #mdat(headerBytes: number, bytes: number): void {
    if (this.#moof === null || this.track === null)
      throw new FormatError('damaged', 'The encoder wrote an mdat box without a moof box.')
    if (bytes + (this.#group?.bytes ?? 0) > MAX_BUFFERED_BYTES)
      throw new FormatError('damaged', `A segment exceeds ${MAX_BUFFERED_BYTES} bytes.`)
    this.#fragment = readFragment(this.#moof, this.track.defaults, headerBytes)
    this.#payload = []
    this.#payloadBytes = bytes
  }

  /** A movie fragment is complete: its samples are added to the current segment, or begin the next one. */
  #addSamples(cuts: CutEvent[]): void {
    const { decodeTime, samples } = this.#fragment!
    const payload = concatBytes(this.#payload)
    if (samples.reduce((sum, { size }) => sum + size, 0) !== this.#payloadBytes)
      throw new FormatError('damaged', 'The size of a movie fragment differs from the size of its samples.')
    this.#moof = null
    let time = decodeTime
    let at = 0
    for (const sample of samples) {
      if (this.#group !== null && this.#endsBefore(sample, time)) this.#next(cuts)
      const bytes = payload.subarray(at, at + sample.size)
      if (this.#group === null && this.track!.kind === 'video') this.#requireIdr(sample, bytes)
      this.#group ??= { decodeTime: time, samples: [], parts: [], bytes: 0 }
      this.#group.samples.push(sample)
      this.#group.parts.push(bytes)
      this.#group.bytes += sample.size
      this.#samples += 1
      time += sample.duration
      at += sample.size
    }
  }

  /** Video is cut exactly before the boundary frame, audio at the audio frame boundary nearest to it. */
  #endsBefore(sample: Sample, time: number): boolean {
    if (this.track!.kind === 'video') return this.#samples === this.#endFrame
    return time + sample.duration / 2 > ticksOf(this.#endFrame, this.#cadence, this.track!.timescale)
  }

  #requireIdr(sample: Sample, bytes: Uint8Array): void {
    const scan = new NalLengthScanner(this.track!.nalFamily ?? 'avc', this.track!.nalLengthBytes)
    scan.push(bytes)
    if (!isSync(sample) || scan.isIdr !== true) throw missingKeyFrame(this.#samples)
  }

  #next(cuts: CutEvent[]): void {
    this.#firstFrame = this.#endFrame
    this.#endFrame = nextBoundary(this.#cadence, this.#firstFrame)
    const group = this.#group!
    this.#group = null
    if (this.track!.kind === 'video') return this.#write(group, cuts)
    if (this.#previousGroup !== null) this.#write(this.#previousGroup, cuts)
    this.#previousGroup = group
  }

  #write(group: SampleGroup, cuts: CutEvent[]): void {
    const timescale = this.#form === 'smooth' ? SMOOTH_TIMESCALE : this.track!.timescale
    const fragment = rescaled(group, this.track!.timescale, timescale)
    this.#count += 1
    const time = this.#form === 'smooth' ? 'tfxd' : 'tfdt'
    const head = writeFragment({ sequence: this.#count, trackId: this.track!.id, fragment, time })
    cuts.push({ kind: 'media', bytes: concatBytes([head, ...group.parts]) })
    const duration = fragment.samples.reduce((sum, sample) => sum + sample.duration, 0)
    const start = fragment.decodeTime + fragment.samples[0]!.offset
    cuts.push({ kind: 'end', start, duration, frames: fragment.samples.length, keys: [] })
  }
}

/** Every time is rounded separately, so that the sum of the durations equals the beginning of the next segment. */
function rescaled({ decodeTime, samples }: SampleGroup, from: number, to: number): Fragment {
  if (from === to) return { decodeTime, samples }
  const scaled = (ticks: number): number => Math.round((ticks * to) / from)
  let time = decodeTime
  return {
    decodeTime: scaled(decodeTime),
    samples: samples.map((sample) => {
      const start = time
      time += sample.duration
      return {
        ...sample,
        duration: scaled(time) - scaled(start),
        offset: scaled(start + sample.offset) - scaled(start),
      }
    }),
  }
}
