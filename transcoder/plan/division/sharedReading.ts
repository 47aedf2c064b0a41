// In charge of: when the rest of a divided job begins that uses what the chunks read of the source: so late that most have
// left it, and so early that the job does not wait for it.
// Not in charge of: whether chunks leave anything (pipeline/surveyAndPlan.ts), what they leave (analysis/sharedBytes.ts).
import { toNumber } from '../../formats/rational.ts'
import { FIXED_WALL_SECONDS } from '../estimate/costConstants.ts'
import { predictTime } from '../estimate/costModel.ts'
import type { SharedReadingPlan } from '../model/divisionPlan.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { Plan } from '../model/plan.ts'
import { encodedSegments } from './encodedSegments.ts'
import { planOfPart } from './partPlan.ts'

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
  const chunks = whole.division!.chunks.length
  const chunkSeconds = start + Math.max(0, (all?.wall.likely ?? 0) - start) / chunks
  return { chunksBeforeRest: chunksBeforeRest({ chunks, chunkSeconds, restSeconds, slots }) }
}

/** Seconds of one transcoder. When the rest begins, the other chunks that are at work have half of their time left on average. */
export function chunksBeforeRest({
  chunks,
  chunkSeconds,
  restSeconds,
  slots,
}: {
  chunks: number
  chunkSeconds: number
  restSeconds: number
  slots: number
}): number {
  const waiting = slots < 2 ? 0 : Math.max(0, Math.ceil(slots * (restSeconds / chunkSeconds - 1 / 2)))
  return Math.max(1, chunks - waiting)
}
