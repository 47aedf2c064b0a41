// In charge of: where the pictures of an mp4 or QuickTime file lie, for a reader that decodes none of them.
// Not in charge of: what such a reader gets instead (source/skippedBytes.ts).
import type { TrackPlaces } from '../formats/mp4/trackPlaces.ts'
import type { ByteRange } from '../source/rangeResponse.ts'

const PICTURE_HANDLERS = new Set(['vide', 'auxv', 'pict'])
/** ffmpeg looks at the first frames of every stream, within 5,000,000 bytes by default. */
const PROBED_BYTES = 5 * 1024 * 1024
/** Less is read: a request more costs as much. */
const LEAST_BYTES = 256 * 1024

/** Ascending ranges that hold pictures alone, no byte of another track, and that are worth a gap. */
export function videoBytes(tracks: readonly TrackPlaces[]): ByteRange[] {
  const isPicture = ({ handler }: TrackPlaces): boolean => PICTURE_HANDLERS.has(handler)
  const others = inOrder(tracks.filter((track) => !isPicture(track)))
  const ranges: ByteRange[] = []
  const add = (first: number, last: number): void => {
    if (last - first + 1 >= LEAST_BYTES) ranges.push({ first, last })
  }
  let other = 0
  for (const { first, last } of joined(inOrder(tracks.filter(isPicture)))) {
    let from = Math.max(first, PROBED_BYTES)
    while (other < others.length && others[other]!.last < from) other += 1
    // A damaged index may say that tracks overlap.
    for (let at = other; at < others.length && others[at]!.first <= last; at += 1) {
      add(from, others[at]!.first - 1)
      from = Math.max(from, others[at]!.last + 1)
    }
    add(from, last)
  }
  return ranges
}

function inOrder(tracks: readonly TrackPlaces[]): ByteRange[] {
  return tracks
    .flatMap(({ samples }) => samples.map(({ first, end }) => ({ first, last: end - 1 })))
    .filter(({ first, last }) => last >= first)
    .toSorted((a, b) => a.first - b.first)
}

/** Ranges that touch or overlap become one. */
function joined(ranges: readonly ByteRange[]): ByteRange[] {
  const found: ByteRange[] = []
  for (const { first, last } of ranges) {
    const before = found.at(-1)
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last)
    else found.push({ first, last })
  }
  return found
}
