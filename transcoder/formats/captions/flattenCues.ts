// In charge of: cues of which only one is shown at a time, for formats that cannot show several.
// Not in charge of: writing them.
import { plainText, type CaptionCue } from './captionCue.ts'
import { CaptionError } from './captionError.ts'

/** More lines cover the frame. The latest are kept. */
const MAX_SHOWN = 16
/** Of all that is made: each text is repeated as often as another one begins or ends while it is shown. */
const MAX_CHARACTERS = 64_000_000

/**
 * Overlapping cues become cues that follow one another, each with the text of all that are shown. `cues` are by start.
 * Throws CaptionError if that makes more than 64 million characters.
 */
export function flattenCues(cues: readonly CaptionCue[]): CaptionCue[] {
  const times = [...new Set(cues.flatMap(({ start, end }) => [start, end]))].toSorted((a, b) => a - b)
  const flat: CaptionCue[] = []
  let active: CaptionCue[] = []
  let next = 0
  let characters = 0
  for (const [at, start] of times.entries()) {
    active = active.filter((cue) => cue.end > start)
    while (next < cues.length && cues[next]!.start <= start) active.push(cues[next++]!)
    active = active.slice(-MAX_SHOWN)
    const end = times[at + 1]
    if (end === undefined || active.length === 0) continue
    if (active.length > 1) for (const cue of active) characters += plainText(cue).length
    if (characters > MAX_CHARACTERS) throw new CaptionError('Too many of its captions are shown at the same time.')
    const last = flat.at(-1)
    // A cue that ends where no other begins or ends stays one.
    if (active.length === 1 && last?.end === start && last.lines === active[0]!.lines) last.end = end
    else
      flat.push(
        active.length === 1
          ? { ...active[0]!, start, end }
          : { start, end, place: {}, lines: active.flatMap(({ lines }) => lines) },
      )
  }
  return flat
}
