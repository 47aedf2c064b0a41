// In charge of: reading TTML and IMSC1 text profiles (W3C TTML2, TTML-IMSC1.2): timing, text, styles and regions.
// Not in charge of: time expressions (ttmlTimes.ts), styles (ttmlStyles.ts), images, which have no text.
import { MAX_CAPTION_CUES } from '#contract/limits.ts'
import { SaxesParser, type SaxesAttributeNS } from 'saxes'
import { tidyLines, type CaptionCue, type TextRun } from './captionCue.ts'
import { CaptionError } from './captionError.ts'
import type { CaptionFile } from './captionFile.ts'
import { printedHour, startRemark, timecodeSeconds } from './timecode.ts'
import { parseTtmlTime, readClock, type TtmlClock } from './ttmlTimes.ts'
import { isStyleName, placeOfRegion, StyleSheet, type TtmlElement, type TtmlStyle } from './ttmlStyles.ts'

const MAX_DEPTH = 64
/** Different times within one paragraph, such as of its words. */
const MAX_TIMES = 500
/** Text of one file, counted at every time of its paragraph. A piece of text or a line break costs as much as these. */
const MAX_SHOWN_CHARACTERS = 100_000_000
const PIECE_CHARACTERS = 32
/** What has no end is shown this long; the outputs end earlier. */
const ENDLESS_SECONDS = 100_000

/** An element of the body that is open. */
interface Frame {
  element: TtmlElement
  start: number
  end: number
  /** Where the next child of a sequence begins. */
  next: number
  isSequence: boolean
  style: TtmlStyle
  region: string | undefined
  keepsSpace: boolean
  isHidden: boolean
}

/** Text or a line break of a paragraph. */
type Piece = { start: number; end: number } & ({ text: string; style: TtmlStyle; keepsSpace: boolean } | { text: null })

/** @throws CaptionError */
export function readTtml(text: string, offsetSeconds: number | null): Pick<CaptionFile, 'cues' | 'remarks'> {
  const document = new TtmlDocument()
  const parser = new SaxesParser({ xmlns: true, position: true })
  parser.on('error', ({ message }) => {
    throw new CaptionError(`It is not well-formed XML: ${message.replace(/^\d+:\d+: */, '')}`, parser.line)
  })
  let depth = 0
  parser.on('opentag', ({ local, uri, attributes }) => {
    depth += 1
    if (depth > MAX_DEPTH)
      throw new CaptionError(`Its elements are nested deeper than ${MAX_DEPTH} levels.`, parser.line)
    document.open(local, isTtml(uri), Object.values(attributes), parser.line)
  })
  parser.on('closetag', () => {
    depth -= 1
    document.close()
  })
  parser.on('text', (part) => document.text(part))
  parser.on('cdata', (part) => document.text(part))
  parser.write(text).close()
  return document.finish(offsetSeconds)
}

/** TTML and its drafts. */
function isTtml(uri: string): boolean {
  return /^http:\/\/www\.w3\.org\/(ns\/ttml|\d{4}\/\d{2}\/ttaf1)$/.test(uri)
}

class TtmlDocument {
  readonly #sheet = new StyleSheet()
  #clock: TtmlClock | null = null
  #root = { pixels: null as [number, number] | null, cells: [32, 15] as [number, number] }
  readonly #frames: Frame[] = []
  /** Names of all open elements, also of those outside of the body. */
  readonly #names: string[] = []
  #region: string | undefined
  #pieces: Piece[] | null = null
  readonly #cues: CaptionCue[] = []
  #shown = 0

  open(name: string, isKnown: boolean, given: readonly SaxesAttributeNS[], line: number): void {
    this.#names.push(isKnown ? name : '')
    const element = elementOf(name, given)
    if (this.#names.length === 1) {
      if (!isKnown || name !== 'tt') throw new CaptionError('Its root element is not the tt of TTML.', line)
      this.#readRoot(element, line)
      return
    }
    if (name === 'image' || element.styles['backgroundImage'] !== undefined)
      throw new CaptionError('It contains images of captions instead of text.', line)
    if (!isKnown) return
    const refers = (element.attributes['style'] ?? '').split(/\s+/).filter((id) => id !== '')
    if (name === 'style') this.#addStyle(element, refers)
    else if (name === 'region') this.#addRegion(element, refers)
    else if (['body', 'div', 'p', 'span', 'br'].includes(name)) this.#openContent(element, refers, line)
  }

  close(): void {
    const name = this.#names.pop()
    if (name === 'region') this.#region = undefined
    if (name === 'br' || name === 'body' || name === 'div' || name === 'p' || name === 'span') this.#closeContent(name)
  }

  text(part: string): void {
    const frame = this.#frames.at(-1)
    const within = this.#names.at(-1)
    if (frame === undefined || this.#pieces === null || frame.isHidden || (within !== 'p' && within !== 'span')) return
    const { start, end, style, keepsSpace } = frame
    this.#pieces.push({ start, end, text: part, style, keepsSpace })
  }

  finish(offsetSeconds: number | null): Pick<CaptionFile, 'cues' | 'remarks'> {
    const clock = this.#clock
    if (clock === null) throw new CaptionError('It has no content.', 1)
    const first = Math.min(...this.#cues.slice(0, 1).map(({ start }) => start))
    const hour =
      offsetSeconds === null && clock.isTimecode && Number.isFinite(first) ? Math.floor(first / hourSeconds(clock)) : 0
    const offset = offsetSeconds ?? -hour * hourSeconds(clock)
    return {
      cues: this.#cues.map((cue) => ({ ...cue, start: cue.start + offset, end: cue.end + offset })),
      remarks: hour === 0 ? [] : [startRemark(printedHour(hour))],
    }
  }

  #readRoot({ attributes, styles }: TtmlElement, line: number): void {
    this.#clock = readClock((name) => attributes[name])
    if (this.#clock === null)
      throw new CaptionError('Its frameRate, frameRateMultiplier, subFrameRate or tickRate is no number above 0.', line)
    const extent = /^(\d{1,5})px (\d{1,5})px$/.exec(styles['extent'] ?? '')
    if (extent !== null) this.#root.pixels = [Number(extent[1]), Number(extent[2])]
    const cells = /^(\d{1,4}) (\d{1,4})$/.exec(attributes['cellResolution'] ?? '')
    if (cells !== null) this.#root.cells = [Number(cells[1]), Number(cells[2])]
    this.#keepsSpace = attributes['space'] === 'preserve'
  }
  #keepsSpace = false

  #addStyle({ styles, attributes }: TtmlElement, refers: string[]): void {
    // Within a region, a style belongs to it.
    if (this.#region !== undefined) this.#sheet.addRegion(this.#region, this.#sheet.resolve(styles, refers))
    else if (attributes['id'] !== undefined) this.#sheet.addStyle(attributes['id'], styles, refers)
  }

  #addRegion({ styles, attributes }: TtmlElement, refers: string[]): void {
    this.#region = attributes['id'] ?? ''
    this.#sheet.addRegion(this.#region, this.#sheet.resolve(styles, refers))
  }

  #openContent(element: TtmlElement, refers: string[], line: number): void {
    const parent = this.#frames.at(-1)
    const { name, attributes } = element
    const own = this.#sheet.resolve(element.styles, refers)
    // Neither is inherited, but both hide all that is inside.
    const isHidden =
      parent?.isHidden === true || own['display'] === 'none' || /^(text|delimiter)/.test(own['ruby'] ?? '')
    const { display: _display, ruby: _ruby, ...inherited } = own
    const base = { start: parent?.start ?? 0, end: parent?.end ?? Number.POSITIVE_INFINITY }
    const from = parent?.isSequence === true ? parent.next : base.start
    const start = from + (this.#time(attributes['begin'], line) ?? 0)
    const duration = this.#time(attributes['dur'], line)
    const stated = this.#time(attributes['end'], line)
    const end = Math.min(
      base.end,
      stated === null ? Number.POSITIVE_INFINITY : from + stated,
      duration === null ? Number.POSITIVE_INFINITY : start + duration,
    )
    const space = attributes['space']
    this.#frames.push({
      element,
      start,
      end,
      next: start,
      isSequence: attributes['timeContainer'] === 'seq',
      style: { ...parent?.style, ...inherited },
      region: attributes['region'] ?? parent?.region,
      keepsSpace: space === undefined ? (parent?.keepsSpace ?? this.#keepsSpace) : space === 'preserve',
      isHidden,
    })
    if (name === 'p') this.#pieces = []
    if (name === 'br' && !isHidden) this.#pieces?.push({ start: base.start, end: base.end, text: null })
  }

  #closeContent(name: string): void {
    const frame = this.#frames.pop()
    const parent = this.#frames.at(-1)
    if (frame === undefined) return
    if (parent !== undefined && Number.isFinite(frame.end)) parent.next = frame.end
    if (name !== 'p' || this.#pieces === null) return
    const region = this.#sheet.region(frame.region)
    const style = { ...region, ...frame.style }
    const place = placeOfRegion(region, style['textAlign'], this.#root)
    if (region?.['display'] !== 'none') {
      const times = timesOf(this.#pieces)
      const characters = this.#pieces.reduce((sum, { text }) => sum + PIECE_CHARACTERS + (text?.length ?? 0), 0)
      this.#shown += characters * times.length
      if (this.#shown > MAX_SHOWN_CHARACTERS)
        throw new CaptionError('Its paragraphs have too many parts that are shown at too many times.')
      for (const cue of cuesOf(this.#pieces, times, region ?? {})) this.#cues.push({ ...cue, place })
      if (this.#cues.length > MAX_CAPTION_CUES) throw new CaptionError(`It has more than ${MAX_CAPTION_CUES} captions.`)
    }
    this.#pieces = null
  }

  #time(expression: string | undefined, line: number): number | null {
    if (expression === undefined) return null
    const seconds = this.#clock === null ? null : parseTtmlTime(expression, this.#clock)
    if (seconds === null) throw new CaptionError('A time of TTML cannot be read.', line)
    return seconds
  }
}

function hourSeconds({ rate, dropMode }: TtmlClock): number {
  const dropped = dropMode === 'dropNTSC' ? Math.round(rate.num / rate.den / 15) : 0
  return timecodeSeconds({ hours: 1, minutes: 0, seconds: 0, frames: 0 }, { rate, dropped })
}

function elementOf(name: string, given: readonly SaxesAttributeNS[]): TtmlElement {
  const styles: Record<string, string> = {}
  const attributes: Record<string, string> = {}
  for (const { local, uri, value } of given) {
    if (local === '__proto__') continue
    // Namespaces of styling, and the one of SMPTE-TT for images.
    if (uri !== '' && isStyleName(local) && !uri.endsWith('parameter')) styles[local] = value
    else attributes[local] = value
  }
  return { name, styles, attributes }
}

/** The times at which another part of a paragraph is shown, in order. */
function timesOf(pieces: readonly Piece[]): number[] {
  const shown = pieces.filter(({ text, end, start }) => text !== null && text.trim() !== '' && end > start)
  const times = [...new Set(shown.flatMap(({ start, end }) => [start, end]))].toSorted((a, b) => a - b)
  if (times.length > MAX_TIMES) throw new CaptionError(`A paragraph has more than ${MAX_TIMES} different times.`)
  return times
}

/** One cue for each of `times`. */
function cuesOf(pieces: readonly Piece[], times: readonly number[], region: TtmlStyle): Omit<CaptionCue, 'place'>[] {
  return times.slice(0, -1).flatMap((start, at) => {
    const end = times[at + 1]!
    const active = pieces.filter((piece) => piece.start <= start && piece.end >= end)
    const lines = linesOf(active, region)
    return lines.length === 0 ? [] : [{ start, end: Math.min(end, start + ENDLESS_SECONDS), lines }]
  })
}

function linesOf(pieces: readonly Piece[], region: TtmlStyle): TextRun[][] {
  const lines: TextRun[][] = [[]]
  for (const piece of pieces) {
    if (piece.text === null) {
      lines.push([])
      continue
    }
    const style = { ...region, ...piece.style }
    if (style['visibility'] === 'hidden') continue
    const runStyle = {
      bold: style['fontWeight'] === 'bold',
      italic: style['fontStyle'] === 'italic' || style['fontStyle'] === 'oblique',
      underline: /(^|\s)underline(\s|$)/.test(style['textDecoration'] ?? ''),
    }
    if (piece.keepsSpace) {
      for (const [index, text] of piece.text.split('\n').entries()) {
        if (index > 0) lines.push([])
        lines.at(-1)!.push({ text, ...runStyle })
      }
      continue
    }
    const line = lines.at(-1)!
    const collapsed = piece.text.replaceAll(/[ \t\n\r]+/g, ' ')
    const text = line.at(-1)?.text.endsWith(' ') === true ? collapsed.replace(/^ /, '') : collapsed
    if (text !== '') line.push({ text, ...runStyle })
  }
  return tidyLines(lines)
}
