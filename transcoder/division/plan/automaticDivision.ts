// In charge of: how long chunks are if the job does not say it. A job is divided if one transcoder would take too long.
// Not in charge of: where chunks begin (planDivision.ts), the prediction (estimate/costModel.ts).
import { CHUNK_SECONDS } from '#contract/limits.ts'
import { predictTime } from '../../plan/estimate/costModel.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { secondsInChunks, type Deadline } from './deadlineDivision.ts'
import { encodedSegments } from './encodedSegments.ts'
import { samplingSeconds } from './samplingCost.ts'

export interface AutomaticDivision {
  /** A job is divided if chunks save one transcoder more than this many seconds, or those that are free a part of it. */
  aboveSeconds: number
  /** vCPUs of this transcoder. The other transcoders are taken to have as many. */
  vcpus: number
  /** What the service allows for one attempt. */
  maxAttemptSeconds: number
  /** How many transcoders may work on the job at once; missing = one. */
  slots?: number
  /** How many of these have nothing else to do now; missing = one. */
  freeSlots?: number
  /** When the client wants the job; missing = it named no time. */
  deadline?: Deadline | null
}

/** Seconds of encoding in the longest chunk: what a lost transcoder costs. */
const ENCODING_SECONDS = 60
/**
 * What free transcoders together have to save: this share of the threshold, and of the time. The samples of a short video
 * cost as much as its encode.
 */
const SAVED_TOGETHER = { ofThreshold: 0.2, ofTime: 0.5 }
/** The least number of chunks. It counts for short jobs, if the operator has them divided too. */
const LEAST_CHUNKS = 4
/** Shorter chunks spend much of their time on starting, and their rates say little. */
const LEAST_SECONDS = 30

/** Seconds of the longest chunk; null = one task makes the job. */
export function automaticChunkSeconds(
  plan: Plan,
  media: MediaInfo,
  { aboveSeconds, vcpus, freeSlots = 1 }: AutomaticDivision,
): number | null {
  const seconds = plan.durationSeconds
  const predicted = predictTime(plan, media, vcpus)
  if (seconds === null || seconds === 0 || predicted === null) return null
  const { likely } = predicted.wall
  const longest = Math.min((ENCODING_SECONDS * seconds) / likely, seconds / LEAST_CHUNKS)
  const chunk = Math.min(CHUNK_SECONDS.maximum, Math.max(LEAST_SECONDS, longest))
  // Samples are encoded before the chunks: a video that one transcoder would encode for them anyway saves nothing.
  const saved = likely - samplingSeconds(encodedSegments(plan), media, vcpus)
  if (saved > aboveSeconds) return chunk
  // Several take them at the same time.
  const savedTogether = likely - (secondsInChunks(plan, media, { vcpus, slots: freeSlots, chunk }) ?? likely)
  const { ofThreshold, ofTime } = SAVED_TOGETHER
  return savedTogether > Math.max(aboveSeconds * ofThreshold, likely * ofTime) ? chunk : null
}

/** Why one task may fail, as a sentence; null = it has enough time. */
export function tooLongForOneAttempt(
  plan: Plan,
  media: MediaInfo,
  { vcpus, maxAttemptSeconds }: AutomaticDivision,
): string | null {
  const predicted = predictTime(plan, media, vcpus)
  if (predicted === null || predicted.wall.high <= maxAttemptSeconds) return null
  return `One task may take up to ${hours(predicted.wall.high)} hours for it, and an attempt has ${hours(maxAttemptSeconds)} hours`
}

function hours(seconds: number): number {
  return Number((seconds / 3600).toFixed(1))
}
