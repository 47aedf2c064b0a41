// In charge of: dynamic_range: whether an HDR source stays HDR, and the metadata of the display it was mastered on.
// Not in charge of: tone mapping and tags (color.ts, filters.ts), reading a source's side data
// (transcoder/analysis/hdrMetadata.ts).
import { videoCodecs } from '#contract/codecs.ts'
import { TaskError } from '#contract/taskError.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { MasteringDisplay, VideoStream } from '../model/mediaInfo.ts'
import type { PlanContext } from '../planContext.ts'

/** Signal level of SDR white, 203 cd/m² (ITU-R BT.2408, table 1): the level of logos and bars. */
export const WHITE_SIGNAL = { smpte2084: 0.58, 'arib-std-b67': 0.75 } as const
export const WHITE_NITS = 203

type HdrTransfer = keyof typeof WHITE_SIGNAL

/** The name of an HDR output, by its transfer. */
export const HDR_NAMES: Readonly<Record<string, 'hdr10' | 'hlg'>> = { smpte2084: 'hdr10', 'arib-std-b67': 'hlg' }

/** PQ or HLG; null for anything else. */
export function hdrTransfer(video: VideoStream): HdrTransfer | null {
  return video.colorTransfer === 'smpte2084' || video.colorTransfer === 'arib-std-b67' ? video.colorTransfer : null
}

/** Whether the job requests HDR outputs and the source allows them. */
export function requestsHdr(spec: JobSpec, video: VideoStream): boolean {
  return videoCodecs[spec.videoCodec].hasHdr && spec.dynamicRange === 'source' && hdrTransfer(video) !== null
}

/**
 * Throws source_unsupported where the colours of the pictures follow from metadata that ffmpeg does not apply: they would
 * come out green and purple.
 */
function requireColors({ dolbyVisionAlone: profile }: VideoStream): void {
  if (profile === undefined) return
  const message = `The source’s video is Dolby Vision of profile ${profile}, whose pictures can be shown by Dolby Vision players only. Export it as HDR10, HLG, SDR, or Dolby Vision 8.1 or 8.4.`
  throw new TaskError('source_unsupported', message, { details: { dolby_vision_profile: profile } })
}

/** Whether the outputs are HDR: this libx265 may support 8 bits only. */
export function planHdr(context: PlanContext, video: VideoStream): boolean {
  requireColors(video)
  if (!requestsHdr(context.spec, video)) return false
  const field = 'dynamic_range'
  if (!context.features.hevcMain10) {
    const message = 'The source is HDR, and this hevc encoder supports 8 bits only: the output is SDR.'
    context.warn({ code: 'hdr_not_kept', field, message })
    return false
  }
  if (video.dynamicMetadata) {
    const message = 'The source’s scene-by-scene metadata (HDR10+ or Dolby Vision) is not part of the output.'
    context.warn({ code: 'dynamic_metadata_left_out', field, message })
  }
  return true
}

/** In x265's units: chromaticities in steps of 0.00002, luminances in 0.0001 cd/m² (SMPTE ST 2086). */
export function masterDisplay({ red, green, blue, white, minNits, maxNits }: MasteringDisplay): string {
  const point = ([x, y]: readonly [number, number]) => `(${Math.round(x * 50_000)},${Math.round(y * 50_000)})`
  const light = `(${Math.round(maxNits * 10_000)},${Math.round(minNits * 10_000)})`
  return `G${point(green)}B${point(blue)}R${point(red)}WP${point(white)}L${light}`
}
