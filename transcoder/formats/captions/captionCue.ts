// In charge of: the type that every reader of caption files returns, and every output of captions is made from.
// Not in charge of: captions in the video (formats/cea/captionScreen.ts).

/** Text of one style within a line. */
export interface TextRun {
  text: string
  bold: boolean
  italic: boolean
  underline: boolean
}

/** Where a cue is shown, as far as WebVTT can express it (W3C WebVTT, 3.4). Missing members: the player's default. */
export interface CuePlace {
  /** Percent of the frame's height at which the cue's edge (or middle) lies, or a line counted from the top or, negative, from the bottom. */
  line?: { percent: number; anchor: 'start' | 'center' | 'end' } | { number: number }
  /** Percent of the frame's width. `anchor` null = follows from `align`. */
  position?: { percent: number; anchor: 'line-left' | 'center' | 'line-right' | null }
  /** Width of the cue in percent of the frame's width. */
  size?: number
  /** start and end depend on the direction of the text. */
  align?: 'start' | 'center' | 'end' | 'left' | 'right'
  /** Vertical text: the direction in which lines grow. */
  vertical?: 'rl' | 'lr'
}

export interface CaptionCue {
  /** Seconds on the timeline of the file, after its programme start was taken off. */
  start: number
  end: number
  /** At least one line; no run contains a line break. A line without runs is empty. */
  lines: TextRun[][]
  place: CuePlace
}

/** The text without styles; lines are separated by line feeds. */
export function plainText({ lines }: Pick<CaptionCue, 'lines'>): string {
  return lines.map((runs) => runs.map(({ text }) => text).join('')).join('\n')
}

export const PLAIN = { bold: false, italic: false, underline: false } as const

export function plainLine(text: string): TextRun[] {
  return text === '' ? [] : [{ text, ...PLAIN }]
}

/** Joins neighbours of equal style, and drops empty runs, outer blanks and empty lines at the beginning and end. */
export function tidyLines(lines: readonly (readonly TextRun[])[]): TextRun[][] {
  const joined = lines.map((runs) => trimLine(joinRuns(runs)))
  const first = joined.findIndex((runs) => runs.length > 0)
  return first === -1 ? [] : joined.slice(first, joined.findLastIndex((runs) => runs.length > 0) + 1)
}

function joinRuns(runs: readonly TextRun[]): TextRun[] {
  const joined: TextRun[] = []
  for (const run of runs) {
    const last = joined.at(-1)
    if (run.text === '') continue
    if (last !== undefined && hasStyleOf(last, run)) last.text += run.text
    else joined.push({ ...run })
  }
  return joined
}

function hasStyleOf(a: TextRun, b: TextRun): boolean {
  return a.bold === b.bold && a.italic === b.italic && a.underline === b.underline
}

/** Blanks of ASCII only: no-break and ideographic spaces are indents that an author chose. */
function trimLine(runs: TextRun[]): TextRun[] {
  const line = [...runs]
  while (line.length > 0 && /^[ \t]*$/.test(line[0]!.text)) line.shift()
  while (line.length > 0 && /^[ \t]*$/.test(line.at(-1)!.text)) line.pop()
  if (line.length === 0) return []
  line[0] = { ...line[0]!, text: line[0]!.text.replace(/^[ \t]+/, '') }
  const last = line.length - 1
  line[last] = { ...line[last]!, text: trimEnd(line[last]!.text) }
  return line
}

/** Not a regular expression: those need quadratic time for long rows of blanks. */
function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(0, end)
}
