// In charge of: whether the manifest of a divided job fits into one message to the task API.
// Not in charge of: writing it (manifests/dash).
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import { toNumber } from '../../formats/rational.ts'

/** Characters for lists of segments. The rest of the 8 Mi of `WrittenObject` is for everything else. */
const MAX_CHARACTERS = 7 * 1024 * 1024
/** One segment without the name of its rendition: `<S>`, `<SegmentURL>`, the directory of the part, indentation. */
const SEGMENT_CHARACTERS = 130

/** At each splice point begins one more, at most. */
export function spliceSegments({ renditions }: Pick<PackagingPlan, 'renditions'>): number {
  return Math.max(0, ...renditions.map(({ video }) => video?.spliceFrames.length ?? 0))
}

/**
 * The segments of several directories are listed one by one in DASH, where the segments of one directory need a few lines.
 * HLS has a playlist for each rendition.
 */
export function fitsInManifest(packaging: PackagingPlan, seconds: number | null): boolean {
  const { dash, renditions, segmentDuration } = packaging
  if (!dash || seconds === null) return true
  const segments = Math.ceil(seconds / toNumber(segmentDuration)) + spliceSegments(packaging)
  const names = renditions
    .filter(({ kind }) => kind === 'video')
    // Each byte of a name may be escaped.
    .reduce((sum, { directory }) => sum + SEGMENT_CHARACTERS + encodeURIComponent(directory).length, 0)
  return segments * names <= MAX_CHARACTERS
}
