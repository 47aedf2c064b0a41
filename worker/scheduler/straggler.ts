// In charge of: which chunk of a divided job is worth a second task, because its transcoder is slow. Pure.
// Not in charge of: whether a slot is free for it (startTwin.ts), what the second task changes (contract/task/lifecycle.ts).
import type { ChunkRow } from '../db/twins.ts'

/** From fewer, no usual time can be told. */
const MIN_COMPLETED = 3
/** Chunks are about equally long, but not equally hard. */
const SLOW_FACTOR = 1.5

/**
 * @param chunks the tasks at all chunks, in their order
 * @param shares what each running task has encoded, 0…1
 * @returns the one that is predicted to end last, if another transcoder that begins now would be earlier
 */
export function findStraggler(
  chunks: readonly ChunkRow[],
  shares: ReadonlyMap<string, number>,
  now: number,
): ChunkRow | null {
  const times = chunks.flatMap(({ took }) => took ?? []).toSorted((a, b) => a - b)
  const usual = times[Math.floor(times.length / 2)]
  if (usual === undefined || times.length < MIN_COMPLETED) return null
  const doubled = new Set(chunks.flatMap(({ part, twin }) => (twin === 1 ? [part] : [])))
  let last: { chunk: ChunkRow; restMs: number } | null = null
  for (const chunk of chunks) {
    if (chunk.state !== 'running' || doubled.has(chunk.part)) continue
    const share = shares.get(chunk.id)
    const ranMs = now - chunk.updated_at
    // One that is not heard of may be lost: its lease decides.
    if (share === undefined || ranMs < SLOW_FACTOR * usual) continue
    const restMs = share > 0 ? (ranMs * (1 - share)) / share : Number.POSITIVE_INFINITY
    if (restMs > usual && restMs > (last?.restMs ?? 0)) last = { chunk, restMs }
  }
  return last?.chunk ?? null
}
