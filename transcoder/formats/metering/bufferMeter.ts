// In charge of: what the video of a fragmented mp4 asks of a decoder's buffer, while the encoder writes it.
// Not in charge of: the buffer (video/decoderBuffer.ts), cutting (segmenter/cutters).
import { BoxReader } from '../mp4/boxReader.ts'
import { readInit, type TrackInfo } from '../mp4/initSegment.ts'
import { readFragment } from '../mp4/movieFragment.ts'
import { demandOfFrame, joinDemands, type BufferDemand, type DecoderBuffer } from '../video/decoderBuffer.ts'
import { NalCounter, START_CODE } from '../video/filler.ts'

export class BufferMeter {
  readonly #buffer: DecoderBuffer
  readonly #reader = new BoxReader()
  #track: TrackInfo | null = null
  #counter: NalCounter | null = null
  #moof: Uint8Array | null = null
  /** Access units of the current fragment that are still to come. The first one is incomplete. */
  #sizes: number[] = []
  #read = 0
  #unitsBefore = 0
  /** In decoding order, from the first access unit on; null = there was none. */
  demand: BufferDemand | null = null

  constructor(buffer: DecoderBuffer) {
    this.#buffer = buffer
  }

  /** In pieces of any size. Throws FormatError. */
  push(block: Uint8Array): void {
    for (const event of this.#reader.push(block)) {
      if (event.kind === 'mdat') this.#fragment(event.header.length)
      else if (event.kind === 'payload') this.#payload(event.bytes)
      else if (event.name === 'moof') this.#moof = event.bytes
      else if (event.name === 'moov') {
        this.#track = readInit(event.bytes)
        this.#counter = new NalCounter(this.#track.nalLengthBytes)
      }
    }
  }

  #fragment(headerBytes: number): void {
    if (this.#moof === null || this.#track === null) return
    const { samples } = readFragment(this.#moof, this.#track.defaults, headerBytes)
    this.#sizes = samples.map(({ size }) => size)
    this.#read = 0
  }

  #payload(bytes: Uint8Array): void {
    for (let at = 0; this.#sizes.length > 0;) {
      const [size] = this.#sizes as [number]
      const piece = bytes.subarray(at, at + size - this.#read)
      this.#counter!.push(piece)
      at += piece.length
      this.#read += piece.length
      if (this.#read < size) return
      this.#accessUnit(size)
      this.#sizes.shift()
      this.#read = 0
    }
  }

  /** As an encoder counts it, with start codes: the first one has a byte more. */
  #accessUnit(size: number): void {
    const { units } = this.#counter!
    const lengthFields = (units - this.#unitsBefore) * (this.#track!.nalLengthBytes - START_CODE)
    this.#unitsBefore = units
    const demand = demandOfFrame(this.#buffer, (size - lengthFields + 1) * 8)
    this.demand = this.demand === null ? demand : joinDemands(this.demand, demand)
  }
}
