// In charge of: a stream out of the encoder on its way to its cutter: counted, and its beginning kept to be probed.
// Not in charge of: cutting (package/), what the counts say (presentationAnalysis.ts).
import { concatBytes } from '../../formats/concatBytes.ts'
import type { CutEvent, Cutter } from './cutter.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import { segmentForms } from '../../plan/forms.ts'
import type { MediaCounts } from '../../formats/metering/byteCounts.ts'
import { FragmentMeter } from '../../formats/metering/fragmentMeter.ts'
import { TsMeter } from '../../formats/metering/tsMeter.ts'

/** Init segment, first picture and more, of any rendition. */
const HEAD_BYTES = 2 * 1024 * 1024

/** What was seen of one stream. */
export interface MeteredStream {
  counts: MediaCounts
  /** As the encoder wrote it: what is in its segments, in one piece. */
  head: Uint8Array
}

export class MeteredCutter implements Cutter {
  readonly #cutter: Cutter
  readonly #meter: TsMeter | FragmentMeter
  #head: Uint8Array[] = []
  #headBytes = 0

  constructor(cutter: Cutter, form: SegmentForm) {
    this.#cutter = cutter
    this.#meter = segmentForms[form].container === 'ts' ? new TsMeter() : new FragmentMeter()
  }

  push(chunk: Uint8Array): CutEvent[] {
    // First: what is wrong with a stream is told in the cutter's words.
    const cuts = this.#cutter.push(chunk)
    this.#meter.push(chunk)
    if (this.#headBytes < HEAD_BYTES) {
      this.#head.push(Uint8Array.from(chunk))
      this.#headBytes += chunk.length
    }
    return cuts
  }

  end(videoSegments: number | null): CutEvent[] {
    return this.#cutter.end(videoSegments)
  }

  /** Once, when the stream is over. */
  result(): MeteredStream {
    return { counts: this.#meter.end(), head: concatBytes(this.#head) }
  }
}
