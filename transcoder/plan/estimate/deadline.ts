// In charge of: how long an attempt may take and how much processor time its encode may use, depending on the work.
// Not in charge of: enforcing it (pipeline/attemptTimers.ts), estimates for clients (costModel.ts).
import type { MediaInfo } from '../model/mediaInfo.ts'
import { secondsOfRange } from '../model/encodedRange.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { cpuSecondsPerSecond } from './costModel.ts'
import { extractCpuSeconds } from './extractReports.ts'

export interface TimeLimits {
  /** For an attempt, from the moment its source can be read: reading, analysing, encoding, uploading. */
  wallSeconds: number
  /** For its encode, over all cores. */
  cpuSeconds: number
}

/**
 * Far above slow machines, complex video and a dozen transcoders on the same cores: only a job that hangs reaches it.
 */
const FACTOR = 20
/** The part that does not depend on the length: starting, waiting for other services. */
const FIXED_SECONDS = 600
/** 2 Mb/s: a slower connection fails the attempt. */
const MIN_BYTES_PER_SECOND = 250_000
/** A source is read for the loudness measurement, for cues and for the encode. */
const SOURCE_READS = 3

/** null where the length of the source is unknown: then only the general limit of attempts applies. */
export function timeLimits(
  plan: Plan,
  media: MediaInfo,
  { vcpus, sourceBytes, outputBytes }: { vcpus: number; sourceBytes: number | null; outputBytes: number },
): TimeLimits | null {
  const seconds = secondsOfRange(plan)
  if (seconds === null) return null
  // What is before a cut may have to be decoded as well.
  const parts = plan.reads.kind === 'pieces' ? plan.reads.join.pieces : [plan]
  const decoded = parts.reduce((sum, { cut }) => sum + (cut?.startSeconds ?? 0), seconds)
  const cpu = (decoded * cpuSecondsPerSecond(plan, media) + extractCpuSeconds(plan)) * FACTOR
  const bytes = SOURCE_READS * (sourceBytes ?? 0) + outputBytes
  return {
    wallSeconds: FIXED_SECONDS + cpu / Math.max(1, vcpus) + bytes / MIN_BYTES_PER_SECOND,
    cpuSeconds: FIXED_SECONDS + cpu,
  }
}
