// In charge of: whether the record of each part of a divided job fits into one message to the task API.
// Not in charge of: its form (transcoder/division/recordEncoding.ts).
import { MAX_PART_RECORD_BYTES } from '#contract/task/protocol.ts'
import { toNumber } from '../../formats/rational.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'

/** The rest of the message is what is not a list of segments. */
const MAX_CHARACTERS = (MAX_PART_RECORD_BYTES * 3) / 4
/** A segment, compressed. Most of it is the hash, which cannot be compressed. */
const SEGMENT_CHARACTERS = 100

/** `chunkSeconds`: of the longest chunk. */
export function fitsInRecords({ renditions, segmentDuration }: PackagingPlan, chunkSeconds: number): boolean {
  // At each splice point begins one more, at most.
  const splices = Math.max(0, ...renditions.map(({ video }) => video?.spliceFrames.length ?? 0))
  const segments = Math.ceil(chunkSeconds / toNumber(segmentDuration)) + splices
  const videos = renditions.filter(({ kind }) => kind === 'video').length
  return segments * videos * SEGMENT_CHARACTERS <= MAX_CHARACTERS
}
