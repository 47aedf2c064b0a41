// In charge of: cues of caption files as WebVTT: tags for their styles, settings for their places.
// Not in charge of: the file (webvttWriter.ts).
import { plainText, type CaptionCue, type TextRun } from '../../formats/captions/captionCue.ts'
import { formatCueSettings } from '../../formats/captions/cueSettings.ts'
import { escapeText, type VttCue } from './webvttWriter.ts'

export function vttCueOf(cue: CaptionCue): VttCue {
  const { start, end, lines, place } = cue
  const markup = lines
    .filter((runs) => runs.some(({ text }) => text.trim() !== ''))
    .map((runs) => runs.map(tagged).join(''))
    .join('\n')
  return { start, end, text: plainText(cue), settings: formatCueSettings(place), markup }
}

function tagged({ text, bold, italic, underline }: TextRun): string {
  const names = [...(bold ? ['b'] : []), ...(italic ? ['i'] : []), ...(underline ? ['u'] : [])]
  const [open, close] = [names.map((name) => `<${name}>`), names.toReversed().map((name) => `</${name}>`)]
  return open.join('') + escapeText(text) + close.join('')
}
