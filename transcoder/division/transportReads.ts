// In charge of: what was read of a transport stream: the stretches, and whether the time stamps in them run on.
// Not in charge of: what follows for a divided job (division/chunkReading.ts).
import { ContinuityScan } from '../formats/mpegts/continuity.ts'

export interface ByteSpan {
  first: number
  /** Exclusive. */
  end: number
}

export class TransportReads {
  readonly #pids: readonly number[]
  readonly #reads: { span: ByteSpan; scan: ContinuityScan }[] = []

  /** PIDs of the streams that count. */
  constructor(pids: readonly number[]) {
    this.#pids = pids
  }

  /** A reader begins at this byte. Returns what takes its bytes. */
  readonly begin = (first: number): ((bytes: Uint8Array) => void) => {
    const read = { span: { first, end: first }, scan: new ContinuityScan(this.#pids) }
    this.#reads.push(read)
    return (bytes) => {
      read.span.end += bytes.length
      read.scan.push(bytes)
    }
  }

  get hasJump(): boolean {
    return this.#reads.some(({ scan }) => scan.jumps > 0)
  }

  /** The stretch around this byte, of readers that overlap; null = nobody read it. */
  around(byte: number): ByteSpan | null {
    const spans = this.#reads.map(({ span }) => span).toSorted((one, other) => one.first - other.first)
    let found: ByteSpan | null = null
    for (const { first, end } of spans) {
      if (found !== null && first < found.end) found.end = Math.max(found.end, end)
      else if (found !== null && byte < found.end) break
      else found = { first, end }
    }
    return found !== null && found.first <= byte && byte < found.end ? found : null
  }
}
