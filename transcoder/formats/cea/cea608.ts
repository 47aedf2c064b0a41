// In charge of: CEA-608 (ANSI/CTA-608-E; 47 CFR 15.119): decoding one field's byte pairs into the screens of its two
// channels.
// Not in charge of: reading the byte pairs (captionDecoder.ts), one channel's memories (memory608.ts), cues
// (captionScreen.ts).
import { basicCharacter, extendedCharacter, specialCharacter } from './characters608.ts'
import { Memory608 } from './memory608.ts'
import { PairReader608 } from './pairs608.ts'

/** Rows by the first byte of a preamble address code (table 53), without and with bit 0x20 of the second byte. */
const ROWS: readonly (readonly [number, number])[] = [
  [11, 11],
  [1, 2],
  [3, 4],
  [12, 13],
  [14, 15],
  [5, 6],
  [7, 8],
  [9, 10],
]

export class Cea608Field {
  /** Channels 1 and 2 (field 2: 3 and 4). */
  readonly channels = [new Memory608(), new Memory608()] as const
  #selected: Memory608 | null = null
  readonly #reader = new PairReader608()
  /** Between captions, field 2 carries programme data (XDS). */
  #foreign = false

  /** One pair of bytes, including their parity bits. */
  push(first: number, second: number): void {
    const read = this.#reader.read(first, second)
    if (read === null || read.repeats) return
    const [high, low] = [read.pair >> 8, read.pair & 0xff]
    if (high >= 0x10 && high <= 0x1f) {
      this.#control(high, low)
      return
    }
    if (high > 0 && high < 0x10) this.#foreign = true
    if (high < 0x20 || this.#foreign) return
    this.#selected?.write(basicCharacter(high))
    if (low >= 0x20) this.#selected?.write(basicCharacter(low))
  }

  #control(high: number, low: number): void {
    if (low < 0x20) return
    this.#foreign = false
    const memory = this.channels[(high & 0x08) === 0 ? 0 : 1]
    this.#selected = memory
    const set = high & 0x77
    if (low >= 0x40) address(memory, set & 7, low)
    else if ((set === 0x14 || set === 0x15) && low < 0x30) memory.command(low)
    else if (set === 0x11) memory.write(low < 0x30 ? ' ' : specialCharacter(low))
    else if (set === 0x12 || set === 0x13) memory.replace(extendedCharacter(set, low))
    else if (set === 0x17 && low <= 0x23 && low > 0x20) memory.tab(low - 0x20)
  }
}

function address(memory: Memory608, set: number, low: number): void {
  const row = ROWS[set]![(low & 0x20) === 0 ? 0 : 1]
  memory.moveTo(row, (low & 0x10) === 0 ? 0 : ((low & 0x0e) >> 1) * 4)
}
