// In charge of: the types of a job's request, as the package of the client has them: without the library that validates.
// Written by scripts/generateReference.ts from the schema that validates requests; do not edit (npm run fix).

export interface JobRequest {
  /** Address of a source (docs/sources.md), like https://… or s3://bucket/key. Required, unless inputs is given. Must be a string of 1 to 4096 characters. */
  input?: number | string | null | undefined
  /** Id or name of a preset. Members of the body take precedence over its own (docs/api.md). Must be a string of 1 to 100 characters. */
  preset?: string | null | undefined
  /** auto = sizes and bitrates follow from the source. Leave videoProfiles out; gop_length is then 2 unless given. Must be one of "auto". */
  ladder?: 'auto' | null | undefined
  /** Container of the files; hls and silverlight = segmented output (docs/segmented.md). Must be one of "ts", "mp4", "hls", "silverlight". Default: "mp4". */
  output_container?: 'ts' | 'mp4' | 'hls' | 'silverlight' | null | undefined
  /** true = write HLS playlists. Must be true or false. Default: false. */
  segmented_output_hls?: boolean | null | undefined
  /** true = write a DASH manifest. Must be true or false. Default: false. */
  segmented_output_dash?: boolean | null | undefined
  /** Segment length, rounded to whole GOPs; absent = 6. Must be a number above 0 and at most 60 (seconds); others are clamped with a warning. */
  segment_length?: number | string | null | undefined
  /** true = separate audio tracks in segmented output; false = audio in the video segments. Must be true or false. Default: false. */
  master_variant_mode?: boolean | null | undefined
  /** true = thumbnails for the seek bar and a poster, in segmented output. Must be true or false. */
  thumbnails?: boolean | null | undefined
  /** true or absent = a still image of the source at status.poster. Must be true or false. */
  preview?: boolean | null | undefined
  /** true = also store the segmented output as one tar archive. Must be true or false. */
  create_tar_file?: boolean | null | undefined
  /** Directory, in any bucket of the output provider, for one audio file per audio profile (docs/audio.md). Absent = none; a job without video stores them in bucket_output_path. Must be a string of at most 1024 characters. */
  audio_output_path?: string | null | undefined
  /** Cache-Control header of every output; absent = the default for its kind (docs/stores.md, Caching). Must be directives separated by commas, like "public, max-age=86400", of at most 200 characters. */
  cache_control?: string | null | undefined
  /** Divides the job into chunks of at most this length, encoded in parallel (docs/divided-jobs.md). 0 = one task; absent = by the predicted time. Must be a number from 10 to 600, or 0 (seconds). */
  max_chunk_seconds?: number | string | null | undefined
  /** Target time from creation to completion. The job is divided if one transcoder is too slow, and comes first in its account’s queue after half of the time. Missing it is no error. Must be a whole number from 60 to 86400 (seconds). */
  deadline_seconds?: number | string | null | undefined
  /** Time of the first frame: the first EXT-X-PROGRAM-DATE-TIME of HLS playlists. Must be a time with a time zone, like "2026-01-31T20:15:00Z". */
  program_start_time?: string | false | null | undefined
  /** First frame of the outputs, counted from the source’s first frame (docs/cuts.md). Absent = the beginning. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  start_seconds?: number | string | null | undefined
  /** End of the outputs; this frame is not included. Absent = the end of the source. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  end_seconds?: number | string | null | undefined
  /** Video profiles larger than the source: true = made, absent = made with a warning, false = left out; at least one is made. Must be true or false. */
  allow_upscaling?: boolean | null | undefined
  /** Video codec; copy = keep the source’s video, in all profiles (docs/copy.md). Must be one of "h.264", "mpeg2", "hevc", "copy". Default: "h.264". */
  video_codec?: 'h.264' | 'mpeg2' | 'hevc' | 'copy' | null | undefined
  /** true = encode a stream that cannot be copied, with a warning; otherwise the job fails. Must be true or false. */
  copy_if_possible?: boolean | null | undefined
  /** Encoder effort for h.264 and hevc: good is the fastest, best the slowest. No effect with mpeg2. Must be one of "good", "better", "best". Default: "good". */
  h264_quality?: 'good' | 'better' | 'best' | null | undefined
  /** Distance between key frames (length of a GOP). Must be a number above 0 and at most 60 (seconds); others are clamped with a warning. */
  gop_length?: number | string | null | undefined
  /** Distance between I and P frames: the number of B-frames, plus one. Must be a whole number from 1 to 8; others are clamped with a warning. */
  ip_distance?: number | string | null | undefined
  /** true = keep the source’s frame rate; false = use the nearest standard rate. Must be true or false. Default: true. */
  keep_fps?: boolean | null | undefined
  /** For HDR sources (docs/media.md): sdr = tone-mapped, source = keep HDR (hevc only). Absent = source for hevc, else sdr. Must be one of "sdr", "source". */
  dynamic_range?: 'sdr' | 'source' | null | undefined
  /** Display aspect ratio and rotation. Must be one of "passthrough", "force_4:3", "force_16:9", "invert_aspect_ratio", "rotate_counterclockwise", "rotate_clockwise", "rotate_counterclockwise + invert_aspect_ratio". Default: "passthrough". */
  video_aspect_ratio?: 'passthrough' | 'force_4:3' | 'force_16:9' | 'invert_aspect_ratio' | 'rotate_counterclockwise' | 'rotate_clockwise' | 'rotate_counterclockwise + invert_aspect_ratio' | null | undefined
  /** How the video is fitted, flipped or rotated. Must be one of "none", "letterbox", "crop", "stretch", "hflip", "vflip", "rotate180". Default: "none". */
  picture_transform?: 'none' | 'letterbox' | 'crop' | 'stretch' | 'hflip' | 'vflip' | 'rotate180' | null | undefined
  /** Brightness of the bars around a rotated frame, in percent. Must be a number from 0 to 100. */
  rotation_blackness?: number | string | null | undefined
  /** true = deinterlace all outputs. Must be true or false. Default: false. */
  force_progressive?: boolean | null | undefined
  /** true = undo 3:2 pulldown where it is detected. Must be true or false. */
  auto_detelecine_flag?: boolean | null | undefined
  /** Image (PNG, JPEG or WebP) to draw over the video. Must be an http or https address of at most 4096 characters, or null. */
  logo_url?: string | null | undefined
  /** Corner of the logo; absent = top_right. Must be one of "top_left", "top_right", "bottom_left", "bottom_right". */
  logo_position?: 'top_left' | 'top_right' | 'bottom_left' | 'bottom_right' | null | undefined
  /** Opacity of the logo in percent; absent = 100. Must be a number from 0 to 100. */
  logo_opacity?: number | string | null | undefined
  /** Volume in percent of the source. Must be a number from 0 to 200. */
  audio_volume?: number | string | null | undefined
  /** Target loudness (EBU R 128), with true peaks below −1 dBTP. Not together with audio_volume. Must be a number from -40 to -5 (LUFS). */
  loudness_lufs?: number | string | null | undefined
  /** true = keep closed captions and also write them as WebVTT in segmented output; false = remove them; absent = keep them in the video. Must be true or false. */
  closed_captions?: boolean | null | undefined
  /** true = keep the source’s SCTE-35 cues (docs/scte35.md). Also accepted as scte35_passthrough. Must be true or false. Default: false. */
  scte35_passthough?: boolean | null | undefined
  /** PID of the SCTE-35 cues; -1 = as in the source. Must be a whole number from 32 to 8190, or -1. */
  scte35_pid_remap?: number | string | null | undefined
  /** Program of a transport stream; absent = the first with video. Stream numbers count within it. Must be a whole number from 1 to 65535. */
  program_number?: number | string | null | undefined
  /** Errors allowed in the source (damaged packets, concealed frames, filled audio gaps). One more ends the job with too_many_source_errors. Absent = no limit. Must be a whole number from 0 to 1000000. */
  max_source_errors?: number | string | null | undefined
  /** Number of audio streams to expect in a transport stream. Must be a whole number from 0 to 100. */
  ts_mode_input_audio_source_stream_count?: number | string | null | undefined
  /** Signalling of ts files (docs/broadcast.md): dvb also keeps teletext and DVB subtitles, atsc writes PSIP. Absent = AC-3 as in ATSC, and an SDT. Must be one of "dvb", "atsc". */
  ts_profile?: 'dvb' | 'atsc' | null | undefined
  /** Service name in ts files; absent = the name of the source. Must be a string of at most 40 characters without control characters. */
  service_name?: string | null | undefined
  /** Service provider in ts files; absent = Splicepoint. Must be a string of at most 40 characters without control characters. */
  service_provider?: string | null | undefined
  /** service_id (program_number) of ts files; absent = 1. Must be a whole number from 1 to 65535. */
  service_id?: number | string | null | undefined
  /** transport_stream_id of ts files; absent = 1. Must be a whole number from 0 to 65535. */
  transport_stream_id?: number | string | null | undefined
  /** PID of the PMT of ts files; absent = 4096. Must be a whole number from 32 to 8186. */
  pmt_pid?: number | string | null | undefined
  /** PID of the video of ts files; absent = 256. Must be a whole number from 32 to 8186. */
  video_pid?: number | string | null | undefined
  /** PID of the first audio track of ts files; further tracks, teletext and subtitles count up. Absent = video_pid + 1. Must be a whole number from 32 to 8186. */
  audio_pid?: number | string | null | undefined
  /** Receives a signed webhook when the job ends (docs/webhooks.md). Must be an http or https address of at most 4096 characters, or null. */
  webhook_url?: string | null | undefined
  /** Directory of the outputs, like s3://bucket/directory (docs/stores.md, Paths). Must be a string of at most 1024 characters. */
  bucket_output_path?: string | null | undefined
  /** Alias of master_variant_mode; the stored config shows this name. Must be true or false. */
  separate_audio?: boolean | null | undefined
  /** Alias of scte35_passthough; stored under that name. Must be true or false. */
  scte35_passthrough?: boolean | null | undefined
  /** Your own names and values, returned in lists and webhooks, and searchable. Must be an object of at most 20 strings of at most 500 characters. */
  metadata?: Record<string, string> | null | undefined
  /** 1 to 100 sources that are joined in this order, instead of input (docs/inputs.md). */
  inputs?: Input[] | null | undefined
  /** At most 16 renditions. Leave out with ladder "auto"; [] for a job with audio alone. */
  videoProfiles?: VideoProfile[] | null | undefined
  /** Empty for outputs without audio. Required with video, unless a preset has them. */
  audioProfiles?: AudioProfile[] | null | undefined
  /** Caption files beside the source; they become text tracks of HLS, DASH and mp4. */
  captions?: Caption[] | null | undefined
  /** Captions to draw into the video of every output: one of the two members. */
  burn_in_captions?: BurnInCaptions | null | undefined
  /** Still images of the outputs' frames: 1 to 16 elements, each with its own times, size and format. */
  stills?: Stills[] | null | undefined
  /** A short animation of excerpts, without audio. */
  animated_preview?: AnimatedPreview | null | undefined
  /** The peaks of the audio, as data or as an image. */
  waveform?: Waveform | null | undefined
  cloud_credentials: {
    input?: Credential | null | undefined
    /** Credentials of each element of inputs. Without it, input applies to all of them. */
    inputs?: Credential[] | null | undefined
    output?: Credential | null | undefined
  }
}

export interface PresetJob extends Omit<JobRequest, 'input' | 'preset' | 'inputs' | 'captions' | 'cloud_credentials'> {
}

export interface Input {
  /** Address of this source, like https://… or s3://bucket/key (docs/stores.md). Must be a string of 1 to 4096 characters. */
  input: number | string
  /** First frame of this piece, counted from its source’s first frame. Absent = the beginning. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  start_seconds?: number | string | null | undefined
  /** End of this piece; this frame is not included. Absent = the end of its source. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  end_seconds?: number | string | null | undefined
  /** Audio streams that have another number in this source: {"1": "3"} = its stream 3 where a profile has source_stream 1; null = silence. Absent = the same numbers. Must be an object of streams from 1 to 8, like {"1": "3", "2": null}. */
  source_streams?: Record<string, number | string | null> | null | undefined
}

export interface VideoProfile {
  /** Path and file name of the output; empty or absent = derived from the source. Must be a string of at most 1024 characters. */
  output?: string | null | undefined
  /** Width in pixels; 0 = follows the height, or the source. Required, unless the video is copied. Must be a whole number from 16 to 7680, or 0. */
  width?: number | string | null | undefined
  /** Height in pixels; 0 = follows the width, or the source. Required, unless the video is copied. Must be a whole number from 16 to 4320, or 0. */
  height?: number | string | null | undefined
  /** cbr = constant bitrate, vbr = variable, qvbr = constant quality; absent = vbr. Must be one of "cbr", "vbr", "qvbr". */
  video_bitrate_mode?: 'cbr' | 'vbr' | 'qvbr' | null | undefined
  /** Bitrate; the minimum depends on codec and size. Required, unless the video is copied. Must be a number of kbps, at least 100. */
  video_bitrate?: number | string | null | undefined
  /** Frame rate relative to the source. Must be one of "1x", "1/2x", "2x". Default: "1x". */
  video_framerate?: '1x' | '1/2x' | '2x' | null | undefined
  /** Positions in audioProfiles that this output carries; absent or empty = all, none = no audio. Must be a position in audioProfiles from 0 to 7, several separated by commas, like "0,1", or "none". */
  audio_profiles?: number | string | null | undefined
  /** progressive = deinterlace this output. Must be one of "progressive". */
  video_format?: 'progressive' | null | undefined
  /** copy = keep the source’s video; absent = the job’s video_codec. Must be one of "copy". */
  video_codec?: 'copy' | null | undefined
}

export interface AudioProfile {
  /** Audio codec. mp3 and pcm: audio files only (docs/audio.md); copy = keep the source’s stream (docs/copy.md). Must be one of "aac", "ac3", "mp2", "mp3", "opus", "flac", "eac3", "pcm", "copy". Default: "aac". */
  audio_codec?: 'aac' | 'ac3' | 'mp2' | 'mp3' | 'opus' | 'flac' | 'eac3' | 'pcm' | 'copy' | null | undefined
  /** 2 = stereo, 6 = 5.1. Must be one of "2", "6". */
  audio_channels?: '2' | '6' | number | null | undefined
  /** Bitrate in kbps, by codec and channels. No effect with flac and pcm, which are lossless. Must be one of "32", "40", "64", "96", "128", "192", "256", "320", "384", "448", "768". */
  audio_bitrate?: '32' | '40' | '64' | '96' | '128' | '192' | '256' | '320' | '384' | '448' | '768' | number | null | undefined
  /** true = downmix 5.1 to stereo, even with audio_channels 6. Must be true or false. */
  primary_audio_downmix_to_stereo?: boolean | null | undefined
  /** Audio stream of the source, from 1. Without it and source_channels, there is no audio. Must be the index of a source stream from 1 to 8. */
  source_stream?: '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | number | null | undefined
  /** Single channels: "3,4" = of source_stream, "1:1,2:1" = channel 1 of streams 1 and 2; order: docs/audio.md. One channel goes to both sides. Absent = all channels of source_stream. Must be 1, 2 or 6 channels of the source from 1 to 64, separated by commas, like "3,4", each with or without a stream from 1 to 32 before it, like "1:1,2:1". */
  source_channels?: number | string | null | undefined
  /** What the audio is for, as players are told (docs/audio.md): audio_description = for the visually impaired, clean_effects = without speech. Absent = as the source says. Must be one of "main", "audio_description", "hearing_impaired", "clean_effects", "commentary", "dub". */
  purpose?: 'main' | 'audio_description' | 'hearing_impaired' | 'clean_effects' | 'commentary' | 'dub' | null | undefined
  /** Dialogue level (dialnorm) of ac3 and eac3; 0 = as in the source. Must be a whole number from 0 to 31. */
  dolby_digital_dialnorm?: number | string | null | undefined
  /** Downmix to stereo (ITU-R BS.775): lo_ro = plain, lt_rt = for matrix surround decoders. Absent = lo_ro. Must be one of "lo_ro", "lt_rt". */
  downmix?: 'lo_ro' | 'lt_rt' | null | undefined
  /** true = include the LFE channel in a stereo downmix. Must be true or false. */
  downmix_lfe?: boolean | null | undefined
  /** true = leave this profile out, with a warning, if the source lacks its source_stream; otherwise the job fails. Must be true or false. */
  optional?: boolean | null | undefined
  /** Container of an audio file: opus has ogg (default) and webm; every other codec has one. Must be one of "m4a", "ac3", "mp2", "mp3", "ogg", "webm", "flac", "eac3", "wav". */
  audio_container?: 'm4a' | 'ac3' | 'mp2' | 'mp3' | 'ogg' | 'webm' | 'flac' | 'eac3' | 'wav' | null | undefined
  /** Sample rate in Hz; absent = 48000. Others only for audio files without video (docs/audio.md). Must be one of "44100", "48000", "96000". */
  audio_sample_rate?: '44100' | '48000' | '96000' | number | null | undefined
  /** Bits per sample of flac and pcm; absent = 16. Must be one of "16", "24". */
  audio_bit_depth?: '16' | '24' | number | null | undefined
}

export interface Caption {
  /** Address of the caption file: http or https, an upload, an earlier output, or the provider of input with the same credentials (docs/captions.md). Must be a string of 1 to 4096 characters. */
  input: number | string
  /** Language of the text, for players. Must be a language of ISO 639, optionally with script, region and variants (BCP 47), like "de", "pt-BR" or "zh-Hant". */
  language: string
  /** Name in players; empty or absent = the name of the language. Must be a string of at most 100 characters without control characters. */
  label?: string | null | undefined
  /** Format of the file; absent = detected from its content. Must be one of "srt", "webvtt", "ttml", "scc", "stl". */
  format?: 'srt' | 'webvtt' | 'ttml' | 'scc' | 'stl' | null | undefined
  /** Seconds added to the times in the file. Absent = 0, and the programme start of scc, stl and ttml files is removed (docs/captions.md). Must be a number from -100000 to 100000 (seconds). */
  offset_seconds?: number | string | null | undefined
  /** true = players show this track unless the viewer chooses another one. Must be true or false. */
  default?: boolean | null | undefined
  /** true = only what viewers need even without subtitles, such as foreign speech. Must be true or false. */
  forced?: boolean | null | undefined
  /** true = also describes music and noises (SDH). Must be true or false. */
  hearing_impaired?: boolean | null | undefined
  /** Also writes the captions into the video frames, in place of the source’s (docs/captions.md). Must be one of "cea-608". */
  embed?: 'cea-608' | null | undefined
  /** Channel of embedded captions; absent = the first free one of CC1, CC3, CC2, CC4. Must be one of "CC1", "CC2", "CC3", "CC4". */
  embed_channel?: 'CC1' | 'CC2' | 'CC3' | 'CC4' | null | undefined
}

export interface BurnInCaptions {
  /** Caption file to draw: its position in captions, from 0. Must be a whole number from 0 to 31. */
  captions?: number | string | null | undefined
  /** Subtitle stream of the source to draw, from 1. Must be a whole number from 1 to 32. */
  source_track?: number | string | null | undefined
}

export interface Stills {
  /** One image for each of these times of the outputs. Must be seconds, or a time like "00:01:30.480" or "00:01:30:12", or a list of 1 to 1000 of them. */
  at_seconds?: number | string | (number | string)[] | null | undefined
  /** One image at the beginning, then one after each interval. Must be a number from 0.1 to 86400 (seconds). */
  every_seconds?: number | string | null | undefined
  /** This many images, each from the middle of one of as many equal parts. Must be a whole number from 1 to 1000. */
  count?: number | string | null | undefined
  /** Width in square pixels; absent = follows the height, or the source. With both, the image fits inside. Must be a whole number from 16 to 7680 (pixels). */
  width?: number | string | null | undefined
  /** Height in square pixels; absent = follows the width, or the source. Must be a whole number from 16 to 4320 (pixels). */
  height?: number | string | null | undefined
  /** Image format. avif needs an ffmpeg with libaom. Must be one of "jpeg", "webp", "avif". Default: "jpeg". */
  format?: 'jpeg' | 'webp' | 'avif' | null | undefined
  /** Compression: 1 = smallest, 100 = best. Must be a whole number from 1 to 100. */
  quality?: number | string | null | undefined
  /** Path below bucket_output_path; several images get numbers, like cover_0001.jpg. Absent = derived from the source. Must be a string of at most 1024 characters. */
  output?: string | null | undefined
}

export interface AnimatedPreview {
  /** File format. gif and webp loop by themselves, mp4 if its player is told to. Must be one of "mp4", "gif", "webp". Default: "mp4". */
  format?: 'mp4' | 'gif' | 'webp' | null | undefined
  /** Length of the preview. Must be a number from 0.5 to 30 (seconds). */
  seconds?: number | string | null | undefined
  /** Number of excerpts of equal length, spread over the video. Must be a whole number from 1 to 20. */
  parts?: number | string | null | undefined
  /** Time of the outputs from which the excerpts are spread; with parts 1, where the excerpt begins. Absent = 0. Must be seconds, or a time like "00:01:30.480" or "00:01:30:12". */
  start_seconds?: number | string | null | undefined
  /** Width in square pixels; the height is in proportion. Must be a whole number from 16 to 1280 (pixels). */
  width?: number | string | null | undefined
  /** Frame rate; never above the source’s. Must be a number from 1 to 30. */
  frames_per_second?: number | string | null | undefined
}

export interface Waveform {
  /** json and dat = audiowaveform data, version 2, for peaks.js; png = an image. Must be one of "json", "dat", "png". Default: "json". */
  format?: 'json' | 'dat' | 'png' | null | undefined
  /** Audio stream of the source, from 1. Must be a whole number from 1 to 8. */
  source_stream?: number | string | null | undefined
  /** Audio samples per pair of peaks; absent = 256, or by pixels_per_second. Must be a whole number from 16 to 1000000. */
  samples_per_pixel?: number | string | null | undefined
  /** Pairs of peaks per second, instead of samples_per_pixel. Must be a whole number from 1 to 3000. */
  pixels_per_second?: number | string | null | undefined
  /** Resolution of the peaks. Must be one of "8", "16". */
  bits?: '8' | '16' | number | null | undefined
  /** true = each channel has its own peaks; false = their mean. Must be true or false. Default: false. */
  split_channels?: boolean | null | undefined
  /** Width of the image; png only. Must be a whole number from 16 to 16384 (pixels). */
  width?: number | string | null | undefined
  /** Height of the image; png only. Must be a whole number from 16 to 4096 (pixels). */
  height?: number | string | null | undefined
  /** Colour behind the waveform; png only. Must be a colour like "#003366", or with its opacity "#00336680". Default: "#ffffff". */
  background_color?: string | null | undefined
  /** Colour of the waveform; png only. Must be a colour like "#003366", or with its opacity "#00336680". Default: "#003366". */
  waveform_color?: string | null | undefined
}

export interface Credential {
  /** Kind of store; absent = oracle, with a warning. Must be one of "aws", "oracle", "gcloud", "http", "file-upload", "vendor-store". Default: "oracle". */
  cloud_provider?: 'aws' | 'oracle' | 'gcloud' | 'http' | 'file-upload' | 'vendor-store' | null | undefined
  /** Access key. Must be a string of at most 1024 characters, or null. */
  access_key?: string | null | undefined
  /** Secret key. Must be a string of at most 16384 characters, or null. */
  secret_key?: string | null | undefined
  /** Region of the bucket. Must be a string on one line of at most 1024 characters, or null. */
  region?: string | null | undefined
  /** Oracle only: OCID of the tenancy. Must be a string on one line of at most 1024 characters, or null. */
  tenancy_ocid?: string | null | undefined
  /** Oracle only: OCID of the user. Must be a string on one line of at most 1024 characters, or null. */
  user_ocid?: string | null | undefined
  /** Oracle only: fingerprint of the API key of the user. Must be a string on one line of at most 1024 characters, or null. */
  oci_fingerprint?: string | null | undefined
  /** Google only: id of the project. Must be a string on one line of at most 1024 characters, or null. */
  project_id?: string | null | undefined
  /** Google only: e-mail address of the service account. Must be a string on one line of at most 1024 characters, or null. */
  client_email?: string | null | undefined
  /** Google only: id of the service account. Must be a string on one line of at most 1024 characters, or null. */
  client_id?: string | null | undefined
  /** Google only: id of the private key. Must be a string on one line of at most 1024 characters, or null. */
  private_key_id?: string | null | undefined
  /** Private key in PEM form. Must be a string of at most 16384 characters, or null. */
  private_key?: string | null | undefined
  /** Token of temporary credentials. Must be a string of at most 16384 characters, or null. */
  session_token?: string | null | undefined
  /** Address of an S3-compatible store. Must be a string of at most 1024 characters, or null. */
  endpoint?: string | null | undefined
}
