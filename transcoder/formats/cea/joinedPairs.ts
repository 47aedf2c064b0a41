// In charge of: the CEA-608 byte pairs of pieces that are joined, in the slots of the joined video: each pair once, in its
// order, and nothing of a piece on the screen of the next one.
// Not in charge of: reading the pieces (pipeline/join/pieceCaptions.ts), the frames of the outputs (captionFrames.ts).
import type { CaptionFields } from './captionFrames.ts'
import { PairReader608 } from './pairs608.ts'
import { PAIRS_PER_SECOND, type SentPair } from './schedule608.ts'

/** Times of frames are rounded to 1/90000 s. */
const ROUNDING_SLOTS = 0.01
/** ANSI/CTA-608-E, table 52: the second bytes of control codes. */
const RESUME_LOADING = 0x20
const MODES = new Set([RESUME_LOADING, 0x25, 0x26, 0x27, 0x29, 0x2a, 0x2b])
const [CLEAR, CLEAR_LOADED, SHOW] = [0x2c, 0x2e, 0x2f]

export class JoinedPairs {
  readonly #fields = [new JoinedField(0), new JoinedField(1)] as const
  #start = 0

  get fields(): CaptionFields {
    return this.#fields
  }

  /** `start`: seconds in the joined video. */
  beginPiece(start: number): void {
    this.#start = slotFrom(start)
    for (const field of this.#fields) field.beginPiece(this.#start)
  }

  /** The frames of a piece in the order in which they are shown; `time`: seconds in the piece. */
  push(time: number, ccData: Uint8Array): void {
    if (time < -ROUNDING_SLOTS / PAIRS_PER_SECOND) return
    const slot = this.#start + slotFrom(time)
    for (const [index, field] of this.#fields.entries())
      for (let at = 0; at + 3 <= ccData.length; at += 3)
        // cc_valid, and the field.
        if ((ccData[at]! & 7) === (4 | index)) field.push(Math.max(this.#start, slot), ccData[at + 1]!, ccData[at + 2]!)
  }

  /** What is sent from then on, in seconds of the joined video, belongs to the next piece. */
  endPiece(end: number): void {
    for (const field of this.#fields) field.endPiece(slotFrom(end))
  }
}

function slotFrom(seconds: number): number {
  return Math.ceil(seconds * PAIRS_PER_SECOND - ROUNDING_SLOTS)
}

const NOTHING = { pair: 0, repeats: false }

/** What a channel of the piece leaves in the memory of a decoder. */
interface Memory {
  shown: boolean
  loaded: boolean
  mode: number
}

class JoinedField {
  readonly #field: 0 | 1
  /** `slot * 65536 + pair`, ascending. */
  readonly #sent: number[] = []
  /** The next free slot. */
  #next = 0
  #reader = new PairReader608()
  #hasBegun = false
  #channel: 0 | 1 = 0
  #memories = [blank(), blank()] as const

  constructor(field: 0 | 1) {
    this.#field = field
  }

  *[Symbol.iterator](): Generator<SentPair> {
    for (const sent of this.#sent) yield { slot: Math.floor(sent / 65_536), pair: sent % 65_536 }
  }

  beginPiece(start: number): void {
    this.#next = Math.max(this.#next, start)
    this.#reader = new PairReader608()
    this.#hasBegun = false
    for (const [channel, { shown, loaded }] of this.#memories.entries()) {
      // Control codes are sent twice; the second one is ignored.
      if (shown) this.#control(channel, CLEAR)
      if (loaded) this.#control(channel, CLEAR_LOADED)
    }
    this.#memories = [blank(), blank()]
  }

  push(slot: number, first: number, second: number): void {
    const at = Math.max(this.#next, slot)
    const { pair, repeats } = this.#reader.read(first, second) ?? NOTHING
    if (pair === 0) {
      // Late pairs catch up.
      if (at === slot) this.#next = at + 1
      return
    }
    // The rest of a caption whose beginning is before the piece.
    this.#hasBegun ||= beginsText(pair)
    if (!this.#hasBegun && !clears(pair)) return
    if (!repeats) this.#remember(pair)
    this.#send(at, pair)
  }

  endPiece(end: number): void {
    while (this.#sent.length > 0 && this.#sent.at(-1)! >= end * 65_536) this.#sent.pop()
    this.#next = Math.min(this.#next, end)
  }

  #send(slot: number, pair: number): void {
    this.#sent.push(slot * 65_536 + pair)
    this.#next = slot + 1
  }

  #control(channel: number, code: number): void {
    const pair = ((0x14 | this.#field | (channel << 3)) << 8) | code
    this.#send(this.#next, pair)
    this.#send(this.#next, pair)
  }

  #remember(pair: number): void {
    if ((pair & 0x7000) === 0x1000) this.#channel = (pair & 0x0800) === 0 ? 0 : 1
    const memory = this.#memories[this.#channel]
    if (!isCommand(pair)) {
      // Extended data (0x01 to 0x0f) is not shown.
      if (pair >> 8 < 0x10) return
      if (memory.mode === RESUME_LOADING) memory.loaded = true
      else memory.shown = true
      return
    }
    const code = pair & 0x7f
    if (MODES.has(code)) memory.mode = code
    else if (code === CLEAR) memory.shown = false
    else if (code === CLEAR_LOADED) memory.loaded = false
    else if (code === SHOW) Object.assign(memory, { shown: true, loaded: memory.shown, mode: RESUME_LOADING })
  }
}

function blank(): Memory {
  return { shown: false, loaded: false, mode: RESUME_LOADING }
}

/** A code for a channel's mode or memory (0x14, in field 2 also 0x15; 0x1c, 0x1d). */
function isCommand(pair: number): boolean {
  return (pair & 0x7670) === 0x1420
}

function clears(pair: number): boolean {
  return isCommand(pair) && [CLEAR, CLEAR_LOADED].includes(pair & 0x7f)
}

/** A mode, or extended data. */
function beginsText(pair: number): boolean {
  return (isCommand(pair) && MODES.has(pair & 0x7f)) || (pair >> 8 > 0 && pair >> 8 < 0x10)
}
