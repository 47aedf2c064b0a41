// In charge of: where a caption is drawn: the settings of WebVTT (3.4 of the W3C recommendation) as alignment and
// margins of ASS, which keep overlapping captions apart by themselves.
// Not in charge of: vertical text, which is drawn horizontally at the bottom.
import { plainText, type CaptionCue, type CuePlace } from '../captions/captionCue.ts'

/** The frame, and its margins for captions, in pixels. */
export interface Frame {
  width: number
  height: number
  /** Height of a line. */
  line: number
  /** Margins at the sides, and at top and bottom. */
  across: number
  down: number
}

export interface CueBox {
  /** Number of ASS: 1 to 3 at the bottom, 7 to 9 at the top; left, centre, right. */
  alignment: 1 | 2 | 3 | 7 | 8 | 9
  /** Margins in pixels, at least 1: 0 stands for the margins of the style. */
  left: number
  right: number
  vertical: number
}

/** Narrower boxes would break every word. */
const MINIMUM_WIDTH_PERCENT = 25

export function boxOf(cue: CaptionCue, frame: Frame): CueBox {
  const place = cue.place.vertical === undefined ? cue.place : {}
  const column = columnOf(place.align, () => isRightToLeft(plainText(cue)))
  const { isTop, margin } = verticalOf(place, cue.lines.length, frame)
  const [left, right] = sidesOf(place, column, frame)
  const pixels = (value: number) => Math.max(1, Math.round(value))
  return {
    alignment: ((isTop ? 7 : 1) + column) as CueBox['alignment'],
    left: pixels(left),
    right: pixels(right),
    vertical: pixels(margin),
  }
}

/** 0 = left, 1 = centre, 2 = right. */
function columnOf(align: CuePlace['align'], isReversed: () => boolean): 0 | 1 | 2 {
  if (align === undefined || align === 'center') return 1
  if (align === 'left' || align === 'right') return align === 'left' ? 0 : 2
  return (align === 'start') === isReversed() ? 2 : 0
}

/** Whether the margin is at the top. The block grows away from it, so text that wraps stays inside the frame. */
function verticalOf({ line }: CuePlace, lines: number, frame: Frame): { isTop: boolean; margin: number } {
  const { height, line: step, down } = frame
  const inside = (margin: number) => Math.min(Math.max(margin, down), Math.max(down, height - down - lines * step))
  if (line === undefined) return { isTop: false, margin: down }
  if ('number' in line) {
    if (line.number >= 0) return { isTop: true, margin: inside(down + line.number * step) }
    return { isTop: false, margin: inside(down + Math.max(0, -line.number - lines) * step) }
  }
  const at = (line.percent / 100) * height
  const above = { start: 0, center: 0.5, end: 1 }[line.anchor] * lines * step
  const top = at - above
  if (line.percent <= 50) return { isTop: true, margin: inside(top) }
  return { isTop: false, margin: inside(height - (top + lines * step)) }
}

/** Margins left and right. */
function sidesOf({ position, size = 100 }: CuePlace, column: 0 | 1 | 2, { width, across }: Frame): [number, number] {
  const standard: [number, number] = [across, across]
  if (position === undefined && size >= 100) return standard
  const at = position?.percent ?? [0, 50, 100][column]!
  const anchor = position?.anchor ?? (['line-left', 'center', 'line-right'] as const)[column]
  const room = { 'line-left': 100 - at, center: 2 * Math.min(at, 100 - at), 'line-right': at }[anchor]
  const span = Math.min(size, room)
  if (span < MINIMUM_WIDTH_PERCENT) return standard
  const left = at - { 'line-left': 0, center: 0.5, 'line-right': 1 }[anchor] * span
  const pixels = (percent: number) => Math.max(across, (percent / 100) * width)
  return [pixels(left), pixels(100 - left - span)]
}

/** By the first letter with a direction (Unicode Bidirectional Algorithm, P2 and P3). */
export function isRightToLeft(text: string): boolean {
  const first = /\p{L}/u.exec(text)?.[0] ?? ''
  return /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u.test(
    first,
  )
}
