// In charge of: captions as an ASS file for libass, in one output's size and at its frames. All text is escaped: no
// caption can contain commands of the format.
// Not in charge of: line breaks that the author left to the player (lineBreaks.ts), the filter (plan/argv/burnInArgs.ts).
import type { CaptionCue, TextRun } from '../captions/captionCue.ts'
import { plainText } from '../captions/captionCue.ts'
import type { Rational } from '../rational.ts'
import { boxOf, type CueBox } from './cueBox.ts'
import { breakLine, lineText, type LineRoom } from './lineBreaks.ts'

/** How captions look in one output. */
export interface AssLook {
  /** Pixels of the output as displayed: square. */
  width: number
  height: number
  frameRate: Rational
  /** Grey level of the text, 0 to 255. */
  white: number
  /** Family name of the font. */
  font: string
}

/** Height of a line in percent of the shorter side; small frames need larger text to be read. */
const LINE_PERCENT = 5.9
const SMALL_LINE_PERCENT = 7.5
const SMALL_SIDE = 360
/** Below this many pixels, letters cannot be told apart. */
const MINIMUM_LINE = 18
/** At most this part of the shorter side: otherwise two lines would fill a tiny frame. */
const MAXIMUM_SHARE = 1 / 6
/** Width of a Han character, and the mean of a Latin one with some reserve, in line heights. */
const WIDE = 0.74
const NARROW = 0.42
/** Title-safe margins (EBU R 95 has 5 % for graphics). */
const MARGIN_SHARE = 0.05

/** Pixels of a line. */
export function lineHeight({ width, height }: Pick<AssLook, 'width' | 'height'>): number {
  const side = Math.min(width, height)
  if (side >= SMALL_SIDE) return Math.round((side * LINE_PERCENT) / 100)
  const wanted = Math.max((side * SMALL_LINE_PERCENT) / 100, MINIMUM_LINE)
  return Math.max(1, Math.round(Math.min(wanted, side * MAXIMUM_SHARE)))
}

/**
 * Times in ASS are hundredths of a second, and libass compares them with whole milliseconds: too coarse for the frames
 * of fast video, whose clock the filter slows down by this factor.
 */
export function clockFactor({ num, den }: Rational): number {
  return num / den > 60 ? 10 : 1
}

/** Cues in presentation time, 0 = the first frame. */
export function assFile(cues: readonly CaptionCue[], look: AssLook): string {
  const line = lineHeight(look)
  const margin = (side: number) => Math.max(1, Math.round(side * MARGIN_SHARE))
  const [across, down] = [margin(look.width), margin(look.height)]
  const grey = look.white.toString(16).toUpperCase().padStart(2, '0')
  const room: LineRoom = { width: look.width, wide: line * WIDE, narrow: line * NARROW }
  const outline = Math.max(1, line / 16).toFixed(1)
  return [
    '[Script Info]',
    'ScriptType: v4.00+',
    `PlayResX: ${look.width}`,
    `PlayResY: ${look.height}`,
    'WrapStyle: 0',
    'ScaledBorderAndShadow: yes',
    '',
    '[V4+ Styles]',
    'Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding',
    // Encoding -1: the direction of each line follows from its first letter.
    `Style: Default,${look.font},${line},&H00${grey.repeat(3)},&H00${grey.repeat(3)},&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,${outline},${(line / 64).toFixed(1)},2,${across},${across},${down},-1`,
    '',
    '[Events]',
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
    ...cues.flatMap((cue) => {
      const box = boxOf(cue, { ...look, line, across, down })
      const text = cueText(cue, box, room)
      if (text === '') return []
      const [start, end] = frameTimes(cue, look.frameRate)
      return [`Dialogue: 0,${start},${end},Default,,${box.left},${box.right},${box.vertical},,${text}`]
    }),
    '',
  ].join('\n')
}

/** The caption is in exactly the frames whose times are from its start to before its end, and in one at least. */
export function framesOf(
  { start, end }: Pick<CaptionCue, 'start' | 'end'>,
  { num, den }: Rational,
): [first: number, after: number] {
  // Times were read from milliseconds, and frames are at fractions: a difference of a microsecond is none.
  const frame = (seconds: number) => Math.max(0, Math.ceil((seconds * num) / den - 1e-6 * (num / den)))
  const first = frame(start)
  return [first, Math.max(first + 1, frame(end))]
}

function frameTimes(cue: CaptionCue, rate: Rational): [start: string, end: string] {
  const factor = clockFactor(rate)
  const [first, after] = framesOf(cue, rate)
  // In the middle between two frames, as far as possible from both.
  const time = (frame: number) =>
    assTime(frame === 0 ? 0 : Math.round((((frame - 0.5) * rate.den) / rate.num) * factor * 100))
  return [time(first), time(after)]
}

/** Hundredths of a second as H:MM:SS.cc. */
function assTime(hundredths: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const seconds = hundredths / 100
  return `${Math.floor(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}.${two(hundredths % 100)}`
}

function cueText(cue: CaptionCue, { alignment, left, right }: CueBox, room: LineRoom): string {
  if (plainText(cue).trim() === '') return ''
  const space = room.width - left - right
  const lines = cue.lines.map((runs) => lineOf(runs, breakLine(lineText(runs), { ...room, width: space })))
  return `{\\an${alignment}}${lines.join('\\N')}`
}

/** `breaks`: positions in the text of the line at which another line begins. */
function lineOf(runs: readonly TextRun[], breaks: readonly number[]): string {
  let position = 0
  return runs
    .map((run) => {
      const inside = breaks.map((at) => at - position).filter((at) => at > 0 && at < run.text.length)
      const startsLine = position > 0 && breaks.includes(position)
      position += run.text.length
      const pieces = [0, ...inside].map((from, index) => escapeText(run.text.slice(from, inside[index])))
      return `${startsLine ? '\\N' : ''}${styled(run, pieces.join('\\N'))}`
    })
    .join('')
}

function styled(run: TextRun, text: string): string {
  const tags = (['bold', 'italic', 'underline'] as const).filter((style) => run[style]).map((style) => style[0]!)
  if (tags.length === 0) return text
  const all = (on: 0 | 1) => `{${tags.map((tag) => `\\${tag}${on}`).join('')}}`
  return `${all(1)}${text}${all(0)}`
}

/**
 * Text that libass shows as it is. `\{` is a brace; a backslash has no escape, so an invisible character (U+2060)
 * keeps it from being one with the next letter. Control characters and unpaired surrogates are left out.
 */
export function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u0085\u2028\u2029\t\n\v\f\r]+/g, ' ')
    .replaceAll(/[\p{Cc}\uFFFD\uFEFF\uFFFE\uFFFF]/gu, '')
    .replaceAll('\\', '\\\u2060')
    .replaceAll(/[{}]/g, '\\$&')
}
