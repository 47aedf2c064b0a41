// In charge of: pairing cues (which "in" ends which "out"), and the resulting ad breaks.
// Not in charge of: reading cues (cueEvents.ts), writing them to manifests (cueTags.ts, mpd.ts).
import type { CueEvent, Presentation } from './presentation.ts'

/** The cues within the presentation, by time. */
export function cuesInPresentation({ cues, duration }: Presentation): CueEvent[] {
  return cues.filter(({ start }) => start >= 0 && start <= duration).toSorted((a, b) => a.start - b.start)
}

/** A cue; for an "out", also the "in" that ends it. */
export interface CuePair {
  cue: CueEvent
  end: CueEvent | null
}

/**
 * Contains every cue once: an "in" that ends an "out" is part of that pair. The two have the same event id, and the
 * first "in" after the "out" counts.
 */
export function pairCues(cues: readonly CueEvent[]): CuePair[] {
  const pairs: CuePair[] = []
  const open = new Map<number, CuePair>()
  // At equal times, an ad break ends before the next one begins.
  for (const cue of cues.toSorted((a, b) => a.start - b.start || rank(a) - rank(b))) {
    const begun = cue.kind === 'in' && cue.eventId !== null ? open.get(cue.eventId) : undefined
    if (begun !== undefined && cue.start > begun.cue.start) {
      begun.end = cue
      open.delete(cue.eventId!)
      continue
    }
    const pair: CuePair = { cue, end: null }
    pairs.push(pair)
    if (cue.kind === 'out' && cue.eventId !== null) open.set(cue.eventId, pair)
  }
  return pairs
}

function rank({ kind }: CueEvent): number {
  return kind === 'in' ? 0 : 1
}

/** An interval without the programme. Seconds. */
export interface AdBreak {
  start: number
  /** null: no cue announces the end. */
  end: number | null
  /** A cue marks the end; otherwise it is only announced. */
  ends: boolean
}

/**
 * Ad breaks that do not overlap: one that begins inside another is merged into it. One that begins where another ends
 * is separate.
 */
export function adBreaks(pairs: readonly CuePair[]): AdBreak[] {
  const result: AdBreak[] = []
  for (const { cue, end } of pairs) {
    if (cue.kind !== 'out') continue
    const last = result.at(-1)
    const announced = cue.duration === null ? null : cue.start + cue.duration
    const next: AdBreak = { start: cue.start, end: end?.start ?? announced, ends: end !== null }
    if (last === undefined || (last.end !== null && last.end <= next.start)) result.push(next)
    else if (last.end !== null && next.end !== null && next.end > last.end) {
      last.end = next.end
      last.ends = next.ends
    }
  }
  return result
}
