// In charge of: the fields of a job that are not objects (specification 2.1), in the order of the form.
import * as z from 'zod/mini'
import { WIRE_VIDEO_CODECS } from '../../codecs.ts'
import { CONTAINERS } from '../../containers.ts'
import * as limits from '../../limits.ts'
import {
  booleanWithDefault,
  enumWithDefault,
  field,
  numberWithDefault,
  optionalAddress,
  optionalBoolean,
  optionalCutTime,
  optionalEnum,
  optionalNumber,
  optionalText,
  type Field,
  type FieldGroup,
} from './field.ts'

/** A name that receivers show: printable, and within the length of its descriptor. '' = not given. */
const optionalServiceName = () =>
  field(z.optional(z.string().check(z.maxLength(limits.SERVICE_NAME_CHARACTERS), z.regex(/^[^\p{C}]*$/u))), {
    expects: `a string of at most ${limits.SERVICE_NAME_CHARACTERS} characters without control characters`,
  })
// RFC 3339, limited to what Date.parse reads.
const TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?|24:00:00(\.0{1,3})?)(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
/** '', false and null = not given: templates may contain them. */
const optionalTime = () =>
  field(z.optional(z.union([z.string().check(z.regex(TIME)), z.literal(''), z.literal(false), z.null()])), {
    expects: 'a time with a time zone, like "2026-01-31T20:15:00Z"',
  })

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
export const jobFields = {
  input: {
    ...optionalAddress(),
    meaning:
      'Address of a source (docs/sources.md), like https://… or s3://bucket/key. Required, unless inputs is given.',
    label: 'Source',
    group: null,
  },
  preset: {
    ...field(z.optional(z.string().check(z.minLength(1), z.maxLength(limits.PRESETS.name_characters))), {
      expects: `a string of 1 to ${limits.PRESETS.name_characters} characters`,
    }),
    meaning: 'Id or name of a preset. Members of the body take precedence over its own (docs/api.md).',
    group: null,
  },
  ladder: {
    ...optionalEnum(LADDERS),
    meaning:
      'auto = sizes and bitrates follow from the source. Leave videoProfiles out; gop_length is then 2 unless given.',
    group: null,
  },
  output_container: {
    ...enumWithDefault(CONTAINERS, 'mp4'),
    meaning: 'Container of the files; hls and silverlight = segmented output (docs/segmented.md).',
    label: 'Container',
    hint: '',
    group: 'packaging',
    valueLabels: {
      mp4: 'MP4',
      ts: 'MPEG transport stream',
      hls: 'HLS and DASH segments',
      silverlight: 'Smooth Streaming',
    },
  },
  segmented_output_hls: {
    ...booleanWithDefault(false),
    meaning: 'true = write HLS playlists.',
    label: 'HLS',
    hint: 'Writes an HLS playlist.',
    group: 'packaging',
  },
  segmented_output_dash: {
    ...booleanWithDefault(false),
    meaning: 'true = write a DASH manifest.',
    label: 'DASH',
    hint: 'Writes a DASH manifest.',
    group: 'packaging',
  },
  segment_length: {
    ...optionalNumber({
      ...limits.SEGMENT_LENGTH,
      exclusiveMinimum: true,
      unit: 'seconds',
      clampTo: { belowMinimum: limits.DEFAULT_SEGMENT_SECONDS, aboveMaximum: limits.SEGMENT_LENGTH.maximum },
    }),
    meaning: 'Segment length, rounded to whole GOPs; absent = 6.',
    label: 'Segment length (s)',
    hint: 'Rounded to whole GOPs. Empty = 6.',
    group: 'packaging',
  },
  master_variant_mode: {
    ...booleanWithDefault(false),
    meaning: 'true = separate audio tracks in segmented output; false = audio in the video segments.',
    label: 'Separate audio tracks',
    hint: 'Keeps audio out of the video segments.',
    group: 'packaging',
  },
  thumbnails: {
    ...optionalBoolean(),
    meaning: 'true = thumbnails for the seek bar and a poster, in segmented output.',
    label: 'Poster and seek thumbnails',
    hint: 'Preview images for the seek bar, and a poster.',
    group: 'packaging',
    absent: false,
  },
  preview: {
    ...optionalBoolean(),
    meaning: 'true or absent = a still image of the source at status.poster.',
    label: 'Preview image',
    hint: 'A preview frame of the source, for lists and players.',
    group: 'packaging',
    absent: true,
  },
  create_tar_file: {
    ...optionalBoolean(),
    meaning: 'true = also store the segmented output as one tar archive.',
    label: 'Tar of all outputs',
    hint: 'Also stores all segmented outputs as one tar.',
    group: 'packaging',
    absent: false,
  },
  audio_output_path: {
    ...optionalText(limits.MAX_LENGTH.path_bytes),
    meaning:
      'Directory, in any bucket of the output provider, for one audio file per audio profile (docs/audio.md). Absent = none; a job without video stores them in bucket_output_path.',
    label: 'Directory for separate audio files',
    hint: 'Also stores each audio track as a separate file.',
    group: 'packaging',
  },
  cache_control: {
    ...field(z.optional(z.string().check(z.maxLength(limits.MAX_LENGTH.cache_control), z.regex(CACHE_CONTROL))), {
      expects: `directives separated by commas, like "public, max-age=86400", of at most ${limits.MAX_LENGTH.cache_control} characters`,
    }),
    meaning: 'Cache-Control header of every output; absent = the default for its kind (docs/stores.md, Caching).',
    label: 'Cache-Control',
    hint: 'Header of every output, like public, max-age=86400. Empty = the usual one.',
    group: 'packaging',
  },
  max_chunk_seconds: {
    ...optionalNumber({ ...limits.CHUNK_SECONDS, additionalValue: 0, unit: 'seconds' }),
    meaning:
      'Divides the job into chunks of at most this length, encoded in parallel (docs/divided-jobs.md). 0 = one task; absent = by the predicted time.',
    label: 'Longest chunk (s)',
    hint: 'Several transcoders encode chunks of this length. Empty = by the predicted time, 0 = one transcoder.',
    group: 'packaging',
  },
  deadline_seconds: {
    ...optionalNumber({ ...limits.DEADLINE_SECONDS, integersOnly: true, unit: 'seconds' }),
    meaning:
      'Target time from creation to completion. The job is divided if one transcoder is too slow, and comes first in its account’s queue after half of the time. Missing it is no error.',
    label: 'Wanted within (s)',
    hint: 'Counted from now. More transcoders work on the job at once. Empty = no wish.',
    group: 'packaging',
  },
  program_start_time: {
    ...optionalTime(),
    meaning: 'Time of the first frame: the first EXT-X-PROGRAM-DATE-TIME of HLS playlists.',
    hint: 'Time of the first frame, like 2026-01-31T20:15:00Z.',
    group: 'packaging',
  },
  start_seconds: {
    ...optionalCutTime(),
    meaning:
      'First frame of the outputs, counted from the source’s first frame (docs/cuts.md). Absent = the beginning.',
    label: 'Start',
    hint: 'Seconds or a timecode, like 90, 00:01:30.480 or 00:01:30:12. Empty = the beginning.',
    group: 'part',
  },
  end_seconds: {
    ...optionalCutTime(),
    meaning: 'End of the outputs; this frame is not included. Absent = the end of the source.',
    label: 'End',
    hint: 'The first frame that is left out. Empty = the end of the source.',
    group: 'part',
  },
  allow_upscaling: {
    ...optionalBoolean(),
    meaning:
      'Video profiles larger than the source: true = made, absent = made with a warning, false = left out; at least one is made.',
    hint: 'Makes renditions that are larger than the source.',
    group: 'renditions',
    valueLabels: { '': 'Yes, with a warning' },
  },
  video_codec: {
    ...enumWithDefault([...WIRE_VIDEO_CODECS, 'copy'], 'h.264'),
    meaning: 'Video codec; copy = keep the source’s video, in all profiles (docs/copy.md).',
    hint: 'Copy keeps the source’s video as it is.',
    group: 'encoding',
    valueLabels: { 'h.264': 'H.264', hevc: 'HEVC (H.265)', mpeg2: 'MPEG-2', copy: 'Copy' },
  },
  copy_if_possible: {
    ...optionalBoolean(),
    meaning: 'true = encode a stream that cannot be copied, with a warning; otherwise the job fails.',
    label: 'Otherwise encode',
    hint: 'Encodes a stream that cannot be copied, with a warning.',
    group: 'encoding',
  },
  h264_quality: {
    ...enumWithDefault(['good', 'better', 'best'], 'good'),
    meaning: 'Encoder effort for h.264 and hevc: good is the fastest, best the slowest. No effect with mpeg2.',
    label: 'Encoder quality',
    hint: 'Better quality takes longer to encode.',
    group: 'encoding',
    valueLabels: { good: 'Good, fastest', better: 'Better', best: 'Best, slowest' },
  },
  gop_length: {
    ...numberWithDefault(
      {
        ...limits.GOP_LENGTH,
        exclusiveMinimum: true,
        unit: 'seconds',
        clampTo: { belowMinimum: DEFAULT_GOP_SECONDS, aboveMaximum: limits.GOP_LENGTH.maximum },
      },
      DEFAULT_GOP_SECONDS,
    ),
    meaning: 'Distance between key frames (length of a GOP).',
    label: 'GOP length (s)',
    hint: 'Distance between keyframes.',
    group: 'encoding',
  },
  ip_distance: {
    ...optionalNumber({
      ...limits.IP_DISTANCE,
      integersOnly: true,
      clampTo: { belowMinimum: limits.IP_DISTANCE.minimum, aboveMaximum: limits.IP_DISTANCE.maximum },
    }),
    meaning: 'Distance between I and P frames: the number of B-frames, plus one.',
    label: 'I/P frame distance',
    hint: 'B-frames between I and P frames, plus one.',
    group: 'encoding',
  },
  keep_fps: {
    ...booleanWithDefault(true),
    meaning: 'true = keep the source’s frame rate; false = use the nearest standard rate.',
    label: 'Keep the source frame rate',
    hint: 'Otherwise the nearest standard frame rate is used.',
    group: 'encoding',
  },
  dynamic_range: {
    ...optionalEnum(['sdr', 'source']),
    meaning:
      'For HDR sources (docs/media.md): sdr = tone-mapped, source = keep HDR (hevc only). Absent = source for hevc, else sdr.',
    hint: 'HDR needs HEVC.',
    group: 'encoding',
    valueLabels: { sdr: 'SDR (tone-mapped)', source: 'HDR as in the source' },
  },
  video_aspect_ratio: {
    ...enumWithDefault(
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
    meaning: 'Display aspect ratio and rotation.',
    label: 'Aspect ratio and rotation',
    hint: '',
    group: 'frame',
    valueLabels: {
      passthrough: 'As in the source',
      'force_4:3': 'Force 4:3',
      'force_16:9': 'Force 16:9',
      invert_aspect_ratio: 'Invert the aspect ratio',
      rotate_counterclockwise: 'Rotate counterclockwise',
      rotate_clockwise: 'Rotate clockwise',
      'rotate_counterclockwise + invert_aspect_ratio': 'Rotate counterclockwise, invert the aspect ratio',
    },
  },
  picture_transform: {
    ...enumWithDefault(PICTURE_TRANSFORMS, 'none'),
    meaning: 'How the video is fitted, flipped or rotated.',
    label: 'Fit and flip',
    hint: 'How the source fits the frame.',
    group: 'frame',
    valueLabels: {
      none: 'None',
      letterbox: 'Letterbox',
      crop: 'Crop',
      stretch: 'Stretch',
      hflip: 'Flip horizontally',
      vflip: 'Flip vertically',
      rotate180: 'Rotate by 180°',
    },
  },
  rotation_blackness: {
    ...optionalNumber(limits.ROTATION_BLACKNESS),
    meaning: 'Brightness of the bars around a rotated frame, in percent.',
    label: 'Bar level (%)',
    hint: 'Brightness of the bars around a rotated frame.',
    group: 'frame',
  },
  force_progressive: {
    ...booleanWithDefault(false),
    meaning: 'true = deinterlace all outputs.',
    label: 'Deinterlace',
    hint: 'Deinterlaces all renditions.',
    group: 'frame',
  },
  auto_detelecine_flag: {
    ...optionalBoolean(),
    meaning: 'true = undo 3:2 pulldown where it is detected.',
    label: 'Inverse telecine',
    hint: 'Restores 24 fps where 3:2 pulldown is detected.',
    group: 'frame',
    absent: false,
  },
  logo_url: {
    ...field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.address)))), {
      expects: `an http or https address of at most ${limits.MAX_LENGTH.address} characters, or null`,
    }),
    meaning: 'Image (PNG, JPEG or WebP) to draw over the video.',
    label: 'Logo address',
    hint: 'A PNG, JPEG or WebP image that is drawn over the video.',
    group: 'frame',
  },
  logo_position: {
    ...optionalEnum(LOGO_POSITIONS),
    meaning: 'Corner of the logo; absent = top_right.',
    hint: '',
    group: 'frame',
    valueLabels: {
      top_left: 'Top left',
      top_right: 'Top right',
      bottom_left: 'Bottom left',
      bottom_right: 'Bottom right',
    },
  },
  logo_opacity: {
    ...optionalNumber(limits.LOGO_OPACITY),
    meaning: 'Opacity of the logo in percent; absent = 100.',
    label: 'Logo opacity (%)',
    hint: '',
    group: 'frame',
  },
  audio_volume: {
    ...numberWithDefault(limits.AUDIO_VOLUME, 100),
    meaning: 'Volume in percent of the source.',
    label: 'Volume (%)',
    hint: 'In percent of the source.',
    group: 'audio',
  },
  loudness_lufs: {
    ...optionalNumber({ ...limits.LOUDNESS_LUFS, unit: 'LUFS' }),
    meaning: 'Target loudness (EBU R 128), with true peaks below −1 dBTP. Not together with audio_volume.',
    label: 'Loudness (LUFS)',
    hint: 'Normalises to EBU R 128, for example −16. Not together with volume.',
    group: 'audio',
  },
  closed_captions: {
    ...optionalBoolean(),
    meaning:
      'true = keep closed captions and also write them as WebVTT in segmented output; false = remove them; absent = keep them in the video.',
    hint: 'Writes CEA-608 and 708 captions to the outputs.',
    group: 'broadcast',
    valueLabels: { '': 'As in the source' },
  },
  scte35_passthough: {
    ...booleanWithDefault(false),
    meaning: 'true = keep the source’s SCTE-35 cues (docs/scte35.md). Also accepted as scte35_passthrough.',
    label: 'Pass through SCTE-35 cues',
    hint: 'Keeps ad markers in transport streams and playlists.',
    group: 'broadcast',
  },
  scte35_pid_remap: {
    ...optionalNumber({
      ...limits.SCTE35_PID,
      additionalValue: -1,
      integersOnly: true,
    }),
    meaning: 'PID of the SCTE-35 cues; -1 = as in the source.',
    label: 'SCTE-35 PID',
    hint: 'PID of the SCTE-35 cues; −1 = as in the source.',
    group: 'broadcast',
  },
  program_number: {
    ...optionalNumber({ ...limits.PROGRAM_NUMBER, integersOnly: true }),
    meaning: 'Program of a transport stream; absent = the first with video. Stream numbers count within it.',
    hint: 'Of a transport stream. Empty = the first with video.',
    group: 'broadcast',
  },
  max_source_errors: {
    ...optionalNumber({ ...limits.SOURCE_ERRORS, integersOnly: true }),
    meaning:
      'Errors allowed in the source (damaged packets, concealed frames, filled audio gaps). One more ends the job with too_many_source_errors. Absent = no limit.',
    label: 'Errors allowed in the source',
    hint: 'More of them end the job. Empty = any number.',
    group: 'broadcast',
  },
  ts_mode_input_audio_source_stream_count: {
    ...optionalNumber({
      ...limits.TS_AUDIO_STREAMS,
      integersOnly: true,
    }),
    meaning: 'Number of audio streams to expect in a transport stream.',
    label: 'Expected audio streams',
    hint: 'In a transport stream.',
    group: 'broadcast',
  },
  ts_profile: {
    ...optionalEnum(TS_PROFILE_NAMES),
    meaning:
      'Signalling of ts files (docs/broadcast.md): dvb also keeps teletext and DVB subtitles, atsc writes PSIP. Absent = AC-3 as in ATSC, and an SDT.',
    label: 'Signalling',
    hint: 'DVB or ATSC descriptors and tables of ts files.',
    group: 'service',
  },
  service_name: {
    ...optionalServiceName(),
    meaning: 'Service name in ts files; absent = the name of the source.',
    hint: 'Empty = the name of the source.',
    group: 'service',
  },
  service_provider: {
    ...optionalServiceName(),
    meaning: 'Service provider in ts files; absent = Splicepoint.',
    hint: 'Empty = Splicepoint.',
    group: 'service',
  },
  service_id: {
    ...optionalNumber({
      ...limits.SERVICE_ID,
      integersOnly: true,
    }),
    meaning: 'service_id (program_number) of ts files; absent = 1.',
    label: 'Service ID',
    hint: 'Also the program number. Empty = 1.',
    group: 'service',
  },
  transport_stream_id: {
    ...optionalNumber({
      ...limits.TRANSPORT_STREAM_ID,
      integersOnly: true,
    }),
    meaning: 'transport_stream_id of ts files; absent = 1.',
    label: 'Transport stream ID',
    hint: 'Empty = 1.',
    group: 'service',
  },
  pmt_pid: {
    ...optionalNumber({ ...limits.STREAM_PID, integersOnly: true }),
    meaning: 'PID of the PMT of ts files; absent = 4096.',
    label: 'PMT PID',
    hint: 'Empty = 4096.',
    group: 'service',
  },
  video_pid: {
    ...optionalNumber({ ...limits.STREAM_PID, integersOnly: true }),
    meaning: 'PID of the video of ts files; absent = 256.',
    label: 'Video PID',
    hint: 'Empty = 256.',
    group: 'service',
  },
  audio_pid: {
    ...optionalNumber({ ...limits.STREAM_PID, integersOnly: true }),
    meaning:
      'PID of the first audio track of ts files; further tracks, teletext and subtitles count up. Absent = video_pid + 1.',
    label: 'Audio PID',
    hint: 'Of the first track; others follow. Empty = the PID after the video PID.',
    group: 'service',
  },
  webhook_url: {
    ...field(z.optional(z.nullable(z.string().check(z.maxLength(limits.MAX_LENGTH.address)))), {
      expects: `an http or https address of at most ${limits.MAX_LENGTH.address} characters, or null`,
    }),
    meaning: 'Receives a signed webhook when the job ends (docs/webhooks.md).',
    label: 'Webhook address',
    hint: 'Receives a signed request when the job ends.',
    group: 'notice',
  },
  bucket_output_path: {
    ...optionalText(limits.MAX_LENGTH.path_bytes),
    meaning: 'Directory of the outputs, like s3://bucket/directory (docs/stores.md, Paths).',
    label: 'Output directory',
    hint: 'Where the outputs are stored. For a bucket, begin with its name: s3://bucket/directory',
    group: 'destination',
  },
  separate_audio: {
    ...optionalBoolean(),
    meaning: 'Alias of master_variant_mode; the stored config shows this name.',
    group: null,
  },
  scte35_passthrough: {
    ...optionalBoolean(),
    meaning: 'Alias of scte35_passthough; stored under that name.',
    group: null,
  },
  metadata: {
    ...field(z.optional(z.unknown()), {
      expects: `an object of at most ${limits.METADATA.members} strings of at most ${limits.METADATA.value_characters} characters`,
    }),
    meaning: 'Your own names and values, returned in lists and webhooks, and searchable.',
    group: null,
  },
} satisfies Record<string, Field & { group: FieldGroup | null }>

type NameIn<G extends FieldGroup> = {
  [K in keyof typeof jobFields]: (typeof jobFields)[K]['group'] extends G ? K : never
}[keyof typeof jobFields]

/** The names of a group's fields, in the order of the table. */
export function fieldsOfGroup<G extends FieldGroup>(group: G): NameIn<G>[] {
  const names = Object.entries<{ group: FieldGroup | null }>(jobFields).filter(([, field]) => field.group === group)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names of the rows with this group
  return names.map(([name]) => name) as NameIn<G>[]
}
