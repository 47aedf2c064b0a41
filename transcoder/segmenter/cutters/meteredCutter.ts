// In charge of: counting a stream from the encoder on its way to its cutter, and keeping its beginning for a probe.
// Not in charge of: cutting (the other cutters), evaluating the counts (outputAnalysis/presentationAnalysis.ts).
import { concatBytes } from '../../formats/concatBytes.ts'
import type { CutEvent, Cutter } from './cutter.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import { segmentForms } from '../../plan/forms.ts'
import type { MediaCounts } from '../../formats/metering/byteCounts.ts'
import { BufferMeter } from '../../formats/metering/bufferMeter.ts'
import { TsMeter } from '../../formats/metering/tsMeter.ts'
import type { BufferDemand, DecoderBuffer } from '../../formats/video/decoderBuffer.ts'
import { BoxReader } from '../../formats/mp4/boxReader.ts'

class FragmentMeter {
  readonly #reader = new BoxReader()
  #bytes = 0

  /** Throws FormatError. */
  push(block: Uint8Array): void {
    for (const event of this.#reader.push(block)) if (event.kind === 'mdat') this.#bytes += event.bytes
  }

  end(): MediaCounts {
    return { tracks: [{ id: null, bytes: this.#bytes, seconds: null }], seconds: null, codecString: null }
  }
}

/** Enough for the init segment, the first frame and more, of any rendition. */
const HEAD_BYTES = 2 * 1024 * 1024

/** The measurements of one stream. */
export interface MeteredStream {
  counts: MediaCounts
  /** The beginning of the stream as the encoder wrote it, before it is cut into segments. */
  head: Uint8Array
  /** What a range of the video asks of the decoder's buffer; null or missing = it was not measured. */
  demand?: BufferDemand | null
}

export class MeteredCutter implements Cutter {
  readonly #cutter: Cutter
  readonly #meter: TsMeter | FragmentMeter
  readonly #bufferMeter: BufferMeter | null
  #head: Uint8Array[] = []
  #headBytes = 0

  /** `buffer`: of the decoder, for a range of the video in fragments. */
  constructor(cutter: Cutter, form: SegmentForm, buffer: DecoderBuffer | null = null) {
    this.#cutter = cutter
    this.#bufferMeter = buffer === null ? null : new BufferMeter(buffer)
    this.#meter = segmentForms[form].container === 'ts' ? new TsMeter() : new FragmentMeter()
  }

  push(block: Uint8Array): CutEvent[] {
    // The cutter comes first, so that errors in a stream are reported with its messages.
    const cuts = this.#cutter.push(block)
    this.#meter.push(block)
    this.#bufferMeter?.push(block)
    if (this.#headBytes < HEAD_BYTES) {
      this.#head.push(Uint8Array.from(block))
      this.#headBytes += block.length
    }
    return cuts
  }

  end(videoSegments: number | null): CutEvent[] {
    return this.#cutter.end(videoSegments)
  }

  /** Call once, after the stream has ended. */
  result(): MeteredStream {
    return {
      counts: this.#meter.end(),
      head: concatBytes(this.#head),
      demand: this.#bufferMeter?.demand ?? null,
    }
  }
}
