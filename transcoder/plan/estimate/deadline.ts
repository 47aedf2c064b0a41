// In charge of: how long an attempt may take and how much processor time its encode may use, from what there is to do.
// Not in charge of: ending it (runTask.ts), estimates for people (costModel.ts).
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { Plan } from '../model/plan.ts'
import { cpuSecondsPerSecond } from './costModel.ts'

export interface TimeLimits {
  /** Of an attempt once its source can be read: reading, looking, encoding, sending. */
  wallSeconds: number
  /** Of its encode, over all cores. */
  cpuSeconds: number
}

/** Far beyond slow machines, hard pictures and a dozen transcoders that share the cores: only what never ends gets there. */
const FACTOR = 20
/** What does not depend on the length: starting, waiting for others. */
const FIXED_SECONDS = 600
/** 2 Mb/s: slower lines than that are not waited for. */
const MIN_BYTES_PER_SECOND = 250_000
/** A source is read for its sound's level, for cues and for the encode. */
const SOURCE_READS = 3

/** null where the length of the source is unknown: then only the bound of every attempt holds. */
export function timeLimits(
  plan: Plan,
  media: MediaInfo,
  { vcpus, sourceBytes, outputBytes }: { vcpus: number; sourceBytes: number | null; outputBytes: number },
): TimeLimits | null {
  const seconds = plan.durationSeconds
  if (seconds === null) return null
  const cpu = seconds * cpuSecondsPerSecond(plan, media) * FACTOR
  const bytes = SOURCE_READS * (sourceBytes ?? 0) + outputBytes
  return {
    wallSeconds: FIXED_SECONDS + cpu / Math.max(1, vcpus) + bytes / MIN_BYTES_PER_SECOND,
    cpuSeconds: FIXED_SECONDS + cpu,
  }
}
