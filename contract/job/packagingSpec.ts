// In charge of: what a job asks of segmented output, in the service's own words.
// Not in charge of: what cannot be together (rules/segmentedOutput.ts), what the source makes of it (transcoder/plan/packagingPlan.ts).
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
    isSegmentLengthGiven: config.segment_length !== undefined,
    separateAudio: config.master_variant_mode,
    // The same decision: `hls` with DASH is one set; `ts` with DASH is both.
    preferTransportStream: prefersTransportStreams(config),
    tar: config.create_tar_file ?? false,
    thumbnails: config.thumbnails ?? false,
    programStart: startOf(config.program_start_time) ?? 0,
  }
}

/** Milliseconds since 1970; null = not a time. */
export function startOf(value: unknown): number | null {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/.test(value))
    return null
  const time = Date.parse(value)
  return Number.isNaN(time) ? null : time
}
