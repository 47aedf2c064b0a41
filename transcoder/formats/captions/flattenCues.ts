// In charge of: cues of which only one is shown at a time, for formats that cannot show several.
// Not in charge of: writing them.
import type { CaptionCue } from './captionCue.ts'

/** More lines cover the frame. The latest are kept. */
const MAX_SHOWN = 16

/** Overlapping cues become cues that follow one another, each with the text of all that are shown. `cues` are by start. */
export function flattenCues(cues: readonly CaptionCue[]): CaptionCue[] {
  const times = [...new Set(cues.flatMap(({ start, end }) => [start, end]))].toSorted((a, b) => a - b)
  const flat: CaptionCue[] = []
  let active: CaptionCue[] = []
  let next = 0
  for (const [at, start] of times.entries()) {
    active = active.filter((cue) => cue.end > start)
    while (next < cues.length && cues[next]!.start <= start) active.push(cues[next++]!)
    active = active.slice(-MAX_SHOWN)
    const end = times[at + 1]
    if (end === undefined || active.length === 0) continue
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
