// In charge of: whether a preset can be used with a source, and what the source changes about it. Pure.
// Not in charge of: the exact plan (see dryRun.ts).
import { codecOf, videoRules, WIRE_VIDEO_CODECS } from '#contract/codecs.ts'
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { dimensions } from '../../text/mediaTerms.ts'
import type { JobFields } from './formBody.ts'

export interface PresetFit {
  /** Why it cannot be used; null = it can be. */
  reason: string | null
  /** What will differ with this source. */
  notes: readonly string[]
}

export interface Size {
  width: number
  height: number
}

/** Displayed size: upright, with square pixels. */
export function displaySize({
  width,
  height,
  sample_aspect_ratio: ratio,
  rotation,
}: NonNullable<SourceReport['video']>): Size {
  const [over = 1, under = 1] = ratio.split(':').map(Number)
  const stretched = over > 0 && under > 0 ? Math.round((width * over) / under) : width
  return Math.abs(rotation) % 180 === 90 ? { width: height, height: stretched } : { width: stretched, height }
}

const profilesOf = (job: JobFields): JobFields[] =>
  Array.isArray(job['videoProfiles']) ? (job['videoProfiles'] as JobFields[]) : []

/** The shorter side of a rendition, which "720p" names in either orientation; 0 = the size of the source. */
function rungOf({ width, height }: JobFields): number {
  const sides = [Number(width), Number(height)].filter((side) => side > 0)
  return sides.length === 0 ? 0 : Math.min(...sides)
}

export function presetFit(job: JobFields, source: SourceReport | null): PresetFit {
  if (source === null) return { reason: null, notes: [] }
  const isAudioOnly = job['ladder'] === undefined && profilesOf(job).length === 0
  const audioFiles = isAudioOnly || typeof job['audio_output_path'] === 'string'
  if (audioFiles && source.audio.length === 0) return { reason: 'This source has no audio.', notes: [] }
  if (source.video === null) {
    return { reason: audioFiles ? null : 'This source has no video.', notes: [] }
  }
  const notes: string[] = []
  const size = displaySize(source.video)
  // Non-breaking spaces keep it on one line.
  const shown = dimensions(size.width, size.height).replaceAll(' ', '\u{a0}')
  const short = Math.min(size.width, size.height)
  const rungs = profilesOf(job).map(rungOf)
  // Rounding to even sizes does not make a rendition larger than the source.
  const above = rungs.filter((rung) => rung > short + 2)
  const names = above
    .map((rung) => `${rung}p`)
    .join(' and ')
    .replace(/ and (?=.* and )/g, ', ')
  if (above.length > 0 && job['allow_upscaling'] === true) {
    notes.push(`Upscales to ${names}: the source is ${shown}.`)
  } else if (above.length > 0 && job['allow_upscaling'] === false) {
    notes.push(
      above.length === rungs.length
        ? `Made at the source’s size, ${shown}.`
        : `Leaves out ${names}: the source is ${shown}.`,
    )
  } else if (above.length > 0) {
    notes.push(`Upscales to ${names}: the source is ${shown}.`)
  }
  const codec = WIRE_VIDEO_CODECS.find((one) => one === job['video_codec'])
  const keepsHdr = codec !== undefined && videoRules(codecOf(codec)).hasHdr
  if (source.video.hdr && !keepsHdr) notes.push('HDR becomes SDR.')
  return { reason: null, notes }
}
