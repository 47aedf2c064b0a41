// In charge of: the cues of a joined source, with their times from its beginning.
// Not in charge of: the cues of one piece (cutCues.ts), where the pieces begin (plan/join/planJoin.ts).
import { TICKS_PER_SECOND, wrapTicks } from '../mpegts/clock.ts'
import type { CueFindings } from './cueScan.ts'

type Findings = CueFindings & { outside: number }

/** `pieces`: the cues of each piece, from its own beginning. `starts`: where each begins; later ones are not known. */
export function joinCues(
  pieces: readonly (Findings | null)[],
  starts: readonly number[],
  seconds: readonly (number | null)[],
): Findings | null {
  const found = pieces.flatMap((cues, piece) => {
    const start = starts[piece]
    if (cues === null || start === undefined) return []
    return [shifted(cues, Math.round(start * TICKS_PER_SECOND), seconds[piece] ?? null)]
  })
  const [first] = found
  if (first === undefined) return null
  return {
    cues: found.flatMap(({ cues }) => cues).toSorted((a, b) => a.position.ticks - b.position.ticks),
    pids: [...new Set(found.flatMap(({ pids }) => pids))],
    cueStreamType: first.cueStreamType,
    splicePoints: new Set(found.flatMap(({ splicePoints }) => [...splicePoints])),
    schedules: found.reduce((sum, { schedules }) => sum + schedules, 0),
    damaged: found.reduce((sum, { damaged }) => sum + damaged, 0),
    outside: found.reduce((sum, { outside }) => sum + outside, 0),
  }
}

function shifted(found: Findings, start: number, seconds: number | null): Findings {
  const length = seconds === null ? Infinity : Math.round(seconds * TICKS_PER_SECOND)
  return {
    ...found,
    cues: found.cues.map((cue) => ({
      ...cue,
      shift: wrapTicks(cue.shift + start),
      position: { ...cue.position, ticks: cue.position.ticks + start },
    })),
    // A splice that was announced, but lies after the join.
    splicePoints: new Set([...found.splicePoints].filter((ticks) => ticks < length).map((ticks) => ticks + start)),
  }
}
