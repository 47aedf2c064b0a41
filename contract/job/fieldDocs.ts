// In charge of: the meaning of each field of a request, in a sentence: for the reference, the OpenAPI document and the
// dashboard.
// Not in charge of: names, types, defaults and ranges (requestSchema.ts). They are separate so that the Worker, which
// only validates, does not carry these texts.
import * as z from 'zod/mini'
import {
  animatedPreviewSchema,
  audioProfileSchema,
  burnInSchema,
  captionSchema,
  credentialSchema,
  fieldMeta,
  inputSchema,
  jobFieldsSchema,
  outputCredential,
  stillsSchema,
  videoProfileSchema,
  waveformSchema,
  type AnimatedPreviewFields,
  type AudioProfileFields,
  type BurnInFields,
  type CaptionFields,
  type CredentialFields,
  type FieldMeta,
  type InputFields,
  type JobFields,
  type StillsFields,
  type VideoProfileFields,
  type WaveformFields,
} from './requestSchema.ts'

export type FieldDoc = FieldMeta & { description: string }

/** By the schema of a field: what `fieldMeta` says, and its description. */
export const fieldDocs: z.core.$ZodRegistry<FieldDoc> = z.registry<FieldDoc>()

function describe(fields: Record<string, z.core.$ZodType>, descriptions: Record<string, string>): void {
  for (const [name, description] of Object.entries(descriptions)) {
    const schema = fields[name]!
    fieldDocs.add(schema, { ...fieldMeta.get(schema)!, description })
  }
}

const job: Record<keyof JobFields, string> = {
  input: 'Bucket and object key with a cloud provider, otherwise an address. Required, unless inputs is given.',
  output_container: 'Container of the outputs, or kind of segmented output.',
  ts_mode_input_audio_source_stream_count: 'Number of audio streams expected in a transport stream.',
  audio_output_path:
    'Directory, in any bucket of the output provider, where each audio profile is also stored as a separate file, {input name}_audio_{index} with the extension of its audio_container. A job without video stores them in bucket_output_path unless this is given (docs/audio.md).',
  bucket_output_path: 'Directory of the outputs.',
  master_variant_mode: 'true = separate audio tracks in segmented output; false = audio in the video segments.',
  separate_audio: 'Alias of master_variant_mode; the stored config shows this name.',
  segmented_output_hls: 'true = segmented output has HLS playlists.',
  segmented_output_dash: 'true = segmented output has a DASH manifest.',
  segment_length: 'Segment length, in seconds, rounded to whole GOPs (docs/segmented.md); absent = 6.',
  video_codec: 'Video codec; copy = the source’s video as it is, in all profiles (docs/copy.md).',
  copy_if_possible:
    'true = a stream that cannot be copied is encoded, with a warning; false or absent = the job fails.',
  ip_distance: 'Distance between I and P frames: the number of B-frames between them, plus one.',
  gop_length: 'Length of a GOP, in seconds.',
  scte35_passthough:
    'true = SCTE-35 cues of the source are kept in the outputs. The spelling scte35_passthrough is accepted too.',
  scte35_passthrough: 'Alias of scte35_passthough; stored under that name.',
  scte35_pid_remap: 'PID of the SCTE-35 cues; -1 = as in the source.',
  ts_profile:
    'Signalling of ts files: dvb (AC-3 descriptors, teletext and DVB subtitles of the source kept) or atsc (PSIP); absent = AC-3 as in ATSC, and an SDT.',
  service_name: 'Name of the service in ts files; absent = the name of the source.',
  service_provider: 'Provider of the service in ts files; absent = Splicepoint.',
  service_id: 'service_id (program_number) of ts files; absent = 1.',
  transport_stream_id: 'transport_stream_id of ts files; absent = 1.',
  pmt_pid: 'PID of the PMT of ts files; absent = 4096.',
  video_pid: 'PID of the video of ts files; absent = 256.',
  audio_pid:
    'PID of the first audio track of ts files; further tracks, teletext and subtitles count up from it. Absent = video_pid + 1.',
  create_tar_file: 'Also store the segmented output as one tar archive.',
  audio_volume: 'Volume in percent of the source.',
  h264_quality:
    'Encoding speed or quality of h.264 and hevc: good is the fastest, best the slowest. No effect with mpeg2.',
  video_aspect_ratio: 'Display aspect and rotation.',
  rotation_blackness: 'Brightness, in percent, of the bars around a rotated frame.',
  closed_captions: 'Keep closed captions, and also write them as WebVTT in segmented output.',
  force_progressive: 'true = all outputs are deinterlaced.',
  keep_fps: 'true = the frame rate of the source is kept; false = the nearest standard frame rate is used.',
  logo_url: 'Address of an image (PNG, JPEG or WebP) that is drawn over the video.',
  auto_detelecine_flag: 'true = inverse telecine if 3:2 pulldown is detected.',
  picture_transform: 'How the video is fitted, flipped or rotated.',
  loudness_lufs:
    'Target loudness of the whole programme (EBU R 128), with true peaks below −1 dBTP. Cannot be combined with audio_volume.',
  dynamic_range:
    'Dynamic range of outputs of an HDR source: sdr = tone-mapped, source = HDR is kept (hevc only). Absent = source for hevc, sdr otherwise.',
  program_number: 'Program of a transport stream; absent = the first with video. source_stream counts within it.',
  max_source_errors:
    'Number of errors in the source (damaged packets, concealed frames, filled audio gaps) up to which the job succeeds, with warnings. With more, it ends early with too_many_source_errors. Absent = no limit.',
  max_chunk_seconds:
    'The job is divided into chunks of at most this length of its outputs, which several transcoders encode at once (docs/divided-jobs.md). 0 = one task; absent = jobs that would take long are divided, by their predicted time.',
  deadline_seconds:
    'The job is wanted within so many seconds of its creation: it is divided if one transcoder would take longer, and comes first among the jobs of its account once half of the time is over. A wish: a job that ends later does not fail for it (docs/divided-jobs.md).',
  webhook_url: 'Address that receives a webhook when the job ends (docs/webhooks.md).',
  thumbnails: 'true = segmented output has thumbnails for the seek bar, and a poster.',
  preview: 'true = a still image of the source is available as status.poster; absent = true.',
  logo_position: 'Corner of the logo; absent = top_right.',
  logo_opacity: 'Opacity of the logo in percent; absent = 100.',
  cache_control:
    'Cache-Control of every object of the job, instead of the default for its kind (docs/stores.md, Caching).',
  start_seconds:
    'Where the outputs begin, counted from the source’s first frame: exact to the frame and the audio sample (docs/cuts.md). Absent = at its beginning.',
  end_seconds: 'Where the outputs end; this frame is no longer in them. Absent = at the source’s end.',
  program_start_time: 'Time of the first frame: the first EXT-X-PROGRAM-DATE-TIME of HLS playlists.',
  allow_upscaling:
    'Video profiles larger than the source: false = leave them out (if all are larger, the smallest is made at the source’s size), true = make them, absent = make them with a warning.',
  ladder:
    'auto = sizes and bitrates are chosen from the source’s size and frame rate; videoProfiles is left out, and gop_length is 2 unless given.',
  preset: 'Id or name of a preset. Its members apply to the job unless the body has them too (docs/api.md).',
  metadata: 'Your own names and values. They are stored with the job, returned in lists and webhooks, and searchable.',
}

const input: Record<keyof InputFields, string> = {
  input: 'Bucket and object key with a cloud provider, otherwise an address.',
  start_seconds: 'Where this piece begins, counted from its source’s first frame. Absent = at its beginning.',
  end_seconds: 'Where this piece ends; this frame is no longer in it. Absent = at its source’s end.',
  source_streams:
    'Audio streams of this source for the source_stream of audio profiles, where the numbers differ: {"1": "3"} = stream 3 where a profile has 1, null = silence. Absent = the same numbers.',
}

const videoProfile: Record<keyof VideoProfileFields, string> = {
  output: 'Path of the output including its file name; empty or absent = derived from the source.',
  width: 'Width of the output in pixels; 0 = derived from height or source. Required, unless the video is copied.',
  height: 'Height of the output in pixels; 0 = derived from width or source. Required, unless the video is copied.',
  video_bitrate_mode: 'Constant (cbr) or variable (vbr) bitrate, or constant quality; absent = vbr.',
  video_bitrate: 'Bitrate in kbps. The minimum depends on codec and resolution. Required, unless the video is copied.',
  video_framerate: 'Factor by which the frame rate of the source is multiplied.',
  audio_profiles:
    'Positions in audioProfiles that this output carries, comma-separated; absent or empty = all; none = no audio (an extension).',
  video_format: 'Scan type of this output.',
  video_codec:
    'copy = the source’s video as it is; width, height and video_bitrate are then not needed. Absent = encoded in the job’s video_codec.',
}

const audioProfile: Record<keyof AudioProfileFields, string> = {
  audio_codec:
    'Audio codec. mp3 and pcm are for files of audio alone (docs/audio.md); copy = the source’s stream as it is (docs/copy.md).',
  audio_channels: '2 = stereo, 6 = 5.1.',
  audio_bitrate: 'Bitrate in kbps, by codec and channels. Not used by flac and pcm, which keep every sample.',
  primary_audio_downmix_to_stereo: 'Downmix from 5.1 to stereo, even when audio_channels is 6.',
  source_stream: 'Number of the audio stream of the source, from 1. Without it, no audio is produced.',
  source_channels:
    'The channels of the source that make this audio, in the order left, right, centre, LFE, left surround, right surround: "3,4" = of source_stream, "1:1,2:1" = channel 1 of streams 1 and 2; one channel goes to both sides (docs/audio.md). Absent = all channels of source_stream.',
  purpose:
    'What this audio is for, as players and receivers are told: main, audio_description (for the visually impaired), hearing_impaired, clean_effects (without speech), commentary or dub (docs/audio.md). Absent = as the source says.',
  dolby_digital_dialnorm: 'Dialogue level (dialnorm) of ac3 and eac3; 0 = as in the source.',
  downmix:
    'How more than two channels become stereo (ITU-R BS.775): lo_ro = plain stereo, lt_rt = for matrix surround decoders. Absent = lo_ro.',
  downmix_lfe: 'true = the LFE channel is part of a stereo downmix; absent = it is left out.',
  optional:
    'true = leave this profile out, with a warning, when the source lacks its source_stream; otherwise the job fails.',
  audio_container:
    'Container of the file that this audio has for itself (without video, or with audio_output_path): opus in ogg or webm; every other codec has one. Absent = the first that the codec has.',
  audio_sample_rate: 'Sample rate in Hz; absent = 48000. Others are for files of a job without video (docs/audio.md).',
  audio_bit_depth: 'Bits of a sample of flac and pcm; absent = 16.',
}

const caption: Record<keyof CaptionFields, string> = {
  input:
    'The caption file: an http or https address, an upload, an output of an earlier job, or an address of the provider of input, read with the same credentials.',
  language: 'Language of the text, for players.',
  label: 'Name that players show; empty or absent = the name of the language.',
  format: 'Format of the file; absent = found out from its content.',
  offset_seconds:
    'Seconds added to the times in the file, which replace the programme start of scc, stl and ttml files (docs/captions.md); absent = 0.',
  default: 'true = players show this track unless the viewer chooses another one.',
  forced: 'true = only what viewers need even without subtitles, such as foreign speech.',
  hearing_impaired: 'true = also describes music and noises (SDH).',
  embed:
    'Also write these captions into the frames of the encoded video, in place of those of the source (docs/captions.md).',
  embed_channel: 'Channel of the embedded captions; absent = the first free one of CC1, CC3, CC2, CC4.',
}

const burnIn: Record<keyof BurnInFields, string> = {
  captions: 'Position in captions of the file whose text is drawn, from 0.',
  source_track: 'Number of the subtitle stream of the source that is drawn, from 1.',
}

const stills: Record<keyof StillsFields, string> = {
  at_seconds: 'A time of the outputs, or several: one image each, of the frame that is shown at that time.',
  every_seconds: 'One image at the beginning, and one after each interval.',
  count: 'That many images, each from the middle of one of as many equal parts.',
  width: 'Width in square pixels; absent = in proportion to height, or the source’s. With both, the image fits inside.',
  height: 'Height in square pixels; absent = in proportion to width, or the source’s.',
  format: 'Image format. avif needs an ffmpeg with libaom.',
  quality: 'Compression: 1 = smallest, 100 = best.',
  output:
    'Path below bucket_output_path. Where the element can make several images, a number is inserted before the extension: cover.jpg becomes cover_0001.jpg. Absent = derived from the source.',
}

const animatedPreview: Record<keyof AnimatedPreviewFields, string> = {
  format: 'File format, without audio. gif and webp loop by themselves; mp4 loops if its player is told to.',
  seconds: 'Length of the preview.',
  parts: 'Number of excerpts of equal length, spread over the video.',
  start_seconds:
    'Time of the outputs from which the parts are spread; with parts 1, where the excerpt begins. Absent = 0.',
  width: 'Width in square pixels; the height is in proportion.',
  frames_per_second: 'Frame rate; never above the source’s.',
}

const waveform: Record<keyof WaveformFields, string> = {
  format: 'json and dat are the data formats of audiowaveform, version 2, which peaks.js reads; png is an image.',
  source_stream: 'Number of the audio stream of the source, from 1.',
  samples_per_pixel: 'Audio samples of each pair of peaks; absent = 256, or by pixels_per_second.',
  pixels_per_second: 'Pairs of peaks for each second, instead of samples_per_pixel.',
  bits: 'Resolution of the peaks.',
  split_channels: 'true = each channel has its own peaks; false = their mean.',
  width: 'Width of the image; png only.',
  height: 'Height of the image; png only.',
  background_color: 'Colour behind the waveform; png only.',
  waveform_color: 'Colour of the waveform; png only.',
}

const credential: Record<keyof CredentialFields, string> = {
  cloud_provider: 'Kind of store; absent = oracle, with a warning.',
  access_key: 'Account access key.',
  secret_key: 'Account secret key.',
  region: 'Region of the target bucket.',
  tenancy_ocid: 'Oracle only: OCID of the tenancy.',
  user_ocid: 'Oracle only: OCID of the user.',
  oci_fingerprint: 'Oracle only: fingerprint of the API key of the user.',
  project_id: 'Google only: id of the project.',
  client_email: 'Google only: e-mail address of the service account.',
  client_id: 'Google only: id of the service account.',
  private_key_id: 'Google only: id of the private key.',
  private_key: 'Private key in PEM form.',
  session_token: 'Token of temporary credentials.',
  endpoint: 'Address of an S3-compatible store.',
}

describe(jobFieldsSchema.shape, job)
describe(inputSchema.shape, input)
describe(videoProfileSchema.shape, videoProfile)
describe(audioProfileSchema.shape, audioProfile)
describe(captionSchema.shape, caption)
describe(burnInSchema.shape, burnIn)
describe(stillsSchema.shape, stills)
describe(animatedPreviewSchema.shape, animatedPreview)
describe(waveformSchema.shape, waveform)
describe(credentialSchema.shape, credential)
describe(outputCredential.shape, { cloud_provider: credential.cloud_provider })
