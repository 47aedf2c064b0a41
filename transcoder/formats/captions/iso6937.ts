// In charge of: the Latin character set of EBU STL (ISO 6937-2 as in EBU Tech 3264, appendix 2).
// Not in charge of: its other character sets, which are ISO 8859 (stlReader.ts).

/** 0xA0 to 0xFF; a space = not assigned. 0xC1 to 0xCF are diacritics, which come before their letter. */
const UPPER =
  '\u00A0¡¢£$¥#§¤‘“«←↑→↓' +
  '°±²³×µ¶·÷’”»¼½¾¿' +
  '                ' +
  '―¹®©™♪¬¦    ⅛⅜⅝⅞' +
  'ΩÆÐªĦ ĲĿŁØŒºÞŦŊŉ' +
  'ĸæđðħıĳŀłøœßþŧŋ\u00AD'

/** Combining characters of Unicode, from 0xC1 on. */
const DIACRITICS = '\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u0308\u030A\u0327\u0332\u030B\u0328\u030C'

/** Text of one style: no control codes. */
export function decodeIso6937(bytes: readonly number[]): string {
  let text = ''
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    const diacritic = byte > 0xc0 && byte < 0xd0 ? DIACRITICS[byte - 0xc1] : undefined
    const next = bytes[at + 1]
    if (diacritic !== undefined && next !== undefined) {
      text += `${basic(next)}${diacritic}`.normalize('NFC')
      at += 1
    } else if (byte >= 0xa0) text += UPPER[byte - 0xa0]!
    else text += basic(byte)
  }
  return text
}

function basic(byte: number): string {
  // 0x24 is the sign for any currency there; files use it for the dollar.
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ' '
}
