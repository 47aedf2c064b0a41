// In charge of: the members of ffprobe's JSON that are read.
// Not in charge of: reading them (ffprobeJson.ts).

/**
 * The part of `ffprobe -of json -show_format -show_streams` that this program reads. Numbers with a fraction arrive as
 * text.
 */
export interface FfprobeJson {
  format?: {
    format_name?: string
    start_time?: string
    duration?: string
    size?: string
    tags?: Record<string, string>
  }
  streams?: ProbeStream[]
  programs?: { program_num?: number; streams?: { index?: number }[] }[]
}

export interface ProbeStream {
  index?: number
  /** Hexadecimal. */
  id?: string
  codec_type?: string
  codec_name?: string
  profile?: string
  codec_tag_string?: string
  width?: number
  height?: number
  sample_aspect_ratio?: string
  avg_frame_rate?: string
  r_frame_rate?: string
  field_order?: string
  pix_fmt?: string
  color_range?: string
  color_space?: string
  color_transfer?: string
  color_primaries?: string
  closed_captions?: number
  start_time?: string
  duration?: string
  nb_frames?: string
  channels?: number
  channel_layout?: string
  sample_rate?: string
  bit_rate?: string
  disposition?: Record<string, number>
  tags?: Record<string, string>
  side_data_list?: {
    side_data_type?: string
    rotation?: number | string
    displaymatrix?: string
    dv_profile?: number
    dv_bl_signal_compatibility_id?: number
  }[]
}
