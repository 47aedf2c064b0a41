// In charge of: telling a run that reads its source and writes nothing yet from one that hangs.
// Not in charge of: stopping it (ffmpeg/run.ts).
import type { Plan } from '../plan/model/plan.ts'

export class SilentReading {
  readonly #bytesServed: () => number
  /** Nothing may be written for long at any time, not only before the first output. */
  readonly #isSparse: boolean
  #hasOutput: boolean
  #served = -1

  constructor({ cut, part, extracts }: Pick<Plan, 'cut' | 'part' | 'extracts'>, bytesServed: () => number) {
    this.#bytesServed = bytesServed
    // Between two stills the rest of a divided job decodes video that it does not encode.
    this.#isSparse = part?.kind === 'rest' && extracts?.frames != null
    // Without an index, all that is before a cut or a chunk is decoded first.
    this.#hasOutput = cut == null && part === undefined
  }

  onOutput(seconds: number): void {
    this.#hasOutput ||= seconds > 0
  }

  /** Since it was asked last, the source was read, and no output is expected of that. */
  isReading(): boolean {
    const before = this.#served
    this.#served = this.#bytesServed()
    return (this.#isSparse || !this.#hasOutput) && this.#served > before
  }
}
