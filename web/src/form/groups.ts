// In charge of: which field of a job stands in which part of the form. A test sees that none is missing.

export interface Group {
  id: string
  title: string
  fields: readonly string[]
}

export const groups: readonly Group[] = [
  {
    id: 'packaging',
    title: 'Packaging',
    fields: [
      'output_container',
      'segmented_output_hls',
      'segmented_output_dash',
      'segment_length',
      'master_variant_mode',
      'create_tar_file',
      'bucket_output_path',
      'audio_output_path',
      'cache_control',
      'program_start_time',
    ],
  },
  {
    id: 'video',
    title: 'Video',
    fields: [
      'video_codec',
      'h264_quality',
      'gop_length',
      'ip_distance',
      'keep_fps',
      'dynamic_range',
      'allow_upscaling',
      'ladder',
    ],
  },
  {
    id: 'picture',
    title: 'Picture',
    fields: [
      'video_aspect_ratio',
      'picture_transform',
      'rotation_blackness',
      'force_progressive',
      'auto_detelecine_flag',
      'thumbnails',
      'preview',
      'logo_url',
      'logo_position',
      'logo_opacity',
    ],
  },
  { id: 'sound', title: 'Sound', fields: ['audio_volume', 'loudness_lufs'] },
  {
    id: 'broadcast',
    title: 'Captions, cues and programs',
    fields: [
      'closed_captions',
      'scte35_passthough',
      'scte35_pid_remap',
      'program_number',
      'ts_mode_input_audio_source_stream_count',
    ],
  },
  { id: 'notice', title: 'Notification', fields: ['webhook_url'] },
]

/** Fields with a place of their own, and second names of others. */
export const elsewhere: readonly string[] = ['input', 'separate_audio', 'scte35_passthrough', 'preset', 'metadata']
