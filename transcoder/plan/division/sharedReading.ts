// In charge of: when the rest of a divided job begins that uses what the chunks read of the source: so late that most have
// left it, and so early that the job does not wait for it.
// Not in charge of: whether chunks leave anything (pipeline/surveyAndPlan.ts), what they leave (analysis/sharedBytes.ts).
import { toNumber } from '../../formats/rational.ts'
import { FIXED_WALL_SECONDS } from '../estimate/costConstants.ts'
import { predictTime } from '../estimate/costModel.ts'
import type { SharedReadingPlan } from '../model/divisionPlan.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { Plan } from '../model/plan.ts'
import { chunkSecondsOf } from './chunkGrid.ts'
import { encodedSegments } from './encodedSegments.ts'
import { planOfPart } from './partPlan.ts'
import { SlotTimes } from './slotTimes.ts'

/** When chunks begin, in seconds of the source. `startSeconds`: where the outputs begin. */
export function chunkBegins(whole: Plan, startSeconds: number): number[] {
  const { packaging } = encodedSegments(whole)
  const segment = packaging === null ? 0 : toNumber(packaging.segmentDuration)
  return (whole.division?.chunks ?? []).map((from) => startSeconds + from * segment)
}

/** `slots`: how many transcoders may work on the job at once. */
export function planSharedReading(
  whole: Plan,
  media: MediaInfo,
  { vcpus, slots }: { vcpus: number; slots: number },
): SharedReadingPlan {
  const all = predictTime(whole, media, vcpus)
  const rest = predictTime(planOfPart(whole, { kind: 'rest' }), media, vcpus)
  // Audio is decoded and encoded by one core.
  const restSeconds = rest === null ? 0 : rest.cpu.likely
  const start = FIXED_WALL_SECONDS.likely
  const { durationSeconds: seconds } = whole
  const division = whole.division!
  const { packaging } = encodedSegments(whole)
  if (all === null || seconds === null || seconds <= 0 || packaging === null)
    return { chunksBeforeRest: division.chunks.length }
  const perSecond = Math.max(0, all.wall.likely - start) / seconds
  const chunks = chunkSecondsOf(division, packaging, seconds).map((chunk) => ({
    seconds: start + chunk * perSecond,
    share: chunk / seconds,
  }))
  return { chunksBeforeRest: chunksBeforeRest(chunks, restSeconds, slots) }
}

/**
 * The rest is taken to be so much slower than predicted. If it begins late, the job waits for it; if it begins early, one
 * slot waits. Video is predicted with a reserve, audio with none (estimate/costConstants.ts).
 */
const REST_MARGIN = 1.2
/** Ends that are no later. */
const NO_LATER_SECONDS = 1

/** `seconds`: of one transcoder; `share`: of the audio. In the order of the video. */
interface TimedChunk {
  seconds: number
  share: number
}

/** The number with which the job ends earliest; of several, the one with which the rest waits least for chunks. */
export function chunksBeforeRest(chunks: readonly TimedChunk[], restSeconds: number, slots: number): number {
  if (slots < 2) return chunks.length
  const ends = chunks.map((_, index) => endBehind(index + 1, chunks, restSeconds * REST_MARGIN, slots))
  const earliest = Math.min(...ends)
  return ends.findLastIndex((end) => end <= earliest + NO_LATER_SECONDS) + 1
}

/** When the job ends whose rest begins behind so many chunks. It keeps its slot until then. */
function endBehind(before: number, chunks: readonly TimedChunk[], restSeconds: number, slots: number): number {
  const times = new SlotTimes(slots)
  const last = chunks.length - 1
  const ends: number[] = []
  // The last one is first (partPlan.ts).
  const order = [last, ...chunks.keys()].slice(0, chunks.length)
  for (const chunk of order.slice(0, before)) ends[chunk] = times.run(chunks[chunk]!.seconds)
  // The rest has to know where the video ends.
  let at = Math.max(times.take(), ends[last]!)
  for (const chunk of order.slice(before)) ends[chunk] = times.run(chunks[chunk]!.seconds)
  for (const [chunk, { share }] of chunks.entries()) at = Math.max(at, ends[chunk]!) + share * restSeconds
  return Math.max(at, ...ends)
}
