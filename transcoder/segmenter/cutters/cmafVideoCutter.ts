// In charge of: CMAF video segments: groups of pictures as the encoder wrote them, put together up to each segment's end.
// Not in charge of: where segments end (cutter.ts), fragments that are written anew (refragmentingCutter.ts).
import { segmentEnd, type Cadence, type Cut, type Cutter, type KeySpan } from './cutter.ts'
import { StreamError } from '../../formats/streamError.ts'
import { LengthScan } from '../../formats/video/keyFrameScan.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'
import { isSync, readFragment, type Fragment } from '../../formats/mp4/movieFragment.ts'
import { readInit, type TrackInfo } from '../../formats/mp4/initSegment.ts'

/** Boxes between the fragments that belong to a file and not to a segment. */
const OF_FILES = new Set(['mfra', 'sidx', 'free', 'skip', 'styp'])

export class CmafVideoCutter implements Cutter {
  readonly #cadence: Cadence
  readonly #reader = new BoxReader()
  #ftyp: Uint8Array | null = null
  track: TrackInfo | null = null
  /** Pictures before the fragment under way. */
  #frames = 0
  #segment: { firstFrame: number; end: number; start: number; bytes: number; keys: KeySpan[] } | null = null
  #moof: Uint8Array | null = null
  #fragment: Fragment | null = null
  /** Looks for an IDR picture in the first sample of the fragment under way. */
  #scan: LengthScan | null = null
  #scanLeft = 0
  /** Where the pictures read so far end. */
  #time = 0

  constructor(cadence: Cadence) {
    this.#cadence = cadence
  }

  push(chunk: Uint8Array): Cut[] {
    const cuts: Cut[] = []
    for (const event of this.#reader.push(chunk)) {
      if (event.kind === 'box') this.#box(event.name, event.bytes, cuts)
      else if (event.kind === 'mdat') this.#mdat(event.header, event.bytes, cuts)
      else this.#payload(event.bytes, event.last, cuts)
    }
    return cuts
  }

  end(): Cut[] {
    this.#reader.end()
    if (this.#moof !== null || this.#segment === null)
      throw new StreamError('cut off', 'A stream of the encoder ends before its pictures.')
    return [this.#close()]
  }

  #box(name: string, bytes: Uint8Array, cuts: Cut[]): void {
    if (name === 'ftyp') this.#ftyp = bytes
    else if (name === 'moov' && this.track === null && this.#ftyp !== null) {
      this.track = readInit(bytes)
      cuts.push({ kind: 'init', bytes: Uint8Array.from([...this.#ftyp, ...bytes]) })
    } else if (name === 'moof' && this.#moof === null) this.#moof = bytes
    else if (!OF_FILES.has(name)) throw new StreamError('damaged', `The encoder wrote a ${name} that was not expected.`)
  }

  #mdat(header: Uint8Array, bytes: number, cuts: Cut[]): void {
    const { track } = this
    if (this.#moof === null || track === null)
      throw new StreamError('damaged', 'The encoder wrote media without a moof.')
    const fragment = readFragment(this.#moof, track.defaults, header.length)
    if (fragment.samples.reduce((sum, { size }) => sum + size, 0) !== bytes)
      throw new StreamError('damaged', 'A movie fragment of the encoder has another size than its samples.')
    const [first] = fragment.samples
    const start = fragment.decodeTime + first!.offset
    if (this.#segment !== null && this.#frames === this.#segment.end) cuts.push(this.#close())
    this.#segment ??= {
      firstFrame: this.#frames,
      end: segmentEnd(this.#cadence, this.#frames),
      start,
      bytes: 0,
      keys: [],
    }
    this.#fragment = fragment
    this.#scan = isSync(first!) ? new LengthScan(track.nalFamily ?? 'avc', track.nalLengthBytes) : null
    this.#scanLeft = first!.size
    if (this.#scan !== null) {
      const head = this.#moof.length + header.length
      this.#segment.keys.push({ start, offset: this.#segment.bytes, bytes: head + first!.size })
    }
    this.#emit(this.#moof, cuts)
    this.#emit(header, cuts)
  }

  #payload(bytes: Uint8Array, last: boolean, cuts: Cut[]): void {
    const segment = this.#segment!
    if (this.#scanLeft > 0) {
      this.#scan?.push(bytes.subarray(0, this.#scanLeft))
      this.#scanLeft = Math.max(0, this.#scanLeft - bytes.length)
      if (this.#scanLeft === 0 && this.#scan?.isIdr !== true) {
        if (this.#frames === segment.firstFrame) throw missing(this.#frames)
        if (this.#scan !== null) segment.keys.pop()
      }
    }
    this.#emit(bytes, cuts)
    if (!last) return
    const { samples, decodeTime } = this.#fragment!
    this.#frames += samples.length
    if (this.#frames > segment.end) throw missing(segment.end)
    this.#time = samples.reduce((sum, { duration }) => sum + duration, decodeTime)
    this.#moof = null
  }

  #emit(bytes: Uint8Array, cuts: Cut[]): void {
    this.#segment!.bytes += bytes.length
    cuts.push({ kind: 'media', bytes })
  }

  #close(): Cut {
    const { start, firstFrame, keys } = this.#segment!
    this.#segment = null
    return { kind: 'end', start, duration: this.#time - start, frames: this.#frames - firstFrame, keys }
  }
}

export function missing(frame: number): StreamError {
  return new StreamError('no key frame', `A segment must begin with picture ${frame}, which is no key frame.`)
}
