// In charge of: the types of a job's request, as the package of the client has them: without the library that validates.
// Written by scripts/generateReference.ts from the schema that validates requests; do not edit (npm run fix).

export interface JobRequest {
  /** Bucket and object key with a cloud provider, otherwise an address. Required, unless inputs is given. Must be a string of 1 to 4096 characters. */
  input?: number | string | null | undefined
  /** Id or name of a preset. Its members apply to the job unless the body has them too (docs/api.md). Must be a string of 1 to 100 characters. */
  preset?: string | null | undefined
  /** auto = sizes and bitrates are chosen from the source’s size and frame rate; videoProfiles is left out, and gop_length is 2 unless given. Must be one of "auto". */
  ladder?: 'auto' | null | undefined
  /** Container of the outputs, or kind of segmented output. Must be one of "ts", "mp4", "hls", "silverlight". Default: "mp4". */
  output_container?: 'ts' | 'mp4' | 'hls' | 'silverlight' | null | undefined
  /** true = segmented output has HLS playlists. Must be true or false. Default: false. */
  segmented_output_hls?: boolean | null | undefined
  /** true = segmented output has a DASH manifest. Must be true or false. Default: false. */
  segmented_output_dash?: boolean | null | undefined
  /** Segment length, in seconds, rounded to whole GOPs (docs/segmented.md); absent = 6. Must be a number above 0 and at most 60 (seconds); others are clamped with a warning. */
  segment_length?: number | string | null | undefined
  /** true = separate audio tracks in segmented output; false = audio in the video segments. Must be true or false. Default: false. */
  master_variant_mode?: boolean | null | undefined
  /** true = segmented output has thumbnails for the seek bar, and a poster. Must be true or false. */
  thumbnails?: boolean | null | undefined
  /** true = a still image of the source is available as status.poster; absent = true. Must be true or false. */
  preview?: boolean | null | undefined
  /** Also store the segmented output as one tar archive. Must be true or false. */
  create_tar_file?: boolean | null | undefined
  /** Directory, in any bucket of the output provider, where each audio profile is also stored as a separate file, {input name}_audio_{index} with the extension of its audio_container. A job without video stores them in bucket_output_path unless this is given (docs/audio.md). Must be a string of at most 1024 characters. */
  audio_output_path?: string | null | undefined
  /** Cache-Control of every object of the job, instead of the default for its kind (docs/stores.md, Caching). Must be directives separated by commas, like "public, max-age=86400", of at most 200 characters. */
  cache_control?: string | null | undefined
  /** The job is divided into chunks of at most this length of its outputs, which several transcoders encode at once (docs/internals/divided-jobs.md). 0 = one task; absent = jobs that would take long are divided, by their predicted time. Must be a number from 10 to 600, or 0 (seconds). */
  max_chunk_seconds?: number | string | null | undefined
  /** The job is wanted within so many seconds of its creation: it is divided if one transcoder would take longer, and comes first among the jobs of its account once half of the time is over. A wish: a job that ends later does not fail for it (docs/internals/divided-jobs.md). Must be a whole number from 60 to 86400 (seconds). */
  deadline_seconds?: number | string | null | undefined
  /** Time of the first frame: the first EXT-X-PROGRAM-DATE-TIME of HLS playlists. Must be a time with a time zone, like "2026-01-31T20:15:00Z". */
  program_start_time?: string | false | null | undefined
  /** Where the outputs begin, counted from the source’s first frame: exact to the frame and the audio sample (docs/cuts.md). Absent = at its beginning. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  start_seconds?: number | string | null | undefined
  /** Where the outputs end; this frame is no longer in them. Absent = at the source’s end. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  end_seconds?: number | string | null | undefined
  /** Video profiles larger than the source: false = leave them out (if all are larger, the smallest is made at the source’s size), true = make them, absent = make them with a warning. Must be true or false. */
  allow_upscaling?: boolean | null | undefined
  /** Video codec; copy = the source’s video as it is, in all profiles (docs/copy.md). Must be one of "h.264", "mpeg2", "hevc", "copy". Default: "h.264". */
  video_codec?: 'h.264' | 'mpeg2' | 'hevc' | 'copy' | null | undefined
  /** true = a stream that cannot be copied is encoded, with a warning; false or absent = the job fails. Must be true or false. */
  copy_if_possible?: boolean | null | undefined
  /** Encoding speed or quality of h.264 and hevc: good is the fastest, best the slowest. No effect with mpeg2. Must be one of "good", "better", "best". Default: "good". */
  h264_quality?: 'good' | 'better' | 'best' | null | undefined
  /** Length of a GOP, in seconds. Must be a number above 0 and at most 60 (seconds); others are clamped with a warning. */
  gop_length?: number | string | null | undefined
  /** Distance between I and P frames: the number of B-frames between them, plus one. Must be a whole number from 1 to 8; others are clamped with a warning. */
  ip_distance?: number | string | null | undefined
  /** true = the frame rate of the source is kept; false = the nearest standard frame rate is used. Must be true or false. Default: true. */
  keep_fps?: boolean | null | undefined
  /** Dynamic range of outputs of an HDR source: sdr = tone-mapped, source = HDR is kept (hevc only). Absent = source for hevc, sdr otherwise. Must be one of "sdr", "source". */
  dynamic_range?: 'sdr' | 'source' | null | undefined
  /** Display aspect and rotation. Must be one of "passthrough", "force_4:3", "force_16:9", "invert_aspect_ratio", "rotate_counterclockwise", "rotate_clockwise", "rotate_counterclockwise + invert_aspect_ratio". Default: "passthrough". */
  video_aspect_ratio?: 'passthrough' | 'force_4:3' | 'force_16:9' | 'invert_aspect_ratio' | 'rotate_counterclockwise' | 'rotate_clockwise' | 'rotate_counterclockwise + invert_aspect_ratio' | null | undefined
  /** How the video is fitted, flipped or rotated. Must be one of "none", "letterbox", "crop", "stretch", "hflip", "vflip", "rotate180". Default: "none". */
  picture_transform?: 'none' | 'letterbox' | 'crop' | 'stretch' | 'hflip' | 'vflip' | 'rotate180' | null | undefined
  /** Brightness, in percent, of the bars around a rotated frame. Must be a number from 0 to 100. */
  rotation_blackness?: number | string | null | undefined
  /** true = all outputs are deinterlaced. Must be true or false. Default: false. */
  force_progressive?: boolean | null | undefined
  /** true = inverse telecine if 3:2 pulldown is detected. Must be true or false. */
  auto_detelecine_flag?: boolean | null | undefined
  /** Address of an image (PNG, JPEG or WebP) that is drawn over the video. Must be an http or https address of at most 4096 characters, or null. */
  logo_url?: string | null | undefined
  /** Corner of the logo; absent = top_right. Must be one of "top_left", "top_right", "bottom_left", "bottom_right". */
  logo_position?: 'top_left' | 'top_right' | 'bottom_left' | 'bottom_right' | null | undefined
  /** Opacity of the logo in percent; absent = 100. Must be a number from 0 to 100. */
  logo_opacity?: number | string | null | undefined
  /** Volume in percent of the source. Must be a number from 0 to 200. */
  audio_volume?: number | string | null | undefined
  /** Target loudness of the whole programme (EBU R 128), with true peaks below −1 dBTP. Cannot be combined with audio_volume. Must be a number from -40 to -5 (LUFS). */
  loudness_lufs?: number | string | null | undefined
  /** Keep closed captions, and also write them as WebVTT in segmented output. Must be true or false. */
  closed_captions?: boolean | null | undefined
  /** true = SCTE-35 cues of the source are kept in the outputs. The spelling scte35_passthrough is accepted too. Must be true or false. Default: false. */
  scte35_passthough?: boolean | null | undefined
  /** PID of the SCTE-35 cues; -1 = as in the source. Must be a whole number from 32 to 8190, or -1. */
  scte35_pid_remap?: number | string | null | undefined
  /** Program of a transport stream; absent = the first with video. source_stream counts within it. Must be a whole number from 1 to 65535. */
  program_number?: number | string | null | undefined
  /** Number of errors in the source (damaged packets, concealed frames, filled audio gaps) up to which the job succeeds, with warnings. With more, it ends early with too_many_source_errors. Absent = no limit. Must be a whole number from 0 to 1000000. */
  max_source_errors?: number | string | null | undefined
  /** Number of audio streams expected in a transport stream. Must be a whole number from 0 to 100. */
  ts_mode_input_audio_source_stream_count?: number | string | null | undefined
  /** Signalling of ts files: dvb (AC-3 descriptors, teletext and DVB subtitles of the source kept) or atsc (PSIP); absent = AC-3 as in ATSC, and an SDT. Must be one of "dvb", "atsc". */
  ts_profile?: 'dvb' | 'atsc' | null | undefined
  /** Name of the service in ts files; absent = the name of the source. Must be a string of at most 40 characters without control characters. */
  service_name?: string | null | undefined
  /** Provider of the service in ts files; absent = Splicepoint. Must be a string of at most 40 characters without control characters. */
  service_provider?: string | null | undefined
  /** service_id (program_number) of ts files; absent = 1. Must be a whole number from 1 to 65535. */
  service_id?: number | string | null | undefined
  /** transport_stream_id of ts files; absent = 1. Must be a whole number from 0 to 65535. */
  transport_stream_id?: number | string | null | undefined
  /** PID of the PMT of ts files; absent = 4096. Must be a whole number from 32 to 8186. */
  pmt_pid?: number | string | null | undefined
  /** PID of the video of ts files; absent = 256. Must be a whole number from 32 to 8186. */
  video_pid?: number | string | null | undefined
  /** PID of the first audio track of ts files; further tracks, teletext and subtitles count up from it. Absent = video_pid + 1. Must be a whole number from 32 to 8186. */
  audio_pid?: number | string | null | undefined
  /** Address that receives a webhook when the job ends (docs/webhooks.md). Must be an http or https address of at most 4096 characters, or null. */
  webhook_url?: string | null | undefined
  /** Directory of the outputs. Must be a string of at most 1024 characters. */
  bucket_output_path?: string | null | undefined
  /** Alias of master_variant_mode; the stored config shows this name. Must be true or false. */
  separate_audio?: boolean | null | undefined
  /** Alias of scte35_passthough; stored under that name. Must be true or false. */
  scte35_passthrough?: boolean | null | undefined
  /** Your own names and values. They are stored with the job, returned in lists and webhooks, and searchable. Must be an object of at most 20 strings of at most 500 characters. */
  metadata?: Record<string, string> | null | undefined
  /** 1 to 100 sources that are joined in this order, instead of input (docs/inputs.md). */
  inputs?: Input[] | null | undefined
  /** At most 16 renditions. Left out with ladder "auto", and for a job without video, which then makes something else: an element of audioProfiles with source_stream. */
  videoProfiles?: VideoProfile[] | null | undefined
  /** Empty for outputs without audio. Required with video, unless a preset has them. */
  audioProfiles?: AudioProfile[] | null | undefined
  /** Caption files beside the source; they become text tracks of HLS, DASH and mp4. */
  captions?: Caption[] | null | undefined
  /** Captions that are drawn into the video of every output: one of the two members. */
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
  /** Bucket and object key with a cloud provider, otherwise an address. Must be a string of 1 to 4096 characters. */
  input: number | string
  /** Where this piece begins, counted from its source’s first frame. Absent = at its beginning. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  start_seconds?: number | string | null | undefined
  /** Where this piece ends; this frame is no longer in it. Absent = at its source’s end. Must be seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12". */
  end_seconds?: number | string | null | undefined
  /** Audio streams of this source for the source_stream of audio profiles, where the numbers differ: {"1": "3"} = stream 3 where a profile has 1, null = silence. Absent = the same numbers. Must be an object of streams from 1 to 8, like {"1": "3", "2": null}. */
  source_streams?: Record<string, number | string | null> | null | undefined
}

export interface VideoProfile {
  /** Path of the output including its file name; empty or absent = derived from the source. Must be a string of at most 1024 characters. */
  output?: string | null | undefined
  /** Width of the output in pixels; 0 = derived from height or source. Required, unless the video is copied. Must be a whole number from 16 to 7680, or 0. */
  width?: number | string | null | undefined
  /** Height of the output in pixels; 0 = derived from width or source. Required, unless the video is copied. Must be a whole number from 16 to 4320, or 0. */
  height?: number | string | null | undefined
  /** Constant (cbr) or variable (vbr) bitrate, or constant quality; absent = vbr. Must be one of "cbr", "vbr", "qvbr". */
  video_bitrate_mode?: 'cbr' | 'vbr' | 'qvbr' | null | undefined
  /** Bitrate in kbps. The minimum depends on codec and resolution. Required, unless the video is copied. Must be a number of kbps, at least 100. */
  video_bitrate?: number | string | null | undefined
  /** Factor by which the frame rate of the source is multiplied. Must be one of "1x", "1/2x", "2x". Default: "1x". */
  video_framerate?: '1x' | '1/2x' | '2x' | null | undefined
  /** Positions in audioProfiles that this output carries, comma-separated; absent or empty = all; none = no audio (an extension). Must be a position in audioProfiles from 0 to 7, several separated by commas, like "0,1", or "none". */
  audio_profiles?: number | string | null | undefined
  /** Scan type of this output. Must be one of "progressive". */
  video_format?: 'progressive' | null | undefined
  /** copy = the source’s video as it is; width, height and video_bitrate are then not needed. Absent = encoded in the job’s video_codec. Must be one of "copy". */
  video_codec?: 'copy' | null | undefined
}

export interface AudioProfile {
  /** Audio codec. mp3 and pcm are for files of audio alone (docs/audio.md); copy = the source’s stream as it is (docs/copy.md). Must be one of "aac", "ac3", "mp2", "mp3", "opus", "flac", "eac3", "pcm", "copy". Default: "aac". */
  audio_codec?: 'aac' | 'ac3' | 'mp2' | 'mp3' | 'opus' | 'flac' | 'eac3' | 'pcm' | 'copy' | null | undefined
  /** 2 = stereo, 6 = 5.1. Must be one of "2", "6". */
  audio_channels?: '2' | '6' | number | null | undefined
  /** Bitrate in kbps, by codec and channels. Not used by flac and pcm, which keep every sample. Must be one of "32", "40", "64", "96", "128", "192", "256", "320", "384", "448", "768". */
  audio_bitrate?: '32' | '40' | '64' | '96' | '128' | '192' | '256' | '320' | '384' | '448' | '768' | number | null | undefined
  /** Downmix from 5.1 to stereo, even when audio_channels is 6. Must be true or false. */
  primary_audio_downmix_to_stereo?: boolean | null | undefined
  /** Number of the audio stream of the source, from 1. Without it, no audio is produced. Must be the index of a source stream from 1 to 8. */
  source_stream?: '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | number | null | undefined
  /** The channels of the source that make this audio, in the order left, right, centre, LFE, left surround, right surround: "3,4" = of source_stream, "1:1,2:1" = channel 1 of streams 1 and 2; one channel goes to both sides (docs/audio.md). Absent = all channels of source_stream. Must be 1, 2 or 6 channels of the source from 1 to 64, separated by commas, like "3,4", each with or without a stream from 1 to 32 before it, like "1:1,2:1". */
  source_channels?: number | string | null | undefined
  /** What this audio is for, as players and receivers are told: main, audio_description (for the visually impaired), hearing_impaired, clean_effects (without speech), commentary or dub (docs/audio.md). Absent = as the source says. Must be one of "main", "audio_description", "hearing_impaired", "clean_effects", "commentary", "dub". */
  purpose?: 'main' | 'audio_description' | 'hearing_impaired' | 'clean_effects' | 'commentary' | 'dub' | null | undefined
  /** Dialogue level (dialnorm) of ac3 and eac3; 0 = as in the source. Must be a whole number from 0 to 31. */
  dolby_digital_dialnorm?: number | string | null | undefined
  /** How more than two channels become stereo (ITU-R BS.775): lo_ro = plain stereo, lt_rt = for matrix surround decoders. Absent = lo_ro. Must be one of "lo_ro", "lt_rt". */
  downmix?: 'lo_ro' | 'lt_rt' | null | undefined
  /** true = the LFE channel is part of a stereo downmix; absent = it is left out. Must be true or false. */
  downmix_lfe?: boolean | null | undefined
  /** true = leave this profile out, with a warning, when the source lacks its source_stream; otherwise the job fails. Must be true or false. */
  optional?: boolean | null | undefined
  /** Container of the file that this audio has for itself (without video, or with audio_output_path): opus in ogg or webm; every other codec has one. Absent = the first that the codec has. Must be one of "m4a", "ac3", "mp2", "mp3", "ogg", "webm", "flac", "eac3", "wav". */
  audio_container?: 'm4a' | 'ac3' | 'mp2' | 'mp3' | 'ogg' | 'webm' | 'flac' | 'eac3' | 'wav' | null | undefined
  /** Sample rate in Hz; absent = 48000. Others are for files of a job without video (docs/audio.md). Must be one of "44100", "48000", "96000". */
  audio_sample_rate?: '44100' | '48000' | '96000' | number | null | undefined
  /** Bits of a sample of flac and pcm; absent = 16. Must be one of "16", "24". */
  audio_bit_depth?: '16' | '24' | number | null | undefined
}

export interface Caption {
  /** The caption file: an http or https address, an upload, an output of an earlier job, or an address of the provider of input, read with the same credentials. Must be a string of 1 to 4096 characters. */
  input: number | string
  /** Language of the text, for players. Must be a language of ISO 639, optionally with script, region and variants (BCP 47), like "de", "pt-BR" or "zh-Hant". */
  language: string
  /** Name that players show; empty or absent = the name of the language. Must be a string of at most 100 characters without control characters. */
  label?: string | null | undefined
  /** Format of the file; absent = found out from its content. Must be one of "srt", "webvtt", "ttml", "scc", "stl". */
  format?: 'srt' | 'webvtt' | 'ttml' | 'scc' | 'stl' | null | undefined
  /** Seconds added to the times in the file, which replace the programme start of scc, stl and ttml files (docs/captions.md); absent = 0. Must be a number from -100000 to 100000 (seconds). */
  offset_seconds?: number | string | null | undefined
  /** true = players show this track unless the viewer chooses another one. Must be true or false. */
  default?: boolean | null | undefined
  /** true = only what viewers need even without subtitles, such as foreign speech. Must be true or false. */
  forced?: boolean | null | undefined
  /** true = also describes music and noises (SDH). Must be true or false. */
  hearing_impaired?: boolean | null | undefined
  /** Also write these captions into the frames of the encoded video, in place of those of the source (docs/captions.md). Must be one of "cea-608". */
  embed?: 'cea-608' | null | undefined
  /** Channel of the embedded captions; absent = the first free one of CC1, CC3, CC2, CC4. Must be one of "CC1", "CC2", "CC3", "CC4". */
  embed_channel?: 'CC1' | 'CC2' | 'CC3' | 'CC4' | null | undefined
}

export interface BurnInCaptions {
  /** Position in captions of the file whose text is drawn, from 0. Must be a whole number from 0 to 31. */
  captions?: number | string | null | undefined
  /** Number of the subtitle stream of the source that is drawn, from 1. Must be a whole number from 1 to 32. */
  source_track?: number | string | null | undefined
}

export interface Stills {
  /** A time of the outputs, or several: one image each, of the frame that is shown at that time. Must be seconds, or a time like "00:01:30.480" or "00:01:30:12", or a list of 1 to 1000 of them. */
  at_seconds?: number | string | (number | string)[] | null | undefined
  /** One image at the beginning, and one after each interval. Must be a number from 0.1 to 86400 (seconds). */
  every_seconds?: number | string | null | undefined
  /** That many images, each from the middle of one of as many equal parts. Must be a whole number from 1 to 1000. */
  count?: number | string | null | undefined
  /** Width in square pixels; absent = in proportion to height, or the source’s. With both, the image fits inside. Must be a whole number from 16 to 7680 (pixels). */
  width?: number | string | null | undefined
  /** Height in square pixels; absent = in proportion to width, or the source’s. Must be a whole number from 16 to 4320 (pixels). */
  height?: number | string | null | undefined
  /** Image format. avif needs an ffmpeg with libaom. Must be one of "jpeg", "webp", "avif". Default: "jpeg". */
  format?: 'jpeg' | 'webp' | 'avif' | null | undefined
  /** Compression: 1 = smallest, 100 = best. Must be a whole number from 1 to 100. */
  quality?: number | string | null | undefined
  /** Path below bucket_output_path. Where the element can make several images, a number is inserted before the extension: cover.jpg becomes cover_0001.jpg. Absent = derived from the source. Must be a string of at most 1024 characters. */
  output?: string | null | undefined
}

export interface AnimatedPreview {
  /** File format, without audio. gif and webp loop by themselves; mp4 loops if its player is told to. Must be one of "mp4", "gif", "webp". Default: "mp4". */
  format?: 'mp4' | 'gif' | 'webp' | null | undefined
  /** Length of the preview. Must be a number from 0.5 to 30 (seconds). */
  seconds?: number | string | null | undefined
  /** Number of excerpts of equal length, spread over the video. Must be a whole number from 1 to 20. */
  parts?: number | string | null | undefined
  /** Time of the outputs from which the parts are spread; with parts 1, where the excerpt begins. Absent = 0. Must be seconds, or a time like "00:01:30.480" or "00:01:30:12". */
  start_seconds?: number | string | null | undefined
  /** Width in square pixels; the height is in proportion. Must be a whole number from 16 to 1280 (pixels). */
  width?: number | string | null | undefined
  /** Frame rate; never above the source’s. Must be a number from 1 to 30. */
  frames_per_second?: number | string | null | undefined
}

export interface Waveform {
  /** json and dat are the data formats of audiowaveform, version 2, which peaks.js reads; png is an image. Must be one of "json", "dat", "png". Default: "json". */
  format?: 'json' | 'dat' | 'png' | null | undefined
  /** Number of the audio stream of the source, from 1. Must be a whole number from 1 to 8. */
  source_stream?: number | string | null | undefined
  /** Audio samples of each pair of peaks; absent = 256, or by pixels_per_second. Must be a whole number from 16 to 1000000. */
  samples_per_pixel?: number | string | null | undefined
  /** Pairs of peaks for each second, instead of samples_per_pixel. Must be a whole number from 1 to 3000. */
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
  /** Account access key. Must be a string of at most 1024 characters, or null. */
  access_key?: string | null | undefined
  /** Account secret key. Must be a string of at most 16384 characters, or null. */
  secret_key?: string | null | undefined
  /** Region of the target bucket. Must be a string on one line of at most 1024 characters, or null. */
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
