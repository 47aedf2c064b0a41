// In charge of: what the form knows of a field, taken from the schema that judges it (worker/contract/request.ts). Pure.
// Not in charge of: where a field stands (groups.ts).
import { acceptedValues } from '#contract/availability.ts'
import { audioProfile, credential, fields, jobFields, videoProfile } from '#contract/request.ts'

export interface FieldInfo {
  name: string
  label: string
  description: string
  kind: 'flag' | 'choice' | 'number' | 'text'
  /** What is offered: of the allowed values those that this version has. */
  values: readonly string[]
  minimum: number | undefined
  maximum: number | undefined
  /** What absence means, where the schema says it. */
  preset: unknown
}

/** Words that stand for more than their letters say. */
const LABELS: Readonly<Record<string, string>> = {
  output: 'Name',
  width: 'Width',
  height: 'Height',
  video_bitrate: 'Bitrate (kbps)',
  video_bitrate_mode: 'Bitrate mode',
  video_framerate: 'Frame rate',
  audio_profiles: 'Sound',
  video_format: 'Scan',
  audio_codec: 'Codec',
  audio_channels: 'Channels',
  audio_bitrate: 'Bitrate (kbps)',
  source_stream: 'Source stream',
  primary_audio_downmix_to_stereo: 'Downmix to stereo',
  dolby_digital_dialnorm: 'Dialnorm',
  output_container: 'Container',
  bucket_output_path: 'Directory of the outputs',
  audio_output_path: 'Directory of separate sound files',
  segmented_output_hls: 'HLS',
  segmented_output_dash: 'DASH',
  master_variant_mode: 'Separate sound',
  scte35_passthough: 'Pass SCTE-35 cues',
  scte35_pid_remap: 'PID of the cues',
  gop_length: 'GOP length (s)',
  segment_length: 'Segment length (s)',
  ip_distance: 'I/P distance',
  h264_quality: 'Speed and quality',
  keep_fps: 'Keep the frame rate',
  auto_detelecine_flag: 'Inverse telecine',
  loudness_lufs: 'Loudness (LUFS)',
  audio_volume: 'Volume (%)',
  logo_url: 'Logo address',
  create_tar_file: 'Tar of everything',
  ts_mode_input_audio_source_stream_count: 'Sound streams expected',
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** null = this version has no use for the field. */
function infoOf(prefix: string, name: string, schema: object): FieldInfo | null {
  const meta = fields.get(schema as never)
  if (!meta) return null
  const listed: readonly (string | number | boolean)[] = meta.allowed ?? []
  const flag = meta.allowed?.length === 0
  const accepted = acceptedValues(prefix + name, flag ? [true, false] : listed)
  if (accepted !== null && accepted.length === 0) return null
  if (flag && accepted?.includes(true) === false) return null
  const def = (schema as { _zod: { def: { type: string; defaultValue?: unknown } } })._zod.def
  return {
    name,
    label: labelOf(name),
    description: meta.description,
    kind: flag
      ? 'flag'
      : listed.length > 0
        ? 'choice'
        : /^(a (whole )?number|the index)/.test(meta.expects)
          ? 'number'
          : 'text',
    values: (accepted ?? listed).map(String),
    minimum: meta.minimum,
    maximum: meta.maximum,
    preset: def.type === 'default' ? def.defaultValue : undefined,
  }
}

function infosOf(prefix: string, shape: Record<string, object>): ReadonlyMap<string, FieldInfo> {
  const infos = Object.entries(shape).map(([name, schema]) => infoOf(prefix, name, schema))
  return new Map(infos.flatMap((info) => (info ? [[info.name, info]] : [])))
}

export const jobInfos = infosOf('', jobFields.shape)
export const videoInfos = infosOf('videoProfiles[].', videoProfile.shape)
export const audioInfos = infosOf('audioProfiles[].', audioProfile.shape)
export const credentialInfos = {
  input: infosOf('cloud_credentials.input.', credential.shape),
  output: infosOf('cloud_credentials.output.', credential.shape),
}
