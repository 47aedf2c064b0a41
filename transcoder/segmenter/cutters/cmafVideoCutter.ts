// In charge of: CMAF video segments: the fragments that the encoder wrote, joined up to each segment's end. Segments
// of a range get the times of the whole output.
// Not in charge of: where segments end (cutter.ts), fragments that are rewritten (refragmentingCutter.ts).
import { nextBoundary, ticksOf, type Cadence, type CutEvent, type Cutter, type KeyFrameRange } from './cutter.ts'
import { FormatError } from '../../formats/formatError.ts'
import { NalLengthScanner } from '../../formats/video/keyFrameScan.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'
import { isSync, readFragment, type Fragment } from '../../formats/mp4/movieFragment.ts'
import { moveFragment } from '../../formats/mp4/moveFragment.ts'
import { readInit, type TrackInfo } from '../../formats/mp4/initSegment.ts'

/** Boxes between the fragments that belong to a file and not to a segment. */
const FILE_LEVEL_BOXES = new Set(['mfra', 'sidx', 'free', 'skip', 'styp'])

export class CmafVideoCutter implements Cutter {
  readonly #cadence: Cadence
  readonly #framesBefore: number | null
  readonly #reader = new BoxReader()
  #ftyp: Uint8Array | null = null
  track: TrackInfo | null = null
  /** Number of frames of the output before the current fragment. */
  #frames: number
  #segment: { firstFrame: number; end: number; start: number; bytes: number; keys: KeyFrameRange[] } | null = null
  #moof: Uint8Array | null = null
  #fragment: Fragment | null = null
  /** Searches for an IDR picture in the first sample of the current fragment. */
  #scan: NalLengthScanner | null = null
  #scanLeft = 0
  /** The time until which the frames read so far are shown. */
  #until = 0

  /** `framesBefore`: of the output before this range; null = the stream is the whole output. */
  constructor(cadence: Cadence, framesBefore: number | null = null) {
    this.#cadence = cadence
    this.#framesBefore = framesBefore
    this.#frames = framesBefore ?? 0
  }

  push(block: Uint8Array): CutEvent[] {
    const cuts: CutEvent[] = []
    for (const event of this.#reader.push(block)) {
      if (event.kind === 'box') this.#box(event.name, event.bytes, cuts)
      else if (event.kind === 'mdat') this.#mdat(event.header, event.bytes, cuts)
      else this.#payload(event.bytes, event.last, cuts)
    }
    return cuts
  }

  end(): CutEvent[] {
    this.#reader.end()
    if (this.#moof !== null || this.#segment === null)
      throw new FormatError('cut off', 'The encoder’s stream ends before its first frame.')
    return [this.#close(this.#until)]
  }

  #box(name: string, bytes: Uint8Array, cuts: CutEvent[]): void {
    if (name === 'ftyp') this.#ftyp = bytes
    else if (name === 'moov' && this.track === null && this.#ftyp !== null) {
      this.track = readInit(bytes)
      cuts.push({ kind: 'init', bytes: Uint8Array.from([...this.#ftyp, ...bytes]) })
    } else if (name === 'moof' && this.#moof === null) this.#moof = bytes
    else if (!FILE_LEVEL_BOXES.has(name))
      throw new FormatError('damaged', `The encoder wrote an unexpected ${name} box.`)
  }

  #mdat(header: Uint8Array, bytes: number, cuts: CutEvent[]): void {
    const { track } = this
    if (this.#moof === null || track === null)
      throw new FormatError('damaged', 'The encoder wrote an mdat box without a moof box.')
    if (this.#framesBefore !== null)
      this.#moof = moveFragment(this.#moof, ticksOf(this.#framesBefore, this.#cadence, track.timescale))
    const fragment = readFragment(this.#moof, track.defaults, header.length)
    if (fragment.samples.reduce((sum, { size }) => sum + size, 0) !== bytes)
      throw new FormatError('damaged', 'The size of a movie fragment differs from the size of its samples.')
    const [first] = fragment.samples
    const start = fragment.decodeTime + first!.offset
    if (this.#segment !== null && this.#frames === this.#segment.end) cuts.push(this.#close(start))
    this.#segment ??= {
      firstFrame: this.#frames,
      end: nextBoundary(this.#cadence, this.#frames),
      start,
      bytes: 0,
      keys: [],
    }
    this.#fragment = fragment
    this.#scan = isSync(first!) ? new NalLengthScanner(track.nalFamily ?? 'avc', track.nalLengthBytes) : null
    this.#scanLeft = first!.size
    if (this.#scan !== null) {
      const head = this.#moof.length + header.length
      this.#segment.keys.push({ start, offset: this.#segment.bytes, bytes: head + first!.size })
    }
    this.#emit(this.#moof, cuts)
    this.#emit(header, cuts)
  }

  #payload(bytes: Uint8Array, last: boolean, cuts: CutEvent[]): void {
    const segment = this.#segment!
    if (this.#scanLeft > 0) {
      this.#scan?.push(bytes.subarray(0, this.#scanLeft))
      this.#scanLeft = Math.max(0, this.#scanLeft - bytes.length)
      if (this.#scanLeft === 0 && this.#scan?.isIdr !== true) {
        if (this.#frames === segment.firstFrame) throw missingKeyFrame(this.#frames)
        if (this.#scan !== null) segment.keys.pop()
      }
    }
    this.#emit(bytes, cuts)
    if (!last) return
    const { samples, decodeTime } = this.#fragment!
    this.#frames += samples.length
    if (this.#frames > segment.end) throw missingKeyFrame(segment.end)
    let time = decodeTime
    for (const { duration, offset } of samples) {
      this.#until = Math.max(this.#until, time + offset + duration)
      time += duration
    }
    this.#moof = null
  }

  #emit(bytes: Uint8Array, cuts: CutEvent[]): void {
    this.#segment!.bytes += bytes.length
    cuts.push({ kind: 'media', bytes })
  }

  #close(until: number): CutEvent {
    const { start, firstFrame, keys } = this.#segment!
    this.#segment = null
    return { kind: 'end', start, duration: until - start, frames: this.#frames - firstFrame, keys }
  }
}

export function missingKeyFrame(frame: number): FormatError {
  return new FormatError('no key frame', `A segment must begin with frame ${frame}, which is not a key frame.`)
}
