// In charge of: the byte pairs of one field: which are damaged, and which repeat the control code before them
// (ANSI/CTA-608-E, 8.4; 47 CFR 15.119 (i)).
// Not in charge of: what the codes mean (captionDecoder.ts).
import type { Pair } from './codes608.ts'

/** The solid block, which is shown for a damaged character. */
const BLOCK = 0x7f

export class PairReader608 {
  #awaited: Pair = 0

  /**
   * The next pair of the field, with its parity bits; null = damaged: control codes are sent twice, and one is enough.
   * A third sending is a new code. Padding between the two does not count.
   */
  read(first: number, second: number): { pair: Pair; repeats: boolean } | null {
    const pair = ((first & 0x7f) << 8) | (second & 0x7f)
    if (!isOdd(first) || (isControl(pair) && !isOdd(second))) {
      const differs = pair ^ this.#awaited
      // It was the repetition.
      if ((differs & 0x7f) === 0 || (differs & 0x7f00) === 0) this.#awaited = 0
      return null
    }
    if (pair === 0) return { pair, repeats: false }
    const repeats = pair === this.#awaited
    this.#awaited = !repeats && isControl(pair) ? pair : 0
    const isBlock = (pair & 0x7f) >= 0x20 && !isOdd(second)
    return { pair: isBlock ? pair | BLOCK : pair, repeats }
  }
}

function isControl(pair: Pair): boolean {
  return (pair & 0x7000) === 0x1000
}

function isOdd(byte: number): boolean {
  let bits = byte
  bits ^= bits >> 4
  bits ^= bits >> 2
  bits ^= bits >> 1
  return (bits & 1) === 1
}
