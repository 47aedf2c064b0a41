// In charge of: the key frame of an mp4 or QuickTime source from which a chunk is decoded, from the index: no more is read
// before the chunk than it needs.
// Not in charge of: the arguments (plan/argv/rangeArgs.ts).
import { FormatError } from '../formats/formatError.ts'
import type { SampleList } from '../formats/mp4/sampleList.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { secondsBeforeRange } from '../plan/model/encodedRange.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { framesUntilExact, readIndexedSamples } from '../analysis/surveyIndex.ts'

/** Times of the index are sums of fractions. */
const ROUNDING_SECONDS = 1e-6
/** Files may say that frames are decoded earlier than they have to be. */
const SPREAD_SECONDS = 0.25
/** Key frames that are looked at: with intra refresh, each begins a stretch of damaged frames. */
const MAX_KEY_FRAMES = 20

interface Source {
  /** Without the cut. */
  media: MediaInfo
  /** The time in the source at which the outputs begin. */
  startSeconds: number
}

/** Filters that look at neighbouring frames, and all that is drawn or cut by the time of frames before the chunk. */
function needsRunIn({ cut, burnIn, packaging, picture }: Plan): boolean {
  const videos = (packaging?.renditions ?? []).flatMap(({ video }) => (video === null ? [] : [video]))
  return (
    cut != null ||
    burnIn != null ||
    picture.conversion !== 'none' ||
    videos.some((video) => video.deinterlace !== 'none' || video.scan !== 'progressive' || video.bitmaps != null)
  )
}

/** The plan of a chunk with its key frame, if the index shows one; any other plan as it is. */
export async function withKeyFrame(
  source: Pick<LoopbackServer, 'open' | 'readRange'>,
  plan: Plan,
  { media, startSeconds }: Source,
  signal: AbortSignal,
): Promise<Plan> {
  const { range } = plan
  const { size, ranges } = await source.open()
  if (range == null || range.from === 0 || !media.formats.includes('mov') || !ranges || size === null) return plan
  if (needsRunIn(plan)) return plan
  const begin = startSeconds + secondsBeforeRange(plan)
  try {
    const samples = await readIndexedSamples(source, size, signal)
    if (samples === null) return plan
    for (let back = 0; back < MAX_KEY_FRAMES; back += 1) {
      const key = keyFrameBefore(samples, begin, back)
      const until = key === null ? null : await framesUntilExact(source, samples, key.frame, signal)
      if (key === null || until === null) return plan
      const seconds = exactSeconds(samples, key.frame, until)
      if (seconds <= begin + ROUNDING_SECONDS)
        return { ...plan, range: { ...range, runInSeconds: begin - key.seconds } }
    }
    return plan
  } catch (error) {
    if (error instanceof FormatError || error instanceof RangeError) return plan
    throw error
  }
}

/**
 * From when on all frames are exact. With intra refresh, that is the end of the second one: frames of the first may refer to
 * pictures before the key frame (x264: 10 frames were announced, and 70 were damaged). Each is over where the next one begins.
 */
function exactSeconds(
  { keyFrames, shown, durations, timescale }: SampleList,
  frame: number,
  framesUntilExact: number,
): number {
  const counted = (shown[frame]! + framesUntilExact * durations[frame]!) / timescale
  if (framesUntilExact === 0) return counted
  const next = keyFrames[keyFrames.indexOf(frame) + 2]
  return next === undefined ? Infinity : Math.max(counted, shown[next]! / timescale)
}

/**
 * The last key frame that is shown at `begin` or before, or a key frame `back` places before that. `seconds`: the time with
 * which ffmpeg finds it, half a frame after the key frame. It is right for a search by presentation times and for a search
 * by decoding times. null = no such key frame, or the time may find the next one.
 */
export function keyFrameBefore(
  { keyFrames, shown, durations, timescale }: Pick<SampleList, 'keyFrames' | 'shown' | 'durations' | 'timescale'>,
  begin: number,
  back = 0,
): { frame: number; seconds: number } | null {
  const place = keyFrames.findLastIndex((frame) => shown[frame]! / timescale <= begin + ROUNDING_SECONDS) - back
  const frame = keyFrames[place]
  if (frame === undefined) return null
  const seconds = (shown[frame]! + durations[frame]! / 2) / timescale
  const next = keyFrames[place + 1]
  const nextSeconds = next === undefined ? Infinity : decodingTime(shown, durations, next) / timescale
  return seconds < nextSeconds - SPREAD_SECONDS ? { frame, seconds } : null
}

/** In ticks: no frame is shown before it is decoded. */
function decodingTime(shown: readonly number[], durations: readonly number[], frame: number): number {
  let [decoded, latest, found] = [0, 0, 0]
  for (const [each, time] of shown.entries()) {
    latest = Math.max(latest, decoded - time)
    if (each === frame) found = decoded
    decoded += durations[each]!
  }
  return found - latest
}
