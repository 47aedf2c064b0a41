// In charge of: cue settings of WebVTT (W3C WebVTT, 6.3), read and written.
// Not in charge of: times and text (webvttReader.ts).
import type { CuePlace } from './captionCue.ts'

/** Settings that are not valid are left out, as players do. */
export function parseCueSettings(settings: string): CuePlace {
  const place: CuePlace = {}
  for (const setting of settings.split(/[ \t]+/)) {
    const [name, value = ''] = splitOnce(setting, ':')
    if (name === 'vertical' && (value === 'rl' || value === 'lr')) place.vertical = value
    else if (name === 'align') {
      const align = value === 'middle' ? 'center' : value
      if (isOneOf(align, ['start', 'center', 'end', 'left', 'right'])) place.align = align
    } else if (name === 'size') {
      const size = percentage(value)
      if (size !== null) place.size = size
    } else if (name === 'line') {
      const line = lineOf(value)
      if (line !== null) place.line = line
    } else if (name === 'position') {
      const [at, anchor] = splitOnce(value, ',')
      const percent = percentage(at)
      const known = anchor === undefined || isOneOf(anchor, ['line-left', 'center', 'line-right'])
      if (percent !== null && known) place.position = { percent, anchor: anchor ?? null }
    }
  }
  return place
}

/** '' = the player's default. */
export function formatCueSettings({ line, position, size, align, vertical }: CuePlace): string {
  return [
    ...(vertical === undefined ? [] : [`vertical:${vertical}`]),
    ...(line === undefined ? [] : [`line:${formatLine(line)}`]),
    ...(position === undefined
      ? []
      : [`position:${number(position.percent)}%${position.anchor === null ? '' : `,${position.anchor}`}`]),
    ...(size === undefined ? [] : [`size:${number(size)}%`]),
    ...(align === undefined ? [] : [`align:${align}`]),
  ].join(' ')
}

function formatLine(line: NonNullable<CuePlace['line']>): string {
  if ('number' in line) return `${line.number}`
  return `${number(line.percent)}%${line.anchor === 'start' ? '' : `,${line.anchor}`}`
}

function number(value: number): number {
  return Number(value.toFixed(2))
}

function lineOf(value: string): NonNullable<CuePlace['line']> | null {
  const [at, anchor = 'start'] = splitOnce(value, ',')
  if (!isOneOf(anchor, ['start', 'center', 'end'])) return null
  const percent = percentage(at)
  if (percent !== null) return { percent, anchor }
  return /^-?\d{1,4}$/.test(at) ? { number: Number(at) } : null
}

function percentage(value: string): number | null {
  if (!/^\d{1,3}(\.\d{1,9})?%$/.test(value)) return null
  const percent = Number(value.slice(0, -1))
  return percent <= 100 ? percent : null
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function isOneOf<const V extends string>(value: string, values: readonly V[]): value is V {
  return values.some((each) => each === value)
}
