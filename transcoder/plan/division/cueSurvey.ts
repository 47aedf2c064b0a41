// In charge of: the cues of a divided job's source, where parts look for them before the job is divided into chunks: what is
// planned until then, and which part reads which bytes.
// Not in charge of: finding them (analysis/traceCues.ts), what follows from them (streams/cuePlan.ts).
import type { CueTables } from '../../formats/scte35/cueReader.ts'
import type { SourceCues } from '../streams/cuePlan.ts'

/** `tables`: what the first bytes say. Splice points are not known. */
export function expectedCues({ streams }: CueTables): SourceCues {
  const pids = streams.map(({ pid }) => pid)
  return { pids, cueStreamType: streams[0]?.type ?? 0, splicePoints: [], schedules: 0, damaged: 0 }
}

/** Each byte is in one share; one of more shares than bytes may be empty. */
export function cueShare(bytes: number, part: number, parts: number): { first: number; last: number } {
  const at = (index: number) => Math.floor((bytes * index) / parts)
  return { first: at(part), last: at(part + 1) - 1 }
}
