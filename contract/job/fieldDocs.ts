// In charge of: the meaning of each field of a request, in a sentence: for the reference, the OpenAPI document and the
// dashboard.
// Not in charge of: names, types, defaults and ranges (requestSchema.ts). They are separate so that the Worker, which
// only validates, does not carry these texts.
import * as z from 'zod/mini'
import {
  audioProfileSchema,
  credentialSchema,
  fieldMeta,
  jobFieldsSchema,
  outputCredential,
  videoProfileSchema,
  type AudioProfileFields,
  type CredentialFields,
  type FieldMeta,
  type JobFields,
  type VideoProfileFields,
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
  input: 'Object key with its bucket when a cloud provider is used, otherwise an address.',
  output_container: 'Container, or kind of segmented output.',
  ts_mode_input_audio_source_stream_count: 'Number of audio streams expected in a transport stream.',
  audio_output_path:
    'Directory, in any bucket of the output provider, where each audio profile is stored on its own too, as {input name}_audio_{index}.m4a, .ac3 or .mp2.',
  bucket_output_path: 'Directory of the outputs.',
  master_variant_mode: 'Separate audio in segmented output.',
  separate_audio: 'Alias of master_variant_mode; the stored config shows this name.',
  segmented_output_hls: 'HLS in segmented output.',
  segmented_output_dash: 'DASH in segmented output.',
  segment_length: 'Segment length, snapped to whole GOPs (docs/segmented.md); absent = 6.',
  video_codec: 'Video codec.',
  ip_distance: 'Distance between I/P frames.',
  gop_length: 'GOP length.',
  scte35_passthough: 'SCTE-35 passthrough; scte35_passthrough is accepted too.',
  scte35_passthrough: 'Alias of scte35_passthough; stored under that name.',
  scte35_pid_remap: 'PID of the cues; -1 = the source’s.',
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
  audio_volume: 'Volume in percent.',
  h264_quality: 'Encoding speed or quality of h.264 and hevc: good is the fastest. No effect with mpeg2.',
  video_aspect_ratio: 'Display aspect and rotation.',
  rotation_blackness: 'Level in percent of the bars that a rotation leaves.',
  closed_captions: 'Keep closed captions, and write them as WebVTT beside segmented output.',
  force_progressive: 'Deinterlace.',
  keep_fps: 'Preserve the frame rate.',
  logo_url: 'Address of an image used as a watermark.',
  auto_detelecine_flag: 'Inverse telecine where 3:2 pulldown is measured.',
  picture_transform: 'How the video is fitted, flipped or rotated.',
  loudness_lufs:
    'Target loudness of the whole programme (EBU R 128), with true peaks below −1 dBTP. Cannot be combined with audio_volume.',
  dynamic_range:
    'What an HDR source becomes: sdr = tone-mapped, source = HDR as it is (hevc only). Absent = source for hevc, sdr otherwise.',
  program_number: 'Program of a transport stream; absent = the first with video. source_stream counts within it.',
  max_source_errors:
    'Errors of the source (damaged packets, concealed frames, filled audio gaps) with which the job still succeeds, with warnings; one more ends it early with too_many_source_errors. Absent = any number.',
  webhook_url: 'Address that receives a webhook when the job ends (docs/webhooks.md).',
  thumbnails: 'Thumbnails for the seek bar, and a poster.',
  preview: 'A still picture of the source in status.poster; absent = true.',
  logo_position: 'Corner of the logo; absent = top_right.',
  logo_opacity: 'Opacity of the logo in percent; absent = 100.',
  cache_control:
    'Cache-Control of every object of the job, in place of the usual one for its kind (docs/stores.md, Caching).',
  program_start_time: 'First PROGRAM-DATE-TIME of segmented output.',
  allow_upscaling:
    'Video profiles larger than the source: false = leave them out (if all are larger, the smallest is made at the source’s size), true = make them, absent = make them with a warning.',
  ladder:
    'auto = sizes and bitrates are chosen from the source’s size and frame rate; videoProfiles is left out, and gop_length is 2 unless given.',
  preset: 'Id or name of a preset, whose members are the job’s where the body has none (docs/api.md).',
  metadata: 'Names and values of your own: kept with the job, in lists and webhooks, and searched.',
}

const videoProfile: Record<keyof VideoProfileFields, string> = {
  output: 'Destination including file name; empty or absent = derived.',
  width: 'Output width in pixels; 0 = the source’s.',
  height: 'Output height in pixels; 0 = the source’s.',
  video_bitrate_mode: 'Constant or variable bitrate; absent = vbr.',
  video_bitrate: 'kbps. Subject to a minimum.',
  video_framerate: 'Factor on the source’s frame rate.',
  audio_profiles:
    'Positions in audioProfiles that this output carries, comma-separated; absent or empty = all; none = no audio (an extension).',
  video_format: 'Scan of this output.',
}

const audioProfile: Record<keyof AudioProfileFields, string> = {
  audio_codec: 'Audio codec.',
  audio_channels: '2 = stereo, 6 = 5.1.',
  audio_bitrate: 'kbps.',
  primary_audio_downmix_to_stereo: 'Downmix from 5.1 to stereo, even when audio_channels is 6.',
  source_stream: 'Index of the source’s audio stream, from 1. Required for audio to be produced.',
  dolby_digital_dialnorm: 'Dialogue level of ac3; 0 = passthrough.',
  downmix:
    'Stereo of more than two channels (ITU-R BS.775): lo_ro = plain stereo, lt_rt = for matrix surround decoders. Absent = lo_ro.',
  downmix_lfe: 'true = the LFE channel is part of a stereo downmix; absent = it is left out.',
  optional:
    'true = leave this profile out, with a warning, when the source lacks its source_stream; otherwise the job fails.',
}

const credential: Record<keyof CredentialFields, string> = {
  cloud_provider: 'Kind of store; absent = oracle, with a warning.',
  access_key: 'Account access key.',
  secret_key: 'Account secret key.',
  region: 'Region of the target bucket.',
  tenancy_ocid: 'Oracle only.',
  user_ocid: 'Oracle only.',
  oci_fingerprint: 'Oracle only: the user’s fingerprint.',
  project_id: 'Google only.',
  client_email: 'Google only.',
  client_id: 'Google only.',
  private_key_id: 'Google only.',
  private_key: 'A key in PEM form.',
  session_token: 'Token of temporary credentials.',
  endpoint: 'Address of an S3-compatible store.',
}

describe(jobFieldsSchema.shape, job)
describe(videoProfileSchema.shape, videoProfile)
describe(audioProfileSchema.shape, audioProfile)
describe(credentialSchema.shape, credential)
describe(outputCredential.shape, { cloud_provider: credential.cloud_provider })
