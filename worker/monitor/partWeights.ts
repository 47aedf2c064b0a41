// In charge of: how much of a divided job's work each of its parts is.
// Not in charge of: where chunks begin (transcoder/division/plan/), how far each part is (partsProgress.ts).
import { LAST_CHUNK, REST } from '#contract/task/partPositions.ts'

/**
 * Weights of parts by position, without the parts of a survey; their sum is the number of parts. `begins`: where each chunk
 * begins, in segments; null = not known, then all parts have the same weight. The end of the last chunk is not known: it is
 * about as long as the chunk before. The rest counts like a chunk.
 */
export function partWeights(begins: readonly number[] | null, parts: number): number[] {
  if (begins === null || begins.length < 2 || begins.length !== parts - 1) return Array.from({ length: parts }, () => 1)
  const lengths = begins.slice(1).map((next, chunk) => next - begins[chunk]!)
  const last = lengths.at(-1)!
  const mean = (begins.at(-1)! + last) / begins.length
  const weights = lengths.map((length) => length / mean)
  weights.splice(LAST_CHUNK, 0, last / mean)
  weights.splice(REST, 0, 1)
  return weights
}
