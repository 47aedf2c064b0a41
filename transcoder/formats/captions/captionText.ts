// In charge of: the characters of a caption file: UTF-8, UTF-16 with a byte order mark, what XML states, and otherwise
// Windows-1252.
// Not in charge of: the character tables of EBU STL (stlReader.ts).
import { CaptionError } from './captionError.ts'

export interface DecodedText {
  /** Lines are separated by line feeds only; no byte order mark. */
  text: string
  /** It is not valid UTF-8 and has no byte order mark, so it was read as Windows-1252. */
  isAssumed: boolean
}

export function decodeCaptionText(bytes: Uint8Array): DecodedText {
  const utf16 = startsWith(bytes, 0xff, 0xfe) ? 'utf-16le' : startsWith(bytes, 0xfe, 0xff) ? 'utf-16be' : null
  if (utf16 !== null) return { text: normalized(new TextDecoder(utf16).decode(bytes)), isAssumed: false }
  const declared = declaredEncoding(bytes)
  if (declared !== null) return { text: normalized(decodeAs(declared, bytes)), isAssumed: false }
  try {
    return { text: normalized(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), isAssumed: false }
  } catch {
    return { text: normalized(new TextDecoder('windows-1252').decode(bytes)), isAssumed: true }
  }
}

/** The encoding that an XML document states; null = UTF-8, or none. */
function declaredEncoding(bytes: Uint8Array): string | null {
  const head = String.fromCharCode(...bytes.subarray(0, 200))
  const name = /^(?:\u00EF\u00BB\u00BF)?<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/.exec(
    head,
  )?.[1]
  return name === undefined || /^(utf-?8|us-ascii|utf-?16)$/i.test(name) ? null : name
}

function decodeAs(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(name).decode(bytes)
  } catch {
    throw new CaptionError(`Its encoding ${name} is not known.`, 1)
  }
}

/** NUL is replaced, as in WebVTT (4.1): some programs cannot store it. */
function normalized(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').replaceAll(/\r\n?/g, '\n')
}

function startsWith(bytes: Uint8Array, first: number, second: number): boolean {
  return bytes[0] === first && bytes[1] === second
}
