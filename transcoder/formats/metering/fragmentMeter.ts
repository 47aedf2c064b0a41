// In charge of: counting the media bytes in a fragmented mp4 of one track while the encoder writes it.
// Not in charge of: cutting it (segmenter/cutters).
import { BoxReader } from '../mp4/boxReader.ts'
import type { MediaCounts } from './byteCounts.ts'

export class FragmentMeter {
  readonly #reader = new BoxReader()
  #bytes = 0

  /** Throws FormatError. */
  push(chunk: Uint8Array): void {
    for (const event of this.#reader.push(chunk)) if (event.kind === 'mdat') this.#bytes += event.bytes
  }

  end(): MediaCounts {
    return { tracks: [{ id: null, bytes: this.#bytes, seconds: null }], seconds: null, codecString: null }
  }
}
