// In charge of: reading WebVTT files (W3C WebVTT, 4 and 6).
// Not in charge of: markup (cueMarkup.ts), settings (cueSettings.ts), ffmpeg's WebVTT (manifests/webvtt/webvttParser.ts).
import type { CaptionCue } from './captionCue.ts'
import { CaptionError } from './captionError.ts'
import { parseMarkup, type MarkupRules } from './cueMarkup.ts'
import { parseCueSettings } from './cueSettings.ts'

const TIME = String.raw`(?:(\d{1,6}):)?([0-5]\d):([0-5]\d)[.,](\d{3})`
const TIMES = new RegExp(String.raw`^[ \t]*${TIME}[ \t]*-->[ \t]*${TIME}(?:[ \t]+(.*))?$`)

const MARKUP: MarkupRules = {
  tags: new Set(['b', 'i', 'u', 'c', 'v', 'lang', 'ruby', 'rt']),
  // The reading of a ruby text: without its place above the characters it would double them.
  hidden: new Set(['rt']),
  braces: false,
  references: true,
}

/** @throws CaptionError */
export function readWebvtt(text: string): CaptionCue[] {
  const lines = text.split('\n')
  if (!/^WEBVTT(?:[ \t].*)?$/.test(lines[0] ?? ''))
    throw new CaptionError('A WebVTT file begins with the line "WEBVTT"; this one does not.', 1)
  const cues: CaptionCue[] = []
  let at = 0
  while (at < lines.length) {
    const block = blockAt(lines, at)
    const times = block.findIndex((line) => line.includes('-->'))
    const isComment = /^NOTE(?:[ \t].*)?$/.test(block[0] ?? '')
    if (times !== -1 && !isComment) cues.push(cueOf(block.slice(times), at + times + 1))
    // A block that another line with times ended has no empty line after it.
    at += block.length + (lines[at + block.length] === '' ? 1 : 0)
  }
  return cues
}

/** The lines up to the next empty one. Players begin a new cue at each line with times, even without an empty line. */
function blockAt(lines: readonly string[], from: number): string[] {
  let to = from
  let seen = 0
  while (to < lines.length && lines[to] !== '') {
    if (lines[to]!.includes('-->')) seen += 1
    if (seen > 1) break
    to += 1
  }
  return lines.slice(from, to)
}

function cueOf([times = '', ...body]: readonly string[], line: number): CaptionCue {
  const found = TIMES.exec(times)
  if (found === null)
    throw new CaptionError(
      'The times of a cue cannot be read; they must look like "00:00:01.000 --> 00:00:02.500".',
      line,
    )
  const { lines } = parseMarkup(body.join('\n'), MARKUP)
  return { start: parseTime(found, 1), end: parseTime(found, 5), lines, place: parseCueSettings(found[9] ?? '') }
}

function parseTime(found: RegExpExecArray, at: number): number {
  const [hours = '0', minutes, seconds, milliseconds] = found.slice(at, at + 4)
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000
}
