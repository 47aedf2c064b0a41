// In charge of: how long chunks are if the job does not say it. A job is divided if one transcoder would take too long.
// Not in charge of: where chunks begin (planDivision.ts), the prediction (estimate/costModel.ts).
import { CHUNK_SECONDS } from '#contract/limits.ts'
import { predictTime } from '../estimate/costModel.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { Plan } from '../model/plan.ts'
import type { Deadline } from './deadlineDivision.ts'
import { encodedSegments } from './encodedSegments.ts'
import { sampledSeconds } from './samplingCost.ts'

export interface AutomaticDivision {
  /** A job is divided if chunks save one transcoder more than this many seconds. */
  aboveSeconds: number
  /** vCPUs of this transcoder. The other transcoders are taken to have as many. */
  vcpus: number
  /** What the service allows for one attempt. */
  maxAttemptSeconds: number
  /** How many transcoders may work on the job at once; missing = one. */
  slots?: number
  /** When the client wants the job; missing = it named no time. */
  deadline?: Deadline | null
}

/** Seconds of encoding in the longest chunk: what a lost transcoder costs. */
const ENCODING_SECONDS = 60
/** The least number of chunks. It counts for short jobs, if the operator has them divided too. */
const LEAST_CHUNKS = 4
/** Shorter chunks spend much of their time on starting, and their rates say little. */
const LEAST_SECONDS = 30

/** Seconds of the longest chunk; null = one task makes the job. */
export function automaticChunkSeconds(
  plan: Plan,
  media: MediaInfo,
  { aboveSeconds, vcpus }: AutomaticDivision,
): number | null {
  const seconds = plan.durationSeconds
  const predicted = predictTime(plan, media, vcpus)
  if (seconds === null || seconds === 0 || predicted === null) return null
  const perSecond = predicted.wall.likely / seconds
  // Samples are encoded before the chunks: a video that would be encoded for them anyway saves nothing.
  const saved = predicted.wall.likely - sampledSeconds(encodedSegments(plan), seconds) * perSecond
  if (saved <= aboveSeconds) return null
  const longest = Math.min(ENCODING_SECONDS / perSecond, seconds / LEAST_CHUNKS)
  return Math.min(CHUNK_SECONDS.maximum, Math.max(LEAST_SECONDS, longest))
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
