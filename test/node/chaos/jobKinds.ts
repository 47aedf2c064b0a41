// In charge of: the kinds of jobs used for chaos runs.
// Not in charge of: where they read and write.

export const JOB_KINDS = ['file', 'segmented', 'tar'] as const
export type JobKind = (typeof JOB_KINDS)[number]

/** Merged into a job with one rendition; `segmented` is HLS and DASH. */
export function jobBodyOf(kind: JobKind): object {
  if (kind === 'file') return {}
  return {
    segment_length: 2,
    gop_length: 1,
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    create_tar_file: kind === 'tar',
    videoProfiles: [
      { output: '', width: 320, height: 180, video_bitrate: 400 },
      { output: 'low', width: 160, height: 90, video_bitrate: 150 },
    ],
  }
}
