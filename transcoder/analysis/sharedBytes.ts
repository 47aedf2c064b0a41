// In charge of: how the chunks of a divided job and its rest share an mp4 or QuickTime file in which video and other tracks
// alternate in small pieces: which bytes each chunk leaves for the rest.
// Not in charge of: collecting them (source/collectedBytes.ts), using them (source/sharedBytes.ts).
import type { TrackPlaces } from '../formats/mp4/trackPlaces.ts'
import type { ByteRange } from '../source/rangeResponse.ts'
import { videoBytes } from './skippedBytes.ts'

/** Where the rest would read less of the source twice, nothing is left for it. */
const LEAST_SHARE = 0.02

export interface SharedPlaces {
  /** Pictures alone: the rest needs none of them. */
  video: ByteRange[]
  /** All else between the first sample of the file and the end of its last one. */
  others: ByteRange[]
  /** By the number of the chunk. They touch each other. */
  shares: ByteRange[]
}

/**
 * `begins`: when each chunk begins, in seconds of the file. null = nothing is shared: the rest reads little of the video
 * anyway, or it is not known where chunks begin.
 */
export function sharedPlaces(tracks: readonly TrackPlaces[], begins: readonly number[]): SharedPlaces | null {
  const span = spanOf(tracks)
  const videos = tracks.filter(({ handler }) => handler === 'vide')
  if (span === null || videos.length !== 1) return null
  const video = videoBytes(tracks, 1)
  const readTwice = bytesOf(video) - bytesOf(videoBytes(tracks))
  if (readTwice < LEAST_SHARE * (span.last - span.first + 1)) return null
  const shares = sharesOf(span, videos[0]!.samples, begins)
  return shares === null ? null : { video, others: between(span, video), shares }
}

function sharesOf(
  span: ByteRange,
  samples: TrackPlaces['samples'],
  begins: readonly number[],
): SharedPlaces['shares'] | null {
  const firsts = begins.map((begin, chunk) =>
    chunk === 0 ? span.first : samples.find(({ seconds }) => seconds >= begin)?.first,
  )
  const shares: ByteRange[] = []
  for (const [chunk, first] of firsts.entries()) {
    const next = chunk + 1 < firsts.length ? firsts[chunk + 1] : span.last + 1
    // A file whose samples do not lie in their order has no shares.
    if (first === undefined || next === undefined || next <= first) return null
    shares.push({ first, last: next - 1 })
  }
  return shares
}

/** `ranges`: ascending. */
function between(span: ByteRange, ranges: readonly ByteRange[]): ByteRange[] {
  const found: ByteRange[] = []
  let from = span.first
  for (const { first, last } of ranges) {
    if (first > from) found.push({ first: from, last: first - 1 })
    from = last + 1
  }
  if (from <= span.last) found.push({ first: from, last: span.last })
  return found
}

function spanOf(tracks: readonly TrackPlaces[]): ByteRange | null {
  let [first, last] = [Infinity, -1]
  for (const { samples } of tracks)
    for (const sample of samples) {
      first = Math.min(first, sample.first)
      last = Math.max(last, sample.end - 1)
    }
  return last < first ? null : { first, last }
}

function bytesOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
}
