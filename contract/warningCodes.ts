// In charge of: the closed list of warning codes. Clients can branch on them, and docs/matrix has a row for each.
// Not in charge of: when a warning is given.
import * as z from 'zod/mini'

export const WARNING_CODES = [
  // Request fields.
  'unknown_field',
  'no_effect',
  'rounded_to_even',
  'value_clamped',
  'provider_assumed',
  'audio_without_source_stream',
  'audio_profile_unused',
  'audio_bitrate_low',
  'webhook_left_out',
  // Missing in the source, or left out of the outputs.
  'afd_left_out',
  'attachment_left_out',
  'audio_left_out',
  'audio_not_produced',
  'audio_silent_in_piece',
  'caption_track_left_out',
  'captions_not_found',
  'captions_removed',
  'cover_art_left_out',
  'data_left_out',
  'dvb_subtitles_left_out',
  'dynamic_metadata_left_out',
  'further_video_left_out',
  'id3_left_out',
  'klv_left_out',
  'other_programs_left_out',
  'picture_subtitles_left_out',
  'scte35_left_out',
  'teletext_left_out',
  'text_subtitles_left_out',
  'timecode_left_out',
  'unknown_stream_left_out',
  'unreadable_audio_left_out',
  'cues_outside_cut',
  'copy_not_possible',
  'cut_moved',
  'end_after_source',
  'preview_left_out',
  'stills_left_out',
  // Damage in the source.
  'audio_ends_before_video',
  'audio_gaps_filled',
  'decode_errors',
  'frames_concealed',
  // Video.
  'access_units_late',
  'bars_added',
  'colors_not_converted',
  'deinterlaced',
  'detelecined',
  'extreme_pixel_aspect',
  'frame_rate_assumed',
  'frame_rate_snapped',
  'gamut_converted',
  'gop_clamped',
  'hdr_not_kept',
  'ip_distance_clamped',
  'no_telecine',
  'pictures_repeated',
  'size_rounded',
  'size_turned',
  'tone_mapped',
  'variable_frame_rate',
  // Bitrate ladder.
  'rung_at_source_size',
  'rung_left_out',
  'upscaled',
  'video_profile_left_out',
  // Audio.
  'audio_channels_silent',
  'audio_layout_unknown',
  'dialnorm_clamped',
  'dialnorm_not_in_source',
  'dialnorm_shifted',
  'loudness_limited',
  'loudness_not_measured',
  'loudness_not_reached',
  'loudness_of_silence',
  // SCTE-35 cues.
  'cue_pids_merged',
  'cues_damaged',
  'cues_limited',
  'no_cues',
  'splice_points_limited',
  'splice_schedule',
  // Segmented output.
  'audio_selections_differ',
  'audio_separated',
  'deadline_unlikely',
  'not_divided',
  'segment_length_snapped',
  'segments_are_cmaf',
  'subtitles_truncated',
  // Caption files.
  'caption_glyphs_missing',
  'captions_damaged',
  'captions_empty',
  'captions_characters_replaced',
  'captions_encoding_assumed',
  'captions_left_out',
  'captions_delayed',
  'captions_not_embedded',
  'captions_times_invalid',
  'captions_times_shifted',
] as const

export type WarningCode = (typeof WARNING_CODES)[number]

/**
 * As a transcoder posts it. A transcoder of another version may send codes that are not in this list; they are shown
 * too.
 */
export const warningCode = z.custom<WarningCode>((value) => typeof value === 'string' && value.length <= 64)
