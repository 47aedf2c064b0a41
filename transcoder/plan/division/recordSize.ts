// In charge of: whether the record of each part of a divided job fits into one message to the task API.
// Not in charge of: its form (transcoder/division/recordEncoding.ts), manifests (manifestSize.ts).
import { MAX_PART_RECORD_BYTES } from '#contract/task/protocol.ts'
import { toNumber } from '../../formats/rational.ts'
import type { PackagingPlan, RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import { spliceSegments } from './manifestSize.ts'

/** The rest of the message: WebVTT, thumbnails, a thousand stills, and what is not a list of segments. */
const MAX_CHARACTERS = (MAX_PART_RECORD_BYTES * 3) / 4
/** A segment with one key frame, compressed. Most of it is the hash, which cannot be compressed. */
const SEGMENT_CHARACTERS = 100
/** Every further key frame of a segment, compressed. */
const KEY_CHARACTERS = 25

/** `seconds`: of the longest output, null = not known; `chunkSeconds`: of the longest chunk. */
export function fitsInRecords(packaging: PackagingPlan, seconds: number | null, chunkSeconds: number): boolean {
  const { renditions } = packaging
  const audio = renditions.filter(({ kind }) => kind === 'audio').length * SEGMENT_CHARACTERS
  const video = renditions.filter(({ kind }) => kind === 'video').reduce((sum, each) => sum + charactersOf(each), 0)
  const ofRest = seconds === null ? 0 : segmentsIn(packaging, seconds) * audio
  return ofRest <= MAX_CHARACTERS && segmentsIn(packaging, chunkSeconds) * video <= MAX_CHARACTERS
}

/** Characters of one segment. */
function charactersOf({ video, segmentFrames }: RenditionPlan): number {
  const keys = video === null ? 1 : Math.ceil(segmentFrames / Math.max(1, video.gopFrames))
  return SEGMENT_CHARACTERS + (keys - 1) * KEY_CHARACTERS
}

function segmentsIn(packaging: PackagingPlan, seconds: number): number {
  return Math.ceil(seconds / toNumber(packaging.segmentDuration)) + spliceSegments(packaging)
}
