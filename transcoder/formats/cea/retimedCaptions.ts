// In charge of: the captions in the frames of a source, to be sent again in frames of another rate: the byte pairs of both
// fields (all channels, XDS) and the packets of CEA-708.
// Not in charge of: reading the source (pipeline/frameCaptions.ts), the frames of the outputs (captionFrames.ts).
import type { CaptionFields } from './captionFrames.ts'
import { JoinedPairs } from './joinedPairs.ts'
import { SentPackets } from './sentPackets.ts'

export class RetimedCaptions {
  readonly #pairs = new JoinedPairs()
  readonly services = new SentPackets()

  constructor() {
    this.#pairs.beginPiece(0)
  }

  get fields(): CaptionFields {
    return this.#pairs.fields
  }

  /** The frames in the order in which they are shown; `time`: seconds in the outputs. */
  push(time: number, ccData: Uint8Array): void {
    this.#pairs.push(time, ccData)
    if (time < 0) return
    for (let at = 0; at + 3 <= ccData.length; at += 3)
      // cc_valid, and cc_type 2 or 3.
      if ((ccData[at]! & 6) === 6) this.services.push(time, (ccData[at]! & 1) === 1, ccData[at + 1]!, ccData[at + 2]!)
  }
}
