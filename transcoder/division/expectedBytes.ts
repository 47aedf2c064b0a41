// In charge of: the bytes that a part of a divided job will read, from the index of an mp4 or QuickTime source: a chunk up to
// its last frame, and the rest everything but the video.
// Not in charge of: reading no more than the others (source/).
import { FormatError } from '../formats/formatError.ts'
import { readTrackPlaces, type TrackPlaces } from '../formats/mp4/trackPlaces.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { secondsBeforeRange, secondsOfRange, skipsVideo } from '../plan/model/encodedRange.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { ExpectedBytes } from '../source/expectedBytes.ts'
import { SkippedBytes } from '../source/skippedBytes.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import type { ByteRange } from '../source/rangeResponse.ts'
import { MAX_FRAMES } from '../analysis/nalUnitTypes.ts'
import { readIndex } from '../analysis/surveyIndex.ts'

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

/** Before a chunk: at least the run-in of its filters and decoders, and the reordering of frames (argv/rangeArgs.ts). */
const RUN_IN_SECONDS = 4
/** Frames that a decoder holds back, and the next frame, which says how long the last one is shown. */
const RUN_OUT_SECONDS = 0.5

/** A day of video and one of audio with a codec. More would fill the memory. */
const MOST_PLACES = 2 * MAX_FRAMES

interface Part {
  plan: Plan
  /** The time in the source at which the outputs begin. */
  startSeconds: number
}

/** Tells the readers of the source what to expect; they are told nothing where no index (`tracks`) says it. */
export function expectPart(
  loopback: Pick<LoopbackServer, 'expect' | 'skip'>,
  part: Part,
  tracks: readonly TrackPlaces[] | null,
): void {
  const { plan } = part
  const expected = tracks === null || plan.range == null ? null : ofChunk(tracks, part)
  loopback.expect(expected === null ? null : new ExpectedBytes(expected))
  const skipped = tracks !== null && skipsVideo(plan) ? videoBytes(tracks) : []
  if (skipped.length > 0) loopback.skip(new SkippedBytes(skipped))
}

/** null = the source has no such index, says more than it, or has less than it says. */
export async function readTracks(
  loopback: Pick<LoopbackServer, 'open' | 'readRange'>,
  { formats }: MediaInfo,
  signal: AbortSignal,
): Promise<TrackPlaces[] | null> {
  const { size, ranges } = await loopback.open()
  if (!formats.includes('mov') || !ranges || size === null) return null
  try {
    const index = await readIndex(loopback, size, signal)
    const tracks = index === null ? null : readTrackPlaces(index, MOST_PLACES)
    return tracks?.every(({ samples }) => samples.every(({ end }) => end <= size)) === true ? tracks : null
  } catch (error) {
    if (error instanceof FormatError || error instanceof RangeError) return null
    throw error
  }
}

function ofChunk(tracks: readonly TrackPlaces[], { plan, startSeconds }: Part): ByteRange[] | null {
  const seconds = secondsOfRange(plan)
  const videos = tracks.filter(({ handler }) => handler === 'vide')
  if (seconds === null || videos.length !== 1) return null
  const begin = startSeconds + secondsBeforeRange(plan)
  const until = begin + seconds + RUN_OUT_SECONDS
  const { samples, isKey } = videos[0]!
  // One key frame more than needed: nothing is read because it is expected.
  const from = begin - RUN_IN_SECONDS
  const start = samples.findLastIndex((sample, index) => isKey(index) && sample.seconds <= from)
  const wanted = samples.filter((sample, index) => index >= start && sample.seconds <= until)
  if (wanted.length === 0) return null
  return [
    {
      first: wanted.reduce((least, { first }) => Math.min(least, first), Infinity),
      last: wanted.reduce((most, { end }) => Math.max(most, end - 1), 0),
    },
  ]
}
