// In charge of: cues in media playlists: EXT-X-DATERANGE (RFC 8216bis, 4.4.5.1), and EXT-X-CUE-OUT/IN for older
// players.
// Not in charge of: finding the cues (cueEvents.ts), pairing them (adBreaks.ts).
import { hex } from '../../formats/encodeBytes.ts'
import { adBreaks, pairCues, cuesInPresentation, type CuePair } from '../presentation/adBreaks.ts'
import { date, quoted, seconds, tag } from './playlistSyntax.ts'
import type { CueEvent, Presentation } from '../presentation/presentation.ts'

/**
 * A splice closer than this to a segment's boundary counts as on it: half a video frame, or an audio frame. Seconds.
 */
const SAME_TIME = 0.05

/** The lines before each segment. `starts`: start times of the segments in seconds. */
export function cueTags(presentation: Presentation, starts: readonly number[]): string[][] {
  const lines: string[][] = starts.map(() => [])
  if (starts.length === 0) return lines
  const pairs = pairCues(cuesInPresentation(presentation))
  for (const pair of pairs)
    lines[Math.min(segmentAt(starts, pair.cue.start), starts.length - 1)]!.push(dateRange(presentation, pair))
  for (const { start, end, ends } of adBreaks(pairs)) {
    const first = segmentAt(starts, start)
    const endIndex = end === null ? starts.length : segmentAt(starts, end)
    const duration = end === null ? null : end - start
    if (first === endIndex) continue
    lines[first]?.push(duration === null ? '#EXT-X-CUE-OUT' : `#EXT-X-CUE-OUT:${seconds(duration)}`)
    for (let at = first + 1; at < endIndex; at++)
      lines[at]!.push(
        tag('EXT-X-CUE-OUT-CONT', {
          ElapsedTime: seconds(Math.max(0, starts[at]! - start)),
          Duration: duration === null ? null : seconds(duration),
        }),
      )
    // Comes before the tags of a next ad break.
    if (ends) lines[endIndex]?.push('#EXT-X-CUE-IN')
  }
  return lines
}

/** The segment that begins at `time`, else the next one; `starts.length` = after all segments. */
function segmentAt(starts: readonly number[], time: number): number {
  let [at, end] = [0, starts.length]
  while (at < end) {
    const middle = (at + end) >> 1
    if (starts[middle]! < time - SAME_TIME) at = middle + 1
    else end = middle
  }
  const next = starts[at + 1]
  // Segments may be shorter than the tolerance. The nearest one counts.
  return next !== undefined && Math.abs(next - time) < Math.abs(starts[at]! - time) ? at + 1 : at
}

function dateRange({ programStart }: Presentation, { cue, end }: CuePair): string {
  const section = ({ section: bytes }: CueEvent) => (bytes.length === 0 ? null : `0x${hex(bytes).toUpperCase()}`)
  return tag('EXT-X-DATERANGE', {
    ID: quoted(cue.id),
    'START-DATE': quoted(date(programStart, cue.start)),
    DURATION: end === null ? null : seconds(end.start - cue.start),
    'PLANNED-DURATION': cue.duration === null ? null : seconds(cue.duration),
    'SCTE35-CMD': cue.kind === 'other' ? section(cue) : null,
    'SCTE35-OUT': cue.kind === 'out' ? section(cue) : null,
    'SCTE35-IN': cue.kind === 'in' ? section(cue) : end === null ? null : section(end),
  })
}
