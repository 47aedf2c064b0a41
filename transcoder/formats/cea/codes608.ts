// In charge of: the byte pairs of CEA-608 (ANSI/CTA-608-E, tables 50 to 53) that an encoder writes, and which characters
// have one.
// Not in charge of: layout and order (encoder608.ts), decoding (captionDecoder.ts).
import type { Channel608 } from '#contract/captions.ts'
import { basicCharacter, extendedCharacter, specialCharacter } from './characters608.ts'

/** Two bytes without parity: first << 8 | second. */
export type Pair = number

/** CC1 and CC2 are in field 1 of line 21, CC3 and CC4 in field 2. */
export function fieldOf(channel: Channel608): 0 | 1 {
  return channel === 'CC1' || channel === 'CC2' ? 0 : 1
}

/** 8 is added to the first byte of every control code of a field's second channel. */
function channelBit(channel: Channel608): number {
  return channel === 'CC2' || channel === 'CC4' ? 0x08 : 0
}

const COMMANDS = { load: 0x20, clear: 0x2c, clearLoaded: 0x2e, show: 0x2f } as const

/** Resume caption loading, erase displayed memory, erase non-displayed memory, end of caption. */
export function command(channel: Channel608, name: keyof typeof COMMANDS): Pair {
  // In field 2 the first byte of these codes differs, so that a decoder recognizes the field.
  return ((0x14 | fieldOf(channel) | channelBit(channel)) << 8) | COMMANDS[name]
}

/** By row, 1 to 15: the first byte of its preamble address code, and bit 5 of the second one. */
const PREAMBLES: readonly (readonly [number, number])[] = [
  [0x11, 0x40],
  [0x11, 0x60],
  [0x12, 0x40],
  [0x12, 0x60],
  [0x15, 0x40],
  [0x15, 0x60],
  [0x16, 0x40],
  [0x16, 0x60],
  [0x17, 0x40],
  [0x17, 0x60],
  [0x10, 0x40],
  [0x13, 0x40],
  [0x13, 0x60],
  [0x14, 0x40],
  [0x14, 0x60],
]

/** The cursor at a row (1 to 15) and a column (0 to 31), in white without style: an indent in steps of 4, and a tab. */
export function moveTo(channel: Channel608, row: number, column: number): Pair[] {
  const [first, second] = PREAMBLES[row - 1]!
  const indent = Math.floor(column / 4)
  const preamble = ((first | channelBit(channel)) << 8) | second | 0x10 | (indent << 1)
  const tab = column % 4
  return tab === 0 ? [preamble] : [preamble, ((0x17 | channelBit(channel)) << 8) | (0x20 + tab)]
}

/** A mid-row code: it takes a column, which stays blank. */
export function style(channel: Channel608, { italic, underline }: { italic: boolean; underline: boolean }): Pair {
  return ((0x11 | channelBit(channel)) << 8) | (italic ? 0x2e : 0x20) | (underline ? 1 : 0)
}

/** A character of the basic set is one byte. Others are codes: the extended ones replace the character before them. */
export type Glyph = { byte: number } | { code: Pair; replaces: number | null }

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** What older decoders show instead of an extended character, where its base letter is not that. */
const FALLBACKS = new Map(
  Array.from(
    `‘' “" ”" «" »" —- ¡! *x •. │! {( }) \\/ |! ~- ©c ¥Y ßs ØO øo _- ^'`.split(' '),
    (pair): [string, string] => [pair.charAt(0), pair.charAt(1)],
  ),
)

const BASIC = new Map(range(0x20, 0x7f).map((byte) => [basicCharacter(byte), byte]))

function fallbackOf(character: string): number {
  const base = FALLBACKS.get(character) ?? character.normalize('NFD').charAt(0)
  return BASIC.get(base) ?? 0x20
}

const GLYPHS = new Map<string, Glyph>([
  ...([0x13, 0x12] as const).flatMap((set) =>
    range(0x20, 0x3f).map((code): [string, Glyph] => {
      const character = extendedCharacter(set, code)
      return [character, { code: (set << 8) | code, replaces: fallbackOf(character) }]
    }),
  ),
  ...range(0x30, 0x3f).map((code): [string, Glyph] => [
    specialCharacter(code),
    { code: 0x1100 | code, replaces: null },
  ]),
  ...[...BASIC].map(([character, byte]): [string, Glyph] => [character, { byte }]),
  // The apostrophe of the basic set. Decoders disagree about the extended one.
  ['’', { byte: 0x27 }],
])

/** null = CEA-608 cannot show it. */
export function glyphOf(character: string): Glyph | null {
  return GLYPHS.get(character) ?? null
}

export function codeIn(channel: Channel608, code: Pair): Pair {
  return code | (channelBit(channel) << 8)
}

/** With odd parity. */
export function withParity(byte: number): number {
  let bits = byte & 0x7f
  bits ^= bits >> 4
  bits ^= bits >> 2
  bits ^= bits >> 1
  return (byte & 0x7f) | ((bits & 1) === 1 ? 0 : 0x80)
}
