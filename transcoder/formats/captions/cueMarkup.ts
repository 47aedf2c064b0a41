// In charge of: the markup within a cue of SubRip and WebVTT: bold, italic and underlined text, and character references.
// Not in charge of: times and settings (srtReader.ts, webvttReader.ts).
import { CaptionError } from './captionError.ts'
import { PLAIN, tidyLines, type TextRun } from './captionCue.ts'

/** Character references of WebVTT (W3C WebVTT, 6.4), with the numeric forms of HTML. */
const REFERENCES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00A0',
  lrm: '\u200E',
  rlm: '\u200F',
}

/** A tag on one line: a name with classes, or a time. Longer ones do not exist. */
const TAG = /<(\/?)(?:(\d[\d:.]*)|([a-z][a-z0-9]*)?(?:\.[^\s<>]*)?)(?:\s[^<>]{0,500})?>/giy
/** Raw, with markup. What is shown has a lower limit (readCaptions.ts). */
const MAX_MARKUP_CHARACTERS = 100_000
/** `{b}`, `{\an8}`: SubRip files contain tags of other formats in braces. */
const BRACED = /\{(?:\\[^{}\n]{0,200}|\/?[biu]|[yYcCfFsS]:[^{}\n]{0,100})\}/y

export interface MarkupRules {
  /** Names of tags that are markup; a sign `<` that begins none of them is text. */
  tags: ReadonlySet<string>
  /** Tags whose content is not part of the text. */
  hidden: ReadonlySet<string>
  /** `{\an8}` and the like. */
  braces: boolean
  /** `&amp;` */
  references: boolean
}

export interface Markup {
  lines: TextRun[][]
  /** The contents of braces: `\an8`. */
  braced: string[]
}

/** `text`: the lines of a cue, separated by line feeds. */
export function parseMarkup(text: string, { tags, hidden, braces, references }: MarkupRules): Markup {
  if (text.length > MAX_MARKUP_CHARACTERS)
    throw new CaptionError(`One of its captions has more than ${MAX_MARKUP_CHARACTERS} characters of text and markup.`)
  const lines: TextRun[][] = [[]]
  const braced: string[] = []
  const open = { b: 0, i: 0, u: 0 }
  let hiding = 0
  let pending = ''
  const flush = () => {
    if (pending !== '') lines.at(-1)!.push({ text: pending, ...styleOf(open) })
    pending = ''
  }
  let at = 0
  while (at < text.length) {
    const sign = text[at]!
    if (sign === '\n') {
      flush()
      lines.push([])
      at += 1
      continue
    }
    if (sign === '<') {
      TAG.lastIndex = at
      const [tag, closing, time, name] = TAG.exec(text) ?? []
      const known = time !== undefined || name === undefined || tags.has(name.toLowerCase())
      if (tag !== undefined && known) {
        flush()
        const lower = (name ?? '').toLowerCase()
        if (lower === 'b' || lower === 'i' || lower === 'u')
          open[lower] = Math.max(0, open[lower] + (closing === '' ? 1 : -1))
        if (hidden.has(lower)) hiding = Math.max(0, hiding + (closing === '' ? 1 : -1))
        at += tag.length
        continue
      }
    }
    if (sign === '{' && braces) {
      BRACED.lastIndex = at
      const brace = BRACED.exec(text)?.[0]
      if (brace !== undefined) {
        flush()
        braced.push(brace.slice(1, -1))
        const style = /^\{(\/?)([biu])\}$/.exec(brace)
        if (style !== null) {
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- by the expression
          const lower = style[2] as 'b' | 'i' | 'u'
          open[lower] = Math.max(0, open[lower] + (style[1] === '' ? 1 : -1))
        }
        at += brace.length
        continue
      }
    }
    const reference =
      sign === '&' && references ? /^&(#x?[0-9a-f]{1,6}|[a-z]{2,4});/i.exec(text.slice(at, at + 10)) : null
    const character = reference === null ? undefined : characterOf(reference[1]!)
    if (hiding === 0) pending += character ?? sign
    at += character === undefined ? 1 : reference![0].length
  }
  flush()
  return { lines: tidyLines(lines), braced }
}

function styleOf(open: { b: number; i: number; u: number }): typeof PLAIN | Omit<TextRun, 'text'> {
  return { bold: open.b > 0, italic: open.i > 0, underline: open.u > 0 }
}

/** undefined = not a reference, so it is text. */
function characterOf(name: string): string | undefined {
  if (!name.startsWith('#')) return Object.hasOwn(REFERENCES, name) ? REFERENCES[name] : undefined
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10)
  const isCharacter = code >= 0x20 && code <= 0x10_ff_ff && !(code >= 0xd800 && code <= 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : undefined
}
