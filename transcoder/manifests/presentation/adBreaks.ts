// In charge of: cues in pairs: which "in" ends which "out", and the breaks that follow from them.
// Not in charge of: reading cues (cueEvents.ts), spelling them (cueTags.ts, mpd.ts).
import type { CueEvent, Presentation } from './presentation.ts'

/** Cues that fall into the presentation, by time. */
export function cuesInPresentation({ cues, duration }: Presentation): CueEvent[] {
  return cues.filter(({ start }) => start >= 0 && start <= duration).toSorted((a, b) => a.start - b.start)
}

/** A cue, and for an "out" the "in" that ends it. */
export interface CuePair {
  cue: CueEvent
  end: CueEvent | null
}

/** Every cue once: an "in" that ends an "out" is that pair's end. Both have one event id, and the first "in" that follows counts. */
export function pairCues(cues: readonly CueEvent[]): CuePair[] {
  const pairs: CuePair[] = []
  const open = new Map<number, CuePair>()
  // At one time a break ends before the next one begins.
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

/** A time in which the programme is away. Seconds. */
export interface AdBreak {
  start: number
  /** null: nothing says when it ends. */
  end: number | null
  /** Some cue makes the end, so that it is a fact and no announcement. */
  ends: boolean
}

/** Breaks that do not overlap: what begins inside of another is a part of it. One that begins where another ends is not. */
export function adBreaks(cues: readonly CueEvent[]): AdBreak[] {
  const breaks: AdBreak[] = []
  for (const { cue, end } of pairCues(cues)) {
    if (cue.kind !== 'out') continue
    const last = breaks.at(-1)
    const announced = cue.duration === null ? null : cue.start + cue.duration
    const next: AdBreak = { start: cue.start, end: end?.start ?? announced, ends: end !== null }
    if (last === undefined || (last.end !== null && last.end <= next.start)) breaks.push(next)
    else if (last.end !== null && next.end !== null && next.end > last.end) {
      last.end = next.end
      last.ends = next.ends
    }
  }
  return breaks
}
