// In charge of: the characters of CEA-708 (ANSI/CTA-708-E 7.1): G0 and G1, and the extended sets G2 and G3.
// Not in charge of: which bytes are characters (service708.ts).

/** G2 (table 8). `extendedCharacter708` handles undefined codes. */
const G2: Record<number, string> = {
  0x20: ' ',
  0x21: '\u00a0',
  0x25: '…',
  0x2a: 'Š',
  0x2c: 'Œ',
  0x30: '█',
  0x31: '‘',
  0x32: '’',
  0x33: '“',
  0x34: '”',
  0x35: '•',
  0x39: '™',
  0x3a: 'š',
  0x3c: 'œ',
  0x3d: '℠',
  0x3f: 'Ÿ',
  0x76: '⅛',
  0x77: '⅜',
  0x78: '⅝',
  0x79: '⅞',
  0x7a: '│',
  0x7b: '┐',
  0x7c: '└',
  0x7d: '─',
  0x7e: '┘',
  0x7f: '┌',
}

/** 0x20 to 0x7f and 0xa0 to 0xff: ASCII, except that 0x7f is a musical note, and ISO 8859-1. */
export function character708(code: number): string {
  return code === 0x7f ? '♪' : String.fromCodePoint(code)
}

/** The character after EXT1. G3 has one character, the icon for captions. 7.1.9: an unknown code is an underscore. */
export function extendedCharacter708(code: number): string {
  return G2[code] ?? (code === 0xa0 ? '[CC]' : '_')
}
