// In charge of: the fields of a request (specification 2.1 to 2.3): name, type, default, range and meaning, in one
// schema.
// Not in charge of: rules between fields (rules/combinations.ts, rules/outputPaths.ts).
import * as z from 'zod/mini'
import { _default as withDefault } from 'zod/mini'
import { AUDIO_BITRATES } from './rules/audioBitrates.ts'
import { AUDIO_CODECS, WIRE_VIDEO_CODECS } from '../codecs.ts'
import { CONTAINERS } from '../containers.ts'
import * as limits from '../limits.ts'
import { PROVIDERS, type Provider } from './stores/registry.ts'

/** Text about a field for documentation and messages; `expects` completes "<field> must be …". */
export type FieldMeta = {
  description: string
  expects: string
  allowed?: readonly (string | number)[]
  minimum?: number
  maximum?: number
  /** A value that is allowed in addition to the range. */
  also?: number
  /** The minimum itself is not allowed. */
  above?: boolean
  /** The replacements of values outside the range, which get a warning (fieldReader.ts). */
  clamped?: ClampedRange
}

export interface ClampedRange {
  /** Replaces values that are too small. */
  low: number
  high: number
}

/** For the reference: `z.toJSONSchema(jobRequest, { metadata: fields })`. */
export const fieldMeta: z.core.$ZodRegistry<FieldMeta> = z.registry<FieldMeta>()

function field<S extends z.core.$ZodType>(schema: S, meta: FieldMeta): S {
  fieldMeta.add(schema, meta)
  return schema
}

export const NUMBER_AS_TEXT = /^-?\d{1,15}(\.\d{1,15})?$/
/** Decision "numbers and strings": every number may also be sent as a string. */
const numberFromText = z.transform((value: unknown) =>
  typeof value === 'string' && NUMBER_AS_TEXT.test(value) ? Number(value) : value,
)
const textFromNumber = z.transform((value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? String(value) : value,
)

interface Range {
  minimum: number
  maximum: number
  /** A value that is allowed in addition to the range. */
  also?: number
  whole?: boolean
  above?: boolean
  unit?: string
  /** Decision "fields without effect": values that a template may contain are clamped, not refused. */
  clamped?: ClampedRange
}

function numberInRange(range: Range) {
  const inside = (value: number) =>
    value === range.also ||
    ((range.above === true ? value > range.minimum : value >= range.minimum) && value <= range.maximum)
  const number = range.whole === true ? z.int() : z.number()
  return z.pipe(numberFromText, range.clamped === undefined ? number.check(z.refine(inside)) : number)
}

function rangeMeta(description: string, range: Range): FieldMeta {
  const kind = range.whole === true ? 'a whole number' : 'a number'
  const span =
    range.above === true
      ? `above ${range.minimum} and at most ${range.maximum}`
      : `from ${range.minimum} to ${range.maximum}`
  const also = range.also === undefined ? '' : `, or ${range.also}`
  const rest = range.clamped === undefined ? '' : '; others are clamped with a warning'
  const unit = range.unit === undefined ? '' : ` (${range.unit})`
  const { unit: _unit, whole: _whole, ...bounds } = range
  return { description, expects: `${kind} ${span}${also}${unit}${rest}`, ...bounds }
}

function oneOf(description: string, allowed: readonly string[]): FieldMeta {
  return { description, expects: `one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`, allowed }
}

const optionalNumber = (description: string, range: Range) =>
  field(z.optional(numberInRange(range)), rangeMeta(description, range))
const numberWithDefault = (description: string, range: Range, value: number) =>
  field(withDefault(numberInRange(range), value), rangeMeta(description, range))
const booleanWithDefault = (description: string, value: boolean) =>
  field(withDefault(z.boolean(), value), { description, expects: 'true or false', allowed: [] })
const optionalBoolean = (description: string) =>
  field(z.optional(z.boolean()), { description, expects: 'true or false', allowed: [] })
const enumWithDefault = <const V extends string>(description: string, values: readonly V[], value: NoInfer<V>) =>
  field(withDefault(z.enum(values), value), oneOf(description, values))
const optionalEnum = <const V extends string>(description: string, values: readonly V[]) =>
  field(z.optional(z.enum(values)), oneOf(description, values))
const optionalText = (description: string, maximum: number) =>
  field(z.optional(z.string().check(z.maxLength(maximum))), {
    description,
    expects: `a string of at most ${maximum} characters`,
  })
/** A name that receivers show: printable, and within the length of its descriptor. '' = not given. */
const optionalServiceName = (description: string) =>
  field(z.optional(z.string().check(z.maxLength(limits.SERVICE_NAME_CHARACTERS), z.regex(/^[^\p{C}]*$/u))), {
    description,
    expects: `a string of at most ${limits.SERVICE_NAME_CHARACTERS} characters without control characters`,
  })
// RFC 3339, limited to what Date.parse reads.
const TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?|24:00:00(\.0{1,3})?)(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
/** '', false and null = not given: templates may contain them. */
const optionalTime = (description: string) =>
  field(z.optional(z.union([z.string().check(z.regex(TIME)), z.literal(''), z.literal(false), z.null()])), {
    description,
    expects: 'a time with a time zone, like "2026-01-31T20:15:00Z"',
  })

/** 2.2, element of videoProfiles. */
export const videoProfileSchema = z.object({
  output: optionalText('Destination including file name; empty or absent = derived.', limits.MAX_LENGTH.path_bytes),
  width: field(numberInRange({ ...limits.WIDTH, also: 0, whole: true }), {
    ...rangeMeta('Output width in pixels; 0 = the source’s.', { ...limits.WIDTH, also: 0, whole: true }),
  }),
  height: field(numberInRange({ ...limits.HEIGHT, also: 0, whole: true }), {
    ...rangeMeta('Output height in pixels; 0 = the source’s.', { ...limits.HEIGHT, also: 0, whole: true }),
  }),
  video_bitrate_mode: optionalEnum('Constant or variable bitrate; absent = vbr.', ['cbr', 'vbr', 'qvbr']),
  // Section 8, video_bitrate: the real limits depend on size, codec and mode (rules/combinations.ts).
  video_bitrate: field(z.pipe(numberFromText, z.number().check(z.gte(0))), {
    description: 'kbps. Subject to a minimum.',
    expects: 'a number of kbps, at least 100',
    minimum: 100,
  }),
  video_framerate: enumWithDefault('Factor on the source’s frame rate.', ['1x', '1/2x', '2x'], '1x'),
  audio_profiles: field(
    z.optional(
      z.pipe(
        z.transform((value: unknown) =>
          typeof value === 'number'
            ? String(value)
            : typeof value === 'string'
              ? value.replaceAll(' ', '').toLowerCase()
              : value,
        ),
        z.string().check(z.regex(/^$|^none$|^[0-7](,[0-7]){0,31}$/)),
      ),
    ),
    {
      description:
        'Positions in audioProfiles that this output carries, comma-separated; absent or empty = all; none = no audio (an extension).',
      expects: 'a position in audioProfiles from 0 to 7, several separated by commas, like "0,1", or "none"',
      minimum: 0,
      maximum: 7,
    },
  ),
  video_format: optionalEnum('Scan of this output.', ['progressive']),
})

/** 2.2, element of audioProfiles. */
export const audioProfileSchema = z.object({
  audio_codec: enumWithDefault('Audio codec.', AUDIO_CODECS, 'aac'),
  audio_channels: field(
    withDefault(z.pipe(textFromNumber, z.enum(['2', '6'])), '2'),
    oneOf('2 = stereo, 6 = 5.1.', ['2', '6']),
  ),
  audio_bitrate: field(
    withDefault(z.pipe(textFromNumber, z.enum(AUDIO_BITRATES.map(String))), '256'),
    oneOf('kbps.', AUDIO_BITRATES.map(String)),
  ),
  primary_audio_downmix_to_stereo: optionalBoolean('Downmix from 5.1 to stereo, even when audio_channels is 6.'),
  source_stream: field(z.optional(z.pipe(textFromNumber, z.enum(['1', '2', '3', '4', '5', '6', '7', '8']))), {
    description: 'Index of the source’s audio stream, from 1. Required for audio to be produced.',
    expects: 'the index of a source stream from 1 to 8',
    ...limits.SOURCE_STREAM,
  }),
  dolby_digital_dialnorm: optionalNumber('Dialogue level of ac3; 0 = passthrough.', {
    ...limits.DIALNORM,
    whole: true,
  }),
  downmix: optionalEnum(
    'Stereo of more than two channels (ITU-R BS.775): lo_ro = plain stereo, lt_rt = for matrix surround decoders. Absent = lo_ro.',
    ['lo_ro', 'lt_rt'],
  ),
  downmix_lfe: optionalBoolean('true = the LFE channel is part of a stereo downmix; absent = it is left out.'),
  optional: optionalBoolean(
    'true = leave this profile out, with a warning, when the source lacks its source_stream; otherwise the job fails.',
  ),
})

export const OUTPUT_PROVIDERS = PROVIDERS.filter((provider) => provider !== 'file-upload')

/** Null is accepted wherever a sample could send it, and means the same as omitting the member. */
const credentialMember = (description: string, maximum: number = limits.MAX_LENGTH.credential) =>
  field(z.optional(z.nullable(z.string().check(z.maxLength(maximum)))), {
    description,
    expects: `a string of at most ${maximum} characters, or null`,
  })
/**
 * Members that are returned on a read. One line only, so that a PEM key in the wrong member is refused and never shown.
 */
const credentialIdentity = (description: string) =>
  field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.credential), z.regex(/^[^\p{Cc}]*$/u)))), {
    description,
    expects: `a string on one line of at most ${limits.MAX_LENGTH.credential} characters, or null`,
  })

const providerOf = (allowed: readonly Provider[]) =>
  field(withDefault(z.enum(PROVIDERS), 'oracle'), oneOf('Kind of store; absent = oracle, with a warning.', allowed))

/** 2.3, credential object. private_key, session_token and endpoint are extensions. */
export const credentialSchema = z.object({
  cloud_provider: providerOf(PROVIDERS),
  access_key: credentialMember('Account access key.'),
  secret_key: credentialMember('Account secret key.', limits.MAX_LENGTH.private_key),
  region: credentialIdentity('Region of the target bucket.'),
  tenancy_ocid: credentialIdentity('Oracle only.'),
  user_ocid: credentialIdentity('Oracle only.'),
  oci_fingerprint: credentialIdentity('Oracle only: the user’s fingerprint.'),
  project_id: credentialIdentity('Google only.'),
  client_email: credentialIdentity('Google only.'),
  client_id: credentialIdentity('Google only.'),
  private_key_id: credentialIdentity('Google only.'),
  private_key: credentialMember('A key in PEM form.', limits.MAX_LENGTH.private_key),
  session_token: credentialMember('Token of temporary credentials.', limits.MAX_LENGTH.private_key),
  endpoint: credentialMember('Address of an S3-compatible store.'),
})

/** The same, without providers that can only be read. credentials.ts refuses those with a separate message. */
export const outputCredential = z.extend(credentialSchema, { cloud_provider: providerOf(OUTPUT_PROVIDERS) })

// RFC 9111 §5.2: a list of directives, each a token with an optional value. '' = not given, as elsewhere.
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/.source
const quoted = /"[ !#-[\]-~]*"/.source
const directive = `${token}(?:=(?:${token}|${quoted}))?`
const CACHE_CONTROL = new RegExp(`^$|^${directive}(?: ?, ?${directive})*$`)

export const LADDERS = ['auto'] as const

export const TS_PROFILE_NAMES = ['dvb', 'atsc'] as const

export const PICTURE_TRANSFORMS = ['none', 'letterbox', 'crop', 'stretch', 'hflip', 'vflip', 'rotate180'] as const

export const LOGO_POSITIONS = ['top_left', 'top_right', 'bottom_left', 'bottom_right'] as const

/** 2.1 gop_length. Zero and less mean "not given": no template intends the smallest GOP, a single frame. */
const DEFAULT_GOP_SECONDS = 1

/** 2.1 without its nested objects. */
export const jobFieldsSchema = z.object({
  input: field(z.pipe(textFromNumber, z.string().check(z.minLength(1), z.maxLength(limits.MAX_LENGTH.address))), {
    description: 'Object key with its bucket when a cloud provider is used, otherwise an address.',
    expects: `a string of 1 to ${limits.MAX_LENGTH.address} characters`,
  }),
  output_container: enumWithDefault('Container, or kind of segmented output.', CONTAINERS, 'mp4'),
  ts_mode_input_audio_source_stream_count: optionalNumber('Number of audio streams expected in a transport stream.', {
    ...limits.TS_AUDIO_STREAMS,
    whole: true,
  }),
  audio_output_path: optionalText(
    'Directory, in any bucket of the output provider, where each audio profile is stored on its own too, as {input name}_audio_{index}.m4a, .ac3 or .mp2.',
    limits.MAX_LENGTH.path_bytes,
  ),
  bucket_output_path: optionalText('Directory of the outputs.', limits.MAX_LENGTH.path_bytes),
  master_variant_mode: booleanWithDefault('Separate audio in segmented output.', false),
  separate_audio: optionalBoolean('Alias of master_variant_mode; the stored config shows this name.'),
  segmented_output_hls: booleanWithDefault('HLS in segmented output.', false),
  segmented_output_dash: booleanWithDefault('DASH in segmented output.', false),
  segment_length: optionalNumber('Segment length, snapped to whole GOPs (docs/segmented.md); absent = 6.', {
    ...limits.SEGMENT_LENGTH,
    above: true,
    unit: 'seconds',
    clamped: { low: limits.DEFAULT_SEGMENT_SECONDS, high: limits.SEGMENT_LENGTH.maximum },
  }),
  video_codec: enumWithDefault('Video codec.', WIRE_VIDEO_CODECS, 'h.264'),
  ip_distance: optionalNumber('Distance between I/P frames.', {
    ...limits.IP_DISTANCE,
    whole: true,
    clamped: { low: limits.IP_DISTANCE.minimum, high: limits.IP_DISTANCE.maximum },
  }),
  gop_length: numberWithDefault(
    'GOP length.',
    {
      ...limits.GOP_LENGTH,
      above: true,
      unit: 'seconds',
      clamped: { low: DEFAULT_GOP_SECONDS, high: limits.GOP_LENGTH.maximum },
    },
    DEFAULT_GOP_SECONDS,
  ),
  scte35_passthough: booleanWithDefault('SCTE-35 passthrough; scte35_passthrough is accepted too.', false),
  scte35_passthrough: optionalBoolean('Alias of scte35_passthough; stored under that name.'),
  scte35_pid_remap: optionalNumber('PID of the cues; -1 = the source’s.', {
    ...limits.SCTE35_PID,
    also: -1,
    whole: true,
  }),
  ts_profile: optionalEnum(
    'Signalling of ts files: dvb (AC-3 descriptors, teletext and DVB subtitles of the source kept) or atsc (PSIP); absent = AC-3 as in ATSC, and an SDT.',
    TS_PROFILE_NAMES,
  ),
  service_name: optionalServiceName('Name of the service in ts files; absent = the name of the source.'),
  service_provider: optionalServiceName('Provider of the service in ts files; absent = Splicepoint.'),
  service_id: optionalNumber('service_id (program_number) of ts files; absent = 1.', {
    ...limits.SERVICE_ID,
    whole: true,
  }),
  transport_stream_id: optionalNumber('transport_stream_id of ts files; absent = 1.', {
    ...limits.TRANSPORT_STREAM_ID,
    whole: true,
  }),
  pmt_pid: optionalNumber('PID of the PMT of ts files; absent = 4096.', { ...limits.STREAM_PID, whole: true }),
  video_pid: optionalNumber('PID of the video of ts files; absent = 256.', { ...limits.STREAM_PID, whole: true }),
  audio_pid: optionalNumber(
    'PID of the first audio track of ts files; further tracks, teletext and subtitles count up from it. Absent = video_pid + 1.',
    { ...limits.STREAM_PID, whole: true },
  ),
  create_tar_file: optionalBoolean('Also store the segmented output as one tar archive.'),
  audio_volume: numberWithDefault('Volume in percent.', limits.AUDIO_VOLUME, 100),
  h264_quality: enumWithDefault(
    'Encoding speed or quality of h.264 and hevc: good is the fastest. No effect with mpeg2.',
    ['good', 'better', 'best'],
    'good',
  ),
  video_aspect_ratio: enumWithDefault(
    'Display aspect and rotation.',
    [
      'passthrough',
      'force_4:3',
      'force_16:9',
      'invert_aspect_ratio',
      'rotate_counterclockwise',
      'rotate_clockwise',
      'rotate_counterclockwise + invert_aspect_ratio',
    ],
    'passthrough',
  ),
  rotation_blackness: optionalNumber('Level in percent of the bars that a rotation leaves.', limits.ROTATION_BLACKNESS),
  closed_captions: optionalBoolean('Keep closed captions, and write them as WebVTT beside segmented output.'),
  force_progressive: booleanWithDefault('Deinterlace.', false),
  keep_fps: booleanWithDefault('Preserve the frame rate.', true),
  logo_url: field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.address)))), {
    description: 'Address of an image used as a watermark.',
    expects: `an http or https address of at most ${limits.MAX_LENGTH.address} characters, or null`,
  }),
  auto_detelecine_flag: optionalBoolean('Inverse telecine where 3:2 pulldown is measured.'),
  picture_transform: enumWithDefault('How the video is fitted, flipped or rotated.', PICTURE_TRANSFORMS, 'none'),
  loudness_lufs: optionalNumber(
    'Target loudness of the whole programme (EBU R 128), with true peaks below −1 dBTP. Cannot be combined with audio_volume.',
    { ...limits.LOUDNESS_LUFS, unit: 'LUFS' },
  ),
  dynamic_range: optionalEnum(
    'What an HDR source becomes: sdr = tone-mapped, source = HDR as it is (hevc only). Absent = source for hevc, sdr otherwise.',
    ['sdr', 'source'],
  ),
  program_number: optionalNumber(
    'Program of a transport stream; absent = the first with video. source_stream counts within it.',
    { ...limits.PROGRAM_NUMBER, whole: true },
  ),
  max_source_errors: optionalNumber(
    'Errors of the source (damaged packets, concealed frames, filled audio gaps) with which the job still succeeds, with warnings; one more ends it early with too_many_source_errors. Absent = any number.',
    { ...limits.SOURCE_ERRORS, whole: true },
  ),
  webhook_url: field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.address)))), {
    description: 'Address that receives a webhook when the job ends (docs/webhooks.md).',
    expects: `an http or https address of at most ${limits.MAX_LENGTH.address} characters, or null`,
  }),
  thumbnails: optionalBoolean('Thumbnails for the seek bar, and a poster.'),
  preview: optionalBoolean('A still picture of the source in status.poster; absent = true.'),
  logo_position: optionalEnum('Corner of the logo; absent = top_right.', LOGO_POSITIONS),
  logo_opacity: optionalNumber('Opacity of the logo in percent; absent = 100.', limits.LOGO_OPACITY),
  cache_control: field(
    z.optional(z.string().check(z.maxLength(limits.MAX_LENGTH.cache_control), z.regex(CACHE_CONTROL))),
    {
      description:
        'Cache-Control of every object of the job, in place of the usual one for its kind (docs/stores.md, Caching).',
      expects: `directives separated by commas, like "public, max-age=86400", of at most ${limits.MAX_LENGTH.cache_control} characters`,
    },
  ),
  program_start_time: optionalTime('First PROGRAM-DATE-TIME of segmented output.'),
  allow_upscaling: optionalBoolean(
    'Video profiles larger than the source: false = leave them out (if all are larger, the smallest is made at the source’s size), true = make them, absent = make them with a warning.',
  ),
  ladder: optionalEnum(
    'auto = sizes and bitrates are chosen from the source’s size and frame rate; videoProfiles is left out, and gop_length is 2 unless given.',
    LADDERS,
  ),
  preset: field(z.optional(z.string().check(z.minLength(1), z.maxLength(limits.PRESETS.name_characters))), {
    description: 'Id or name of a preset, whose members are the job’s where the body has none (docs/api.md).',
    expects: `a string of 1 to ${limits.PRESETS.name_characters} characters`,
  }),
  // metadata.ts reads it, member by member.
  metadata: field(z.optional(z.unknown()), {
    description: 'Names and values of your own: kept with the job, in lists and webhooks, and searched.',
    expects: `an object of at most ${limits.METADATA.members} strings of at most ${limits.METADATA.value_characters} characters`,
  }),
})

/**
 * The whole body of job creation, for documentation and types. validateJob.ts reads it field by field, to report all
 * problems.
 */
export const jobRequestSchema = z.extend(jobFieldsSchema, {
  /** Omitted with `ladder`; otherwise at least one. */
  videoProfiles: z.optional(z.array(videoProfileSchema).check(z.maxLength(limits.VIDEO_PROFILES.maximum))),
  audioProfiles: z.array(audioProfileSchema).check(z.maxLength(limits.AUDIO_PROFILES.maximum)),
  cloud_credentials: z.object({ input: credentialSchema, output: z.optional(outputCredential) }),
})

export type JobFields = z.infer<typeof jobFieldsSchema>
export type VideoProfileFields = z.infer<typeof videoProfileSchema>
export type AudioProfileFields = z.infer<typeof audioProfileSchema>
export type CredentialFields = z.infer<typeof credentialSchema>

/**
 * A request during validation: the readable part, so that the rules can check the rest of a body that contains errors.
 */
export interface JobDraft extends Partial<JobFields> {
  videoProfiles: Partial<VideoProfileFields>[]
  audioProfiles: Partial<AudioProfileFields>[]
  inputProviderOf: Provider | undefined
  outputProviderOf: Provider | undefined
}
