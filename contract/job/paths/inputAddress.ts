// In charge of: what all addresses have in common: scheme, text, and the name of the file.
// Not in charge of: the forms of `input` (stores/), whether an address may be fetched
// (worker/storage/addressPolicy.ts).
import { MAX_LENGTH } from '../../limits.ts'

/** The scheme of a path in lower case; null if it has none. */
export function schemeOf(path: string): string | null {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(path)?.[1]?.toLowerCase() ?? null
}

/** No C0 or C1 control characters, no line separators, no unpaired surrogates. */
export function isCleanText(text: string): boolean {
  return !/[\p{Cc}\u2028\u2029]/u.test(text) && text.isWellFormed()
}

/** Bytes of a text in UTF-8. */
export function utf8ByteLength(text: string): number {
  let bytes = 0
  for (const character of text) {
    const point = character.codePointAt(0)!
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  }
  return bytes
}

/**
 * The source's file name without directory and extension, safe in a path: `http://h/a/My%20film.final.mp4?x` →
 * `My_film_final`. It has no dots, so applying the function again changes nothing. For an upload, pass the name of the
 * uploaded file.
 */
export function outputBaseName(input: string): string {
  const scheme = schemeOf(input)
  const path = scheme === 'http' || scheme === 'https' ? input.replace(/[?#].*$/s, '') : input
  const element =
    path
      .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
      .split(/[/\\]/)
      .at(-1) ?? ''
  const dot = element.lastIndexOf('.')
  const name = decode(dot > 0 ? element.slice(0, dot) : element)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    // Must not begin like a hidden file or a command-line option.
    .replace(/^[_-]+/, '')
    .slice(0, MAX_LENGTH.file_name)
    .replace(/(?<![_-])[_-]+$/, '')
  return name === '' ? 'input' : name
}

/** The file's name for people: `https://h/a/My%20film.mp4?x` → `My film.mp4`. For an upload: `Upload 12`. */
export function lastPathSegment(input: string): string {
  const scheme = schemeOf(input)
  const path = scheme === null || scheme === 'http' || scheme === 'https' ? input.replace(/[?#].*$/s, '') : input
  const number = /^(?:.*\/uploads\/)?(\d+)$/s.exec(path)?.[1]
  if (number !== undefined) return `Upload ${number}`
  const last = path.split('/').findLast((element) => element !== '') ?? input
  return scheme === 'http' || scheme === 'https' ? decode(last) : last
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
