// In charge of: the fields of a request (specification 2.1 to 2.3): name, type, default and range, in one schema.
// Not in charge of: what they mean (fieldDocs.ts), rules between fields (rules/combinations.ts, rules/outputPaths.ts).
import * as z from 'zod/mini'
import { _default as withDefault } from 'zod/mini'
import { AUDIO_BITRATES } from './rules/audioBitrates.ts'
import { AUDIO_CODECS, AUDIO_CONTAINERS, WIRE_VIDEO_CODECS } from '../codecs.ts'
import { CAPTION_FORMATS, canonicalLanguage, CHANNELS_608, EMBEDDED_CAPTIONS, LANGUAGE_TAG } from '../captions.ts'
import { CONTAINERS } from '../containers.ts'
import * as limits from '../limits.ts'
import { CUT_TIME } from './cutTime.ts'
import { areSourceChannels, SOURCE_CHANNELS } from './sourceChannels.ts'
import { OUTPUT_PROVIDERS, PROVIDERS, type Provider } from './stores/registry.ts'

/** What messages say about a field; `expects` completes "<field> must be …". Its description: fieldDocs.ts. */
export type FieldMeta = {
  expects: string
  allowed?: readonly (string | number)[]
  minimum?: number
  maximum?: number
  /** A value that is allowed in addition to the range. */
  additionalValue?: number
  /** The minimum itself is not allowed. */
  exclusiveMinimum?: boolean
  /** The replacements of values outside the range, which get a warning (fieldReader.ts). */
  clampTo?: ClampedRange
}

export interface ClampedRange {
  /** Replaces values that are too small. */
  belowMinimum: number
  aboveMaximum: number
}

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
  additionalValue?: number
  integersOnly?: boolean
  exclusiveMinimum?: boolean
  unit?: string
  /** Decision "fields without effect": values that a template may contain are clamped, not refused. */
  clampTo?: ClampedRange
}

function numberInRange(range: Range) {
  const inside = (value: number) =>
    value === range.additionalValue ||
    ((range.exclusiveMinimum === true ? value > range.minimum : value >= range.minimum) && value <= range.maximum)
  const number = range.integersOnly === true ? z.int() : z.number()
  return z.pipe(numberFromText, range.clampTo === undefined ? number.check(z.refine(inside)) : number)
}

function rangeMeta(range: Range): FieldMeta {
  const kind = range.integersOnly === true ? 'a whole number' : 'a number'
  const span =
    range.exclusiveMinimum === true
      ? `above ${range.minimum} and at most ${range.maximum}`
      : `from ${range.minimum} to ${range.maximum}`
  const also = range.additionalValue === undefined ? '' : `, or ${range.additionalValue}`
  const rest = range.clampTo === undefined ? '' : '; others are clamped with a warning'
  const unit = range.unit === undefined ? '' : ` (${range.unit})`
  const { unit: _unit, integersOnly: _integersOnly, ...bounds } = range
  return { expects: `${kind} ${span}${also}${unit}${rest}`, ...bounds }
}

function oneOf(allowed: readonly string[]): FieldMeta {
  return { expects: `one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`, allowed }
}

const optionalNumber = (range: Range) => field(z.optional(numberInRange(range)), rangeMeta(range))
const numberWithDefault = (range: Range, value: number) =>
  field(withDefault(numberInRange(range), value), rangeMeta(range))
const booleanWithDefault = (value: boolean) =>
  field(withDefault(z.boolean(), value), { expects: 'true or false', allowed: [] })
const optionalBoolean = () => field(z.optional(z.boolean()), { expects: 'true or false', allowed: [] })
const enumWithDefault = <const V extends string>(values: readonly V[], value: NoInfer<V>) =>
  field(withDefault(z.enum(values), value), oneOf(values))
const optionalEnum = <const V extends string>(values: readonly V[]) => field(z.optional(z.enum(values)), oneOf(values))
/** One of several numbers, which may also be sent as text. */
const optionalChoice = <const V extends string>(values: readonly V[]) =>
  field(z.optional(z.pipe(textFromNumber, z.enum(values))), oneOf(values))
const optionalText = (maximum: number) =>
  field(z.optional(z.string().check(z.maxLength(maximum))), {
    expects: `a string of at most ${maximum} characters`,
  })
/** A name that receivers show: printable, and within the length of its descriptor. '' = not given. */
const optionalServiceName = () =>
  field(z.optional(z.string().check(z.maxLength(limits.SERVICE_NAME_CHARACTERS), z.regex(/^[^\p{C}]*$/u))), {
    expects: `a string of at most ${limits.SERVICE_NAME_CHARACTERS} characters without control characters`,
  })
// RFC 3339, limited to what Date.parse reads.
const TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?|24:00:00(\.0{1,3})?)(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
/** Seconds, or a timecode. */
const optionalCutTime = () =>
  field(z.optional(z.union([z.number().check(z.gte(0), z.lte(999_999)), z.string().check(z.regex(CUT_TIME))])), {
    expects: 'seconds from 0 to 999999, or a time like "00:01:30.480", "00:01:30:12" or (drop-frame) "00:01:30;12"',
  })
/** '', false and null = not given: templates may contain them. */
const optionalTime = () =>
  field(z.optional(z.union([z.string().check(z.regex(TIME)), z.literal(''), z.literal(false), z.null()])), {
    expects: 'a time with a time zone, like "2026-01-31T20:15:00Z"',
  })

/** 2.2, element of videoProfiles. */
export const videoProfileSchema = z.object({
  output: optionalText(limits.MAX_LENGTH.path_bytes),
  width: field(numberInRange({ ...limits.WIDTH, additionalValue: 0, integersOnly: true }), {
    ...rangeMeta({ ...limits.WIDTH, additionalValue: 0, integersOnly: true }),
  }),
  height: field(numberInRange({ ...limits.HEIGHT, additionalValue: 0, integersOnly: true }), {
    ...rangeMeta({ ...limits.HEIGHT, additionalValue: 0, integersOnly: true }),
  }),
  video_bitrate_mode: optionalEnum(['cbr', 'vbr', 'qvbr']),
  // Section 8, video_bitrate: the real limits depend on size, codec and mode (rules/combinations.ts).
  video_bitrate: field(z.pipe(numberFromText, z.number().check(z.gte(0))), {
    expects: 'a number of kbps, at least 100',
    minimum: 100,
  }),
  video_framerate: enumWithDefault(['1x', '1/2x', '2x'], '1x'),
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
      expects: 'a position in audioProfiles from 0 to 7, several separated by commas, like "0,1", or "none"',
      minimum: 0,
      maximum: 7,
    },
  ),
  video_format: optionalEnum(['progressive']),
  video_codec: optionalEnum(['copy']),
})

export const AUDIO_PURPOSES = [
  'main',
  'audio_description',
  'hearing_impaired',
  'clean_effects',
  'commentary',
  'dub',
] as const

const SOURCE_STREAMS = ['1', '2', '3', '4', '5', '6', '7', '8'] as const

/** 2.2, element of audioProfiles. */
export const audioProfileSchema = z.object({
  audio_codec: enumWithDefault([...AUDIO_CODECS, 'copy'], 'aac'),
  audio_channels: field(withDefault(z.pipe(textFromNumber, z.enum(['2', '6'])), '2'), oneOf(['2', '6'])),
  audio_bitrate: field(
    withDefault(z.pipe(textFromNumber, z.enum(AUDIO_BITRATES.map(String))), '256'),
    oneOf(AUDIO_BITRATES.map(String)),
  ),
  primary_audio_downmix_to_stereo: optionalBoolean(),
  source_stream: field(z.optional(z.pipe(textFromNumber, z.enum(SOURCE_STREAMS))), {
    expects: 'the index of a source stream from 1 to 8',
    ...limits.SOURCE_STREAM,
  }),
  source_channels: field(
    z.optional(
      z.pipe(
        z.transform((value: unknown) =>
          typeof value === 'number' ? String(value) : typeof value === 'string' ? value.replaceAll(' ', '') : value,
        ),
        z.string().check(z.regex(SOURCE_CHANNELS), z.refine(areSourceChannels)),
      ),
    ),
    {
      expects: `1, 2 or 6 channels of the source from 1 to ${limits.SOURCE_CHANNEL.maximum}, separated by commas, like "3,4", each with or without a stream from 1 to ${limits.SOURCE_CHANNEL_STREAM.maximum} before it, like "1:1,2:1"`,
    },
  ),
  purpose: optionalEnum(AUDIO_PURPOSES),
  dolby_digital_dialnorm: optionalNumber({
    ...limits.DIALNORM,
    integersOnly: true,
  }),
  downmix: optionalEnum(['lo_ro', 'lt_rt']),
  downmix_lfe: optionalBoolean(),
  optional: optionalBoolean(),
  audio_container: optionalEnum(AUDIO_CONTAINERS),
  audio_sample_rate: optionalChoice(['44100', '48000', '96000']),
  audio_bit_depth: optionalChoice(['16', '24']),
})

const inputAddress = z.pipe(textFromNumber, z.string().check(z.minLength(1), z.maxLength(limits.MAX_LENGTH.address)))

/** Element of inputs, an extension: one piece of a source that is joined from several. */
export const inputSchema = z.object({
  input: field(inputAddress, { expects: `a string of 1 to ${limits.MAX_LENGTH.address} characters` }),
  start_seconds: optionalCutTime(),
  end_seconds: optionalCutTime(),
  source_streams: field(
    z.optional(z.partialRecord(z.enum(SOURCE_STREAMS), z.nullable(z.pipe(textFromNumber, z.enum(SOURCE_STREAMS))))),
    { expects: 'an object of streams from 1 to 8, like {"1": "3", "2": null}' },
  ),
})

/** An element of captions: a caption file beside the source. */
export const captionSchema = z.object({
  input: field(z.pipe(textFromNumber, z.string().check(z.minLength(1), z.maxLength(limits.MAX_LENGTH.address))), {
    expects: `a string of 1 to ${limits.MAX_LENGTH.address} characters`,
  }),
  language: field(
    z.string().check(
      z.regex(LANGUAGE_TAG),
      z.refine((tag) => canonicalLanguage(tag) !== null),
    ),
    {
      expects:
        'a language of ISO 639, optionally with script, region and variants (BCP 47), like "de", "pt-BR" or "zh-Hant"',
    },
  ),
  label: field(
    z.optional(
      z
        .string()
        .check(z.maxLength(limits.CAPTION_LABEL_CHARACTERS), z.regex(/^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}]*$/u)),
    ),
    {
      expects: `a string of at most ${limits.CAPTION_LABEL_CHARACTERS} characters without control characters`,
    },
  ),
  format: optionalEnum(CAPTION_FORMATS),
  offset_seconds: optionalNumber({ ...limits.CAPTION_OFFSET, unit: 'seconds' }),
  default: optionalBoolean(),
  forced: optionalBoolean(),
  hearing_impaired: optionalBoolean(),
  embed: optionalEnum(EMBEDDED_CAPTIONS),
  embed_channel: optionalEnum(CHANNELS_608),
})

/** The captions that are drawn into the video: one of the two members. */
export const burnInSchema = z.object({
  captions: optionalNumber({ ...limits.BURNED_IN_CAPTION, integersOnly: true }),
  source_track: optionalNumber({ ...limits.SOURCE_TRACK, integersOnly: true }),
})

/** A place in the outputs: as in start_seconds. */
const timeInOutput = z.union([z.number().check(z.gte(0), z.lte(999_999)), z.string().check(z.regex(CUT_TIME))])
const TIME_EXAMPLE = 'seconds, or a time like "00:01:30.480" or "00:01:30:12"'
const COLOR = /^#[0-9a-f]{6}([0-9a-f]{2})?$/i
const colorWithDefault = (value: string) =>
  field(withDefault(z.string().check(z.regex(COLOR)), value), {
    expects: 'a colour like "#003366", or with its opacity "#00336680"',
  })
const numberAsTextWithDefault = <const V extends string>(values: readonly V[], value: NoInfer<V>) =>
  field(withDefault(z.pipe(textFromNumber, z.enum(values)), value), oneOf(values))

export const STILL_FORMATS = ['jpeg', 'webp', 'avif'] as const
export const PREVIEW_FORMATS = ['mp4', 'gif', 'webp'] as const
export const WAVEFORM_FORMATS = ['json', 'dat', 'png'] as const

/** Element of stills. */
export const stillsSchema = z.object({
  at_seconds: field(
    z.optional(z.union([timeInOutput, z.array(timeInOutput).check(z.minLength(1), z.maxLength(limits.MAX_STILLS))])),
    { expects: `${TIME_EXAMPLE}, or a list of 1 to ${limits.MAX_STILLS} of them` },
  ),
  every_seconds: optionalNumber({ ...limits.STILL_INTERVAL, unit: 'seconds' }),
  count: optionalNumber({ ...limits.STILL_COUNT, integersOnly: true }),
  width: optionalNumber({ ...limits.WIDTH, integersOnly: true, unit: 'pixels' }),
  height: optionalNumber({ ...limits.HEIGHT, integersOnly: true, unit: 'pixels' }),
  format: enumWithDefault(STILL_FORMATS, 'jpeg'),
  quality: numberWithDefault({ ...limits.STILL_QUALITY, integersOnly: true }, 90),
  output: optionalText(limits.MAX_LENGTH.path_bytes),
})

export const animatedPreviewSchema = z.object({
  format: enumWithDefault(PREVIEW_FORMATS, 'mp4'),
  seconds: numberWithDefault({ ...limits.PREVIEW_SECONDS, unit: 'seconds' }, 4),
  parts: numberWithDefault({ ...limits.PREVIEW_PARTS, integersOnly: true }, 4),
  start_seconds: field(z.optional(timeInOutput), { expects: TIME_EXAMPLE }),
  width: numberWithDefault({ ...limits.PREVIEW_WIDTH, integersOnly: true, unit: 'pixels' }, 320),
  frames_per_second: numberWithDefault(limits.PREVIEW_RATE, 10),
})

export const waveformSchema = z.object({
  format: enumWithDefault(WAVEFORM_FORMATS, 'json'),
  source_stream: numberWithDefault({ ...limits.SOURCE_STREAM, integersOnly: true }, 1),
  samples_per_pixel: optionalNumber({ ...limits.SAMPLES_PER_PIXEL, integersOnly: true }),
  pixels_per_second: optionalNumber({ ...limits.PIXELS_PER_SECOND, integersOnly: true }),
  bits: numberAsTextWithDefault(['8', '16'], '8'),
  split_channels: booleanWithDefault(false),
  width: numberWithDefault({ ...limits.WAVEFORM_WIDTH, integersOnly: true, unit: 'pixels' }, 800),
  height: numberWithDefault({ ...limits.WAVEFORM_HEIGHT, integersOnly: true, unit: 'pixels' }, 240),
  background_color: colorWithDefault('#ffffff'),
  waveform_color: colorWithDefault('#003366'),
})

/** Null is accepted wherever a sample could send it, and means the same as omitting the member. */
const credentialMember = (maximum: number = limits.MAX_LENGTH.credential) =>
  field(z.optional(z.nullable(z.string().check(z.maxLength(maximum)))), {
    expects: `a string of at most ${maximum} characters, or null`,
  })
/**
 * Members that are returned on a read. One line only, so that a PEM key in the wrong member is refused and never shown.
 */
const credentialIdentity = () =>
  field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.credential), z.regex(/^[^\p{Cc}]*$/u)))), {
    expects: `a string on one line of at most ${limits.MAX_LENGTH.credential} characters, or null`,
  })

const providerOf = (allowed: readonly Provider[]) => field(withDefault(z.enum(PROVIDERS), 'oracle'), oneOf(allowed))

/** 2.3, credential object. private_key, session_token and endpoint are extensions. */
export const credentialSchema = z.object({
  cloud_provider: providerOf(PROVIDERS),
  access_key: credentialMember(),
  secret_key: credentialMember(limits.MAX_LENGTH.private_key),
  region: credentialIdentity(),
  tenancy_ocid: credentialIdentity(),
  user_ocid: credentialIdentity(),
  oci_fingerprint: credentialIdentity(),
  project_id: credentialIdentity(),
  client_email: credentialIdentity(),
  client_id: credentialIdentity(),
  private_key_id: credentialIdentity(),
  private_key: credentialMember(limits.MAX_LENGTH.private_key),
  session_token: credentialMember(limits.MAX_LENGTH.private_key),
  endpoint: credentialMember(),
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
  // validateJob.ts requires either `input` or `inputs`.
  input: field(z.optional(inputAddress), {
    expects: `a string of 1 to ${limits.MAX_LENGTH.address} characters`,
  }),
  output_container: enumWithDefault(CONTAINERS, 'mp4'),
  ts_mode_input_audio_source_stream_count: optionalNumber({
    ...limits.TS_AUDIO_STREAMS,
    integersOnly: true,
  }),
  audio_output_path: optionalText(limits.MAX_LENGTH.path_bytes),
  bucket_output_path: optionalText(limits.MAX_LENGTH.path_bytes),
  master_variant_mode: booleanWithDefault(false),
  separate_audio: optionalBoolean(),
  segmented_output_hls: booleanWithDefault(false),
  segmented_output_dash: booleanWithDefault(false),
  segment_length: optionalNumber({
    ...limits.SEGMENT_LENGTH,
    exclusiveMinimum: true,
    unit: 'seconds',
    clampTo: { belowMinimum: limits.DEFAULT_SEGMENT_SECONDS, aboveMaximum: limits.SEGMENT_LENGTH.maximum },
  }),
  video_codec: enumWithDefault([...WIRE_VIDEO_CODECS, 'copy'], 'h.264'),
  copy_if_possible: optionalBoolean(),
  ip_distance: optionalNumber({
    ...limits.IP_DISTANCE,
    integersOnly: true,
    clampTo: { belowMinimum: limits.IP_DISTANCE.minimum, aboveMaximum: limits.IP_DISTANCE.maximum },
  }),
  gop_length: numberWithDefault(
    {
      ...limits.GOP_LENGTH,
      exclusiveMinimum: true,
      unit: 'seconds',
      clampTo: { belowMinimum: DEFAULT_GOP_SECONDS, aboveMaximum: limits.GOP_LENGTH.maximum },
    },
    DEFAULT_GOP_SECONDS,
  ),
  scte35_passthough: booleanWithDefault(false),
  scte35_passthrough: optionalBoolean(),
  scte35_pid_remap: optionalNumber({
    ...limits.SCTE35_PID,
    additionalValue: -1,
    integersOnly: true,
  }),
  ts_profile: optionalEnum(TS_PROFILE_NAMES),
  service_name: optionalServiceName(),
  service_provider: optionalServiceName(),
  service_id: optionalNumber({
    ...limits.SERVICE_ID,
    integersOnly: true,
  }),
  transport_stream_id: optionalNumber({
    ...limits.TRANSPORT_STREAM_ID,
    integersOnly: true,
  }),
  pmt_pid: optionalNumber({ ...limits.STREAM_PID, integersOnly: true }),
  video_pid: optionalNumber({ ...limits.STREAM_PID, integersOnly: true }),
  audio_pid: optionalNumber({ ...limits.STREAM_PID, integersOnly: true }),
  create_tar_file: optionalBoolean(),
  audio_volume: numberWithDefault(limits.AUDIO_VOLUME, 100),
  h264_quality: enumWithDefault(['good', 'better', 'best'], 'good'),
  video_aspect_ratio: enumWithDefault(
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
  rotation_blackness: optionalNumber(limits.ROTATION_BLACKNESS),
  closed_captions: optionalBoolean(),
  force_progressive: booleanWithDefault(false),
  keep_fps: booleanWithDefault(true),
  logo_url: field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.address)))), {
    expects: `an http or https address of at most ${limits.MAX_LENGTH.address} characters, or null`,
  }),
  auto_detelecine_flag: optionalBoolean(),
  picture_transform: enumWithDefault(PICTURE_TRANSFORMS, 'none'),
  loudness_lufs: optionalNumber({ ...limits.LOUDNESS_LUFS, unit: 'LUFS' }),
  dynamic_range: optionalEnum(['sdr', 'source']),
  program_number: optionalNumber({ ...limits.PROGRAM_NUMBER, integersOnly: true }),
  max_source_errors: optionalNumber({ ...limits.SOURCE_ERRORS, integersOnly: true }),
  max_chunk_seconds: optionalNumber({ ...limits.CHUNK_SECONDS, additionalValue: 0, unit: 'seconds' }),
  deadline_seconds: optionalNumber({ ...limits.DEADLINE_SECONDS, integersOnly: true, unit: 'seconds' }),
  webhook_url: field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.address)))), {
    expects: `an http or https address of at most ${limits.MAX_LENGTH.address} characters, or null`,
  }),
  thumbnails: optionalBoolean(),
  preview: optionalBoolean(),
  logo_position: optionalEnum(LOGO_POSITIONS),
  logo_opacity: optionalNumber(limits.LOGO_OPACITY),
  cache_control: field(
    z.optional(z.string().check(z.maxLength(limits.MAX_LENGTH.cache_control), z.regex(CACHE_CONTROL))),
    {
      expects: `directives separated by commas, like "public, max-age=86400", of at most ${limits.MAX_LENGTH.cache_control} characters`,
    },
  ),
  start_seconds: optionalCutTime(),
  end_seconds: optionalCutTime(),
  program_start_time: optionalTime(),
  allow_upscaling: optionalBoolean(),
  ladder: optionalEnum(LADDERS),
  preset: field(z.optional(z.string().check(z.minLength(1), z.maxLength(limits.PRESETS.name_characters))), {
    expects: `a string of 1 to ${limits.PRESETS.name_characters} characters`,
  }),
  // metadata.ts reads it, member by member.
  metadata: field(z.optional(z.unknown()), {
    expects: `an object of at most ${limits.METADATA.members} strings of at most ${limits.METADATA.value_characters} characters`,
  }),
})

/**
 * The whole body of job creation, for documentation and types. validateJob.ts reads it field by field, to report all
 * problems.
 */
export const jobRequestSchema = z.extend(jobFieldsSchema, {
  /** Instead of `input`. */
  inputs: z.optional(
    z.array(inputSchema).check(z.minLength(limits.INPUTS.minimum), z.maxLength(limits.INPUTS.maximum)),
  ),
  /** Omitted with `ladder`, or if the job makes no video (rules/products.ts). */
  videoProfiles: z.optional(z.array(videoProfileSchema).check(z.maxLength(limits.VIDEO_PROFILES.maximum))),
  /** Required with video. */
  audioProfiles: z.optional(z.array(audioProfileSchema).check(z.maxLength(limits.AUDIO_PROFILES.maximum))),
  captions: z.optional(z.array(captionSchema).check(z.maxLength(limits.CAPTIONS.maximum))),
  burn_in_captions: z.optional(burnInSchema),
  stills: z.optional(
    z.array(stillsSchema).check(z.minLength(limits.STILLS.minimum), z.maxLength(limits.STILLS.maximum)),
  ),
  animated_preview: z.optional(animatedPreviewSchema),
  waveform: z.optional(waveformSchema),
  /** `inputs`: instead of `input`, the credentials of each element of `inputs`. */
  cloud_credentials: z.object({
    input: z.optional(credentialSchema),
    inputs: z.optional(z.array(credentialSchema)),
    output: z.optional(outputCredential),
  }),
})

export type JobFields = z.infer<typeof jobFieldsSchema>
export type InputFields = z.infer<typeof inputSchema>
export type VideoProfileFields = z.infer<typeof videoProfileSchema>
export type AudioProfileFields = z.infer<typeof audioProfileSchema>
export type CaptionFields = z.infer<typeof captionSchema>
export type BurnInFields = z.infer<typeof burnInSchema>
export type StillsFields = z.infer<typeof stillsSchema>
export type AnimatedPreviewFields = z.infer<typeof animatedPreviewSchema>
export type WaveformFields = z.infer<typeof waveformSchema>
export type CredentialFields = z.infer<typeof credentialSchema>

/**
 * A request during validation: the readable part, so that the rules can check the rest of a body that contains errors.
 */
export interface JobDraft extends Partial<JobFields> {
  videoProfiles: Partial<VideoProfileFields>[]
  audioProfiles: Partial<AudioProfileFields>[]
  inputs?: Partial<InputFields>[]
  captions?: Partial<CaptionFields>[]
  burn_in_captions?: Partial<BurnInFields>
  /** Provider of `input`, or of each element of `inputs`. */
  inputProvidersOf: readonly (Provider | undefined)[]
  stills?: Partial<StillsFields>[]
  animated_preview?: Partial<AnimatedPreviewFields>
  waveform?: Partial<WaveformFields>
  outputProviderOf: Provider | undefined
}
