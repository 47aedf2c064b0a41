// In charge of: the names and content types of the objects of segmented output.
// Not in charge of: their content. No two attempts share a name (attemptDirectory), except for objects that the commit
// writes.
import { joinPath } from '#contract/job/paths/outputNames.ts'
import type { UploadRequest } from '#contract/task/protocol.ts'
import { smoothBitrates, smoothFragmentPath } from '../manifests/smoothManifest.ts'
import { segmentContentType, segmentForms } from '../plan/forms.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import type { PackagingPlan, RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { SegmentWriterOptions } from './segmentWriter.ts'

/** Half a day, assumed for the size of the tar's parts if the source does not state its duration. */
const UNKNOWN_DURATION_SECONDS = 12 * 3600
/** For boxes, packets, headers, and bitrates above the requested ones. */
const OVERHEAD = 1.5

type Names = Pick<SegmentWriterOptions, 'directory' | 'tarDirectory' | 'initUri' | 'segmentUri' | 'contentType'>

export function objectNames(
  packaging: PackagingPlan,
  rendition: RenditionPlan,
  form: SegmentForm,
  attemptDirectory: string,
): Names {
  if (packaging.isIntermediate === true) {
    // As in `workObjectName` (contract/task/protocol.ts).
    const named = (what: string) => `${attemptDirectory}/${rendition.id}.${what}`
    const segmentUri = (number: number) => named(String(number))
    return { directory: '', tarDirectory: '', contentType: '', initUri: named('init'), segmentUri }
  }
  const inside = form === 'smooth' ? (packaging.smooth ?? '') : rendition.directory
  const common = {
    directory: joinPath(packaging.directory, inside),
    tarDirectory: inside,
    initUri: `${attemptDirectory}/init.mp4`,
    contentType: segmentContentType(form, rendition.kind),
  }
  if (form === 'smooth') {
    const stream = rendition.kind === 'video' ? 'video' : rendition.id
    const bitrate = smoothBitrate(packaging, rendition)
    return {
      ...common,
      segmentUri: (_number, start) => `${attemptDirectory}/${smoothFragmentPath(bitrate, stream, start)}`,
    }
  }
  const { extension } = segmentForms[form]
  return { ...common, segmentUri: (number) => `${attemptDirectory}/${String(number).padStart(5, '0')}.${extension}` }
}

function smoothBitrate({ renditions }: PackagingPlan, rendition: RenditionPlan): number {
  const alike = renditions.filter(({ kind }) => kind === rendition.kind)
  const rates = smoothBitrates(alike.map(({ video, audio }) => video?.bitrateKbps ?? audio[0]?.bitrateKbps ?? 0))
  return rates[alike.indexOf(rendition)]!
}

/** null where the plan has no tar. */
export function tarRequest({ packaging, durationSeconds }: Plan): UploadRequest | null {
  if (packaging === null || packaging.tar === null) return null
  const bytes = segmentBytes(packaging, durationSeconds ?? UNKNOWN_DURATION_SECONDS) * OVERHEAD
  return { path: packaging.tar, content_type: 'application/x-tar', expected_size: Math.ceil(bytes) }
}

/** At the bitrates of the plan, which quality targets stay below. */
export function segmentBytes({ renditions }: PackagingPlan, seconds: number): number {
  const kbps = renditions.reduce((sum, { video, audio, forms }) => {
    const renditionKbps = (video?.bitrateKbps ?? 0) + audio.reduce((total, track) => total + track.bitrateKbps, 0)
    return sum + renditionKbps * forms.length
  }, 0)
  return kbps * 125 * seconds
}
