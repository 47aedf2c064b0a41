// In charge of: how long the chunks of a job are, before each begins at a segment: equal, or shorter towards the end.
// Not in charge of: where they begin (planDivision.ts), the longest of them (automaticDivision.ts).

/** The last chunks have the length of the longest chunk, divided by these. */
const STEPS = [2, 4]

/**
 * The lengths of chunks that are all equally long, in segments; they need not be whole numbers. `length`: of the video;
 * `most`: of the longest chunk.
 */
export function equalShares(length: number, most: number, maxChunks: number): number[] {
  const count = Math.min(Math.ceil(length / most), maxChunks)
  return Array.from({ length: count }, () => length / count)
}

/**
 * The slots take chunks as they become free. If the last chunks were as long as the others, most slots would wait half of
 * that time for the last chunk. So the last ones are shorter: for each slot, one of half the length, then one of a quarter.
 * `least`: length of the shortest chunk.
 */
export function taperedShares(
  length: number,
  { most, least, slots }: { most: number; least: number; slots: number },
  maxChunks: number,
): number[] {
  const tail = STEPS.filter((step) => most / step >= least).flatMap((step) =>
    Array.from({ length: slots }, () => most / step),
  )
  const before = length - tail.reduce((sum, share) => sum + share, 0)
  // Before the shorter chunks, each slot has a chunk of full length.
  const count = Math.ceil(before / most)
  if (slots < 2 || before < slots * most || count + tail.length > maxChunks) return equalShares(length, most, maxChunks)
  return [...equalShares(before, most, count), ...tail]
}
