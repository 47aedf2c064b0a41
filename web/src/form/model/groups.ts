// In charge of: which part of the form shows which field of a job. A test checks that no field is missing.
import { TRANSPORT_STREAM_FIELDS } from '#contract/job/rules/transportStream.ts'

export interface Group {
  id: string
  title: string
  fields: readonly string[]
}

export const FIELD_GROUPS: readonly Group[] = [
  {
    id: 'packaging',
    title: 'Packaging',
    fields: [
      'output_container',
      'segmented_output_hls',
      'segmented_output_dash',
      'segment_length',
      'master_variant_mode',
      'thumbnails',
      'preview',
      'create_tar_file',
      'audio_output_path',
      'cache_control',
      'max_chunk_seconds',
      'deadline_seconds',
      'program_start_time',
    ],
  },
  {
    id: 'part',
    title: 'Part of the source',
    fields: ['start_seconds', 'end_seconds'],
  },
  {
    id: 'encoding',
    title: 'Video encoding',
    fields: [
      'video_codec',
      'copy_if_possible',
      'h264_quality',
      'gop_length',
      'ip_distance',
      'keep_fps',
      'dynamic_range',
    ],
  },
  {
    id: 'frame',
    title: 'Frame and logo',
    fields: [
      'video_aspect_ratio',
      'picture_transform',
      'rotation_blackness',
      'force_progressive',
      'auto_detelecine_flag',
      'logo_url',
      'logo_position',
      'logo_opacity',
    ],
  },
  {
    id: 'broadcast',
    title: 'Captions, SCTE-35 cues and programs',
    fields: [
      'closed_captions',
      'scte35_passthough',
      'scte35_pid_remap',
      'program_number',
      'max_source_errors',
      'ts_mode_input_audio_source_stream_count',
    ],
  },
  {
    id: 'service',
    title: 'Transport stream',
    fields: TRANSPORT_STREAM_FIELDS,
  },
  { id: 'notice', title: 'Notification', fields: ['webhook_url'] },
]

/** Fields for all audio, below the tracks. */
export const audioFields: readonly string[] = ['audio_volume', 'loudness_lufs']
/** Above the renditions. */
export const renditionFields: readonly string[] = ['allow_upscaling']
/** Shown next to the destination. */
export const destinationFields: readonly string[] = ['bucket_output_path']

/** Fields shown elsewhere, and aliases of others. */
export const fieldsOutsideGroups: readonly string[] = [
  'input',
  'ladder',
  'metadata',
  'preset',
  'separate_audio',
  'scte35_passthrough',
  ...audioFields,
  ...renditionFields,
  ...destinationFields,
]
