// In charge of: the chunks of a job that its client wants by a certain time, and how long a number of transcoders would take.
// Not in charge of: where chunks begin (planDivision.ts), what the client is told of it (deadlineCheck.ts).
import { CHUNK_SECONDS } from '#contract/limits.ts'
import { FIXED_WALL_SECONDS } from '../../plan/estimate/costConstants.ts'
import { predictTime } from '../../plan/estimate/costModel.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { chunkSecondsOf } from './chunkGrid.ts'
import { encodedSegments } from './encodedSegments.ts'
import { samplingSeconds } from './samplingCost.ts'
import { surveyParts } from './surveyPlan.ts'

export interface Deadline {
  /** Seconds until the job is wanted; 0 = the time is over. */
  secondsLeft: number
  /** Transcoders that may work on the job at once. */
  slots: number
}

/** Seconds of encoding in the longest chunk, as without a deadline. */
const ENCODING_SECONDS = 60
/** Chunks that follow each other on one transcoder within the time: all of them end at about the same time. */
const CHUNKS_IN_A_ROW = 4
/** The start of an attempt, and what it does besides encoding. */
const START_SECONDS = FIXED_WALL_SECONDS.likely

interface Work {
  /** Duration of the outputs. */
  seconds: number
  /** Predicted time in which one transcoder makes one second of the outputs. */
  perSecond: number
  /** Time for which one transcoder takes samples before the first chunk. */
  sampling: number
}

/**
 * Seconds of the longest chunk. null = one transcoder is predicted to make the job in time, or the transcoders together
 * would not end earlier.
 */
export function deadlineChunkSeconds(
  plan: Plan,
  media: MediaInfo,
  { vcpus, deadline }: { vcpus: number; deadline?: Deadline | null | undefined },
): number | null {
  const predicted = predictTime(plan, media, vcpus)
  const work = workOf(plan, media, vcpus)
  if (deadline == null || work === null || predicted === null) return null
  // A wish is better kept with certainty: also where the prediction is only probably right.
  if (predicted.wall.high <= deadline.secondsLeft) return null
  const left = Math.max(0, deadline.secondsLeft - secondsAround(work, deadline.slots))
  const wanted = Math.min(ENCODING_SECONDS, left / CHUNKS_IN_A_ROW) / work.perSecond
  const longest = Math.min(wanted, work.seconds / CHUNKS_IN_A_ROW)
  const chunk = Math.min(CHUNK_SECONDS.maximum, Math.max(CHUNK_SECONDS.minimum, longest))
  const divided = secondsInChunks(plan, media, { vcpus, slots: deadline.slots, chunk })
  return divided !== null && divided < predicted.wall.likely ? chunk : null
}

/** The same as `dividedSeconds`, in chunks of `chunk` seconds. */
export function secondsInChunks(
  plan: Plan,
  media: MediaInfo,
  { vcpus, slots, chunk }: { vcpus: number; slots: number; chunk: number },
): number | null {
  const work = workOf(plan, media, vcpus)
  if (work === null) return null
  const chunks = Array.from({ length: Math.ceil(work.seconds / chunk) }, () => chunk)
  return secondsOf(work, slots, chunks)
}

/** How long a divided job takes if `slots` transcoders work on nothing else; null = the plan states no times. */
export function dividedSeconds(plan: Plan, media: MediaInfo, vcpus: number, slots: number): number | null {
  const { division, packaging } = encodedSegments(plan)
  const work = workOf(plan, media, vcpus)
  if (division == null || packaging === null || work === null) return null
  return secondsOf(work, slots, chunkSecondsOf(division, packaging, work.seconds))
}

function workOf(plan: Plan, media: MediaInfo, vcpus: number): Work | null {
  const { durationSeconds: seconds } = plan
  const predicted = predictTime(plan, media, vcpus)
  if (seconds === null || seconds === 0 || predicted === null) return null
  const perSecond = Math.max(Number.MIN_VALUE, predicted.wall.likely - START_SECONDS) / seconds
  return { seconds, perSecond, sampling: samplingSeconds(encodedSegments(plan), media, vcpus) }
}

/** `chunks`: seconds of video. */
function secondsOf(work: Work, slots: number, chunks: readonly number[]): number {
  const times = new SlotTimes(slots)
  const ends = chunks.map((chunk) => times.run(START_SECONDS + chunk * work.perSecond))
  return secondsAround(work, slots) + Math.max(...ends)
}

/** Time before the first chunk and after the last chunk. */
function secondsAround({ sampling }: Work, slots: number): number {
  const parts = surveyParts(sampling)
  const survey =
    parts === null ? sampling : START_SECONDS + Math.ceil(parts / slots) * (START_SECONDS + sampling / parts)
  return START_SECONDS + survey + START_SECONDS
}

export class SlotTimes {
  /** When each slot becomes free, in seconds. Ascending. */
  readonly #freeAt: number[]

  constructor(slots: number) {
    this.#freeAt = Array.from({ length: slots }, () => 0)
  }

  /** The next part. @returns when it ends */
  run(seconds: number): number {
    const end = this.#freeAt.shift()! + seconds
    this.#freeAt.splice(this.#freeAt.findLastIndex((at) => at <= end) + 1, 0, end)
    return end
  }
}
