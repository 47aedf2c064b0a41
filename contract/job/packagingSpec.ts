// In charge of: the segmented output that a job asks for, as the part of the specification that the transcoder reads.
// Not in charge of: conflicts between its fields (rules/segmentedOutput.ts), the effect of the source
// (transcoder/plan/packagingPlan.ts).
import { hasHls, isSegmented, isSmooth, prefersTransportStreams } from '../containers.ts'
import type { JobConfig } from './jobConfig.ts'
import { DEFAULT_SEGMENT_SECONDS } from '../limits.ts'
import type { PackagingSpec } from './jobSpec.ts'

export function packagingOf(config: JobConfig): PackagingSpec | null {
  if (!isSegmented(config)) return null
  return {
    // Decision "output_container with flags": `hls` implies segmented_output_hls.
    hls: hasHls(config),
    dash: config.segmented_output_dash,
    smooth: isSmooth(config),
    segmentSeconds: config.segment_length ?? DEFAULT_SEGMENT_SECONDS,
    hasExplicitSegmentLength: config.segment_length !== undefined,
    separateAudio: config.master_variant_mode,
    // Same decision: `hls` with DASH shares one set of segments; `ts` with DASH has both forms.
    preferTransportStream: prefersTransportStreams(config),
    tar: config.create_tar_file ?? false,
    thumbnails: config.thumbnails ?? false,
    programStart: startOf(config.program_start_time) ?? 0,
  }
}

/** @returns milliseconds since 1970; null = not a valid time */
export function startOf(value: unknown): number | null {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/.test(value))
    return null
  const time = Date.parse(value)
  return Number.isNaN(time) ? null : time
}
