// In charge of: the end of an audio stream: data after the video's last segment is added to the last audio segment.
// Not in charge of: cutting (tsCutter.ts); CMAF audio, whose segments are rewritten (refragmentingCutter.ts).
import { isShortTail, type CutEvent, type Cutter } from './cutter.ts'

type SegmentEnd = Extract<CutEvent, { kind: 'end' }>

/** Delays the output by one segment. */
export class TailCutter implements Cutter {
  readonly #cutter: Cutter
  #buffered: CutEvent[] = []
  #passed = 0

  constructor(cutter: Cutter) {
    this.#cutter = cutter
  }

  push(block: Uint8Array): CutEvent[] {
    return this.#buffer(this.#cutter.push(block))
  }

  end(videoSegments: number | null): CutEvent[] {
    const out = this.#buffer(this.#cutter.end(videoSegments))
    const ends = this.#buffered.filter((cut): cut is SegmentEnd => cut.kind === 'end')
    const [last, tail] = ends
    if (last === undefined || tail === undefined) return [...out, ...this.#buffered]
    const isSurplus =
      videoSegments === null ? isShortTail(tail.duration, last.duration) : this.#passed + 2 > videoSegments
    if (!isSurplus) return [...out, ...this.#buffered]
    const whole: SegmentEnd = { ...last, duration: last.duration + tail.duration, frames: last.frames + tail.frames }
    return [...out, ...this.#buffered.filter(({ kind }) => kind !== 'end'), whole]
  }

  /** Emits a segment when the next one is complete as well. */
  #buffer(cuts: readonly CutEvent[]): CutEvent[] {
    const out: CutEvent[] = []
    for (const cut of cuts) {
      this.#buffered.push(cut)
      if (this.#buffered.filter(({ kind }) => kind === 'end').length < 3) continue
      out.push(...this.#buffered.splice(0, this.#buffered.findIndex(({ kind }) => kind === 'end') + 1))
      this.#passed += 1
    }
    return out
  }
}
