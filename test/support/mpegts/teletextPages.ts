// In charge of: teletext packets of subtitle pages with text (ETSI EN 300 706), for sources of tests.
// Not in charge of: PES packets and program maps (teletextStream.ts).

/** A page from this time on, in seconds of the video; '' = the page is blank. */
export interface TeletextPage {
  seconds: number
  text: string
}

/** Bytes of one data unit, without its two bytes of type and length. */
type Unit = number[]

const MAGAZINE = 8
const FRAMING_CODE = 0xe4

const bit = (value: number, index: number): number => (value >> index) & 1

/** Hamming 8/4 (8.2). */
function hamming(value: number): number {
  const [d1, d2, d3, d4] = [0, 1, 2, 3].map((index) => bit(value, index)) as [number, number, number, number]
  const p1 = 1 ^ d1 ^ d3 ^ d4
  const p2 = 1 ^ d1 ^ d2 ^ d4
  const p3 = 1 ^ d1 ^ d2 ^ d3
  const p4 = 1 ^ p1 ^ d1 ^ p2 ^ d2 ^ p3 ^ d3 ^ d4
  return p1 | (d1 << 1) | (p2 << 2) | (d2 << 3) | (p3 << 4) | (d3 << 5) | (p4 << 6) | (d4 << 7)
}

/** Odd parity in the highest bit (8.1). */
function withParity(character: number): number {
  const ones = Array.from({ length: 7 }, (_, index) => bit(character, index)).reduce((sum, each) => sum + each, 0)
  return character | (ones % 2 === 0 ? 0x80 : 0)
}

/** DVB stores the bits of a byte in the order of transmission, lowest first. */
function reversed(byte: number): number {
  return Array.from({ length: 8 }, (_, index) => bit(byte, index) << (7 - index)).reduce((sum, each) => sum | each, 0)
}

function packet(line: number, row: number, data: readonly number[]): Unit {
  const address = (MAGAZINE & 7) | (row << 3)
  const bytes = [hamming(address & 15), hamming(address >> 4), ...data]
  return [0xe0 | line, FRAMING_CODE, ...bytes.map(reversed)]
}

/** Header of page 8xx (9.3.1): C4 erase page, C6 subtitle, C7 suppress header. */
function header(line: number, page: number): Unit {
  const control = [page & 15, page >> 4, 0, 0x8, 0, 0x8, 0x1, 0].map(hamming)
  return packet(line, 0, [...control, ...Array<number>(32).fill(withParity(0x20))])
}

/** Two start-box characters, the text, and two end-box characters, padded with spaces. */
function textRow(line: number, text: string): Unit {
  const characters = text === '' ? [] : [0x0b, 0x0b, ...Buffer.from(text, 'latin1'), 0x0a, 0x0a]
  return packet(line, 22, [...characters, ...Array<number>(40 - characters.length).fill(0x20)].map(withParity))
}

/** Three data units: header of page 888, its text, and the header of the next page, which ends it. */
export function teletextUnits(text: string): Unit[] {
  return [header(7, 0x88), textRow(8, text), header(9, 0xff)]
}
