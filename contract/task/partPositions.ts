// In charge of: the positions of a divided job's parts that depend on each other.
// Not in charge of: what the parts consist of (transcoder/division/plan/partPlan.ts).

/** The end of the video. Positions count from the first part after the survey. */
export const LAST_CHUNK = 0
/**
 * Audio and everything else that is no video. Its end depends on where the video ends, so it starts once the last chunk is
 * stored.
 */
export const REST = 1

/** One value per part of a job's outputs, as `status.chunks.map` has them: the chunks in the order of the video, then the rest. */
export function inMapOrder<T>(parts: readonly T[]): T[] {
  return [...parts.slice(REST + 1), ...parts.slice(0, REST + 1)]
}
