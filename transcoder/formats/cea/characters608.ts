// In charge of: the characters of CEA-608 (ANSI/CTA-608-E, tables 5 to 10).
// Not in charge of: which bytes are characters (captionDecoder.ts).

/** Characters of the basic set that differ from ASCII. */
const BASIC: Record<number, string> = {
  0x2a: 'á',
  0x5c: 'é',
  0x5e: 'í',
  0x5f: 'ó',
  0x60: 'ú',
  0x7b: 'ç',
  0x7c: '÷',
  0x7d: 'Ñ',
  0x7e: 'ñ',
  0x7f: '█',
}
/** 0x30 to 0x3f after 0x11. The tenth is a transparent space. */
const SPECIAL = '®°½¿™¢£♪à\u00a0èâêîôû'
/** 0x20 to 0x3f after 0x12: Spanish, French. */
const WESTERN = 'ÁÉÓÚÜü‘¡*’—©℠•“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»'
/** 0x20 to 0x3f after 0x13: Portuguese, German, Danish. */
const NORTHERN = 'ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤│ÅåØø┌┐└┘'

/** 0x20 to 0x7f. */
export function basicCharacter(code: number): string {
  return BASIC[code] ?? String.fromCodePoint(code)
}

/** The character of `0x11 code`, 0x30 to 0x3f. */
export function specialCharacter(code: number): string {
  return SPECIAL[code - 0x30] ?? ''
}

/** The character of `0x12 code` and `0x13 code`, 0x20 to 0x3f. It replaces the character before it. */
export function extendedCharacter(set: 0x12 | 0x13, code: number): string {
  return (set === 0x12 ? WESTERN : NORTHERN)[code - 0x20] ?? ''
}
