// In charge of: the numbers that bound a request.
// Not in charge of: enforcing them (job/requestSchema.ts and the rules), codec tables (codecs.ts), their public form (api/publishedLimits.ts).

export const MAX_BODY_BYTES = 256 * 1024
/** One upload in one request: what a Worker accepts on the lowest plan. */
export const MAX_UPLOAD_BYTES = 100_000_000

/** R2 takes 10,000 parts of at least 5 MiB, all but the last of one size. */
const PART_UNIT_BYTES = 5 * 1024 * 1024
const MAX_PARTS = 10_000
/** One resumable upload: every part is then of 5 or 10 MiB, and an upload never has more in memory than one part. */
export const MAX_RESUMABLE_BYTES = 100_000_000_000
/** A good chunk of a resumable upload: whole parts of either size, and below what one request may carry. */
export const UPLOAD_CHUNK_BYTES = 16 * PART_UNIT_BYTES

/** Size of the parts of an upload of `length` bytes: the smallest multiple of 5 MiB that needs no more than 10,000. */
export function uploadPartBytes(length: number): number {
  return PART_UNIT_BYTES * Math.max(1, Math.ceil(length / (PART_UNIT_BYTES * MAX_PARTS)))
}

/** A request is data, not a tree: deeper or more numerous than this is refused before anything else looks at it. */
export const MAX_NESTING = 16
export const MAX_VALUES = 20_000

/** `queue_position` counts no further: then it is this number or more. */
export const MAX_QUEUE_POSITION = 1000

export const VIDEO_PROFILES = { minimum: 1, maximum: 16 } as const
/** 2.2 audio_profiles: a sample comment says values 0 to 7. */
export const AUDIO_PROFILES = { minimum: 0, maximum: 8 } as const

/** Pixels; 0 (the source's) is allowed beside the range. */
export const WIDTH = { minimum: 16, maximum: 7680 } as const
export const HEIGHT = { minimum: 16, maximum: 4320 } as const

/** Specification 8. */
export const AUDIO_VOLUME = { minimum: 0, maximum: 200 } as const
/** LUFS. Below, a lossy codec's own noise is near; above, nothing but a square wave is that loud. */
export const LOUDNESS_LUFS = { minimum: -40, maximum: -5 } as const
export const DIALNORM = { minimum: 0, maximum: 31 } as const
export const SOURCE_STREAM = { minimum: 1, maximum: 8 } as const
export const IP_DISTANCE = { minimum: 1, maximum: 8 } as const
/** Seconds; the minimum is exclusive. */
export const GOP_LENGTH = { minimum: 0, maximum: 60 } as const
export const SEGMENT_LENGTH = { minimum: 0, maximum: 60 } as const
/** Decision "gop_length": segment_length absent = 6 s. */
export const DEFAULT_SEGMENT_SECONDS = 6
export const ROTATION_BLACKNESS = { minimum: 0, maximum: 100 } as const
export const LOGO_OPACITY = { minimum: 0, maximum: 100 } as const
export const MAX_LOGO_BYTES = 5_000_000
export const MAX_LOGO_PIXELS = 4096 * 4096
/** −1 (the source's PID) is allowed beside the range. */
export const SCTE35_PID = { minimum: 32, maximum: 8190 } as const
/** Of our own streams: below what ATSC keeps for its tables. */
export const STREAM_PID = { minimum: 32, maximum: 8186 } as const
/** Where ffmpeg's muxer puts them, and where receivers of earlier outputs look. */
export const DEFAULT_PMT_PID = 0x1000
export const DEFAULT_VIDEO_PID = 0x100
/** program_number 0 is the network's. */
export const SERVICE_ID = { minimum: 1, maximum: 65_535 } as const
export const TRANSPORT_STREAM_ID = { minimum: 0, maximum: 65_535 } as const
/** Two names fit in one service descriptor, whatever the script. */
export const SERVICE_NAME_CHARACTERS = 40
/** 16 bits; 0 is the network's own (ISO/IEC 13818-1, 2.4.4.5). */
export const PROGRAM_NUMBER = { minimum: 1, maximum: 65535 } as const
/** Of `max_source_errors`; more than that is no limit worth naming. */
export const SOURCE_ERRORS = { minimum: 0, maximum: 1_000_000 } as const
export const TS_AUDIO_STREAMS = { minimum: 0, maximum: 100 } as const

/** Characters, unless the name says bytes. */
export const MAX_LENGTH = {
  address: 4096,
  path_bytes: 1024,
  credential: 1024,
  private_key: 16_384,
  file_name: 80,
  cache_control: 200,
} as const

/** A character that is neither a control character nor half of one; for a pattern that is read as Unicode. */
const PRINTABLE_CHARACTER = String.raw`[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]`

/** Of a job: names and values of the client's own. */
export const METADATA = {
  members: 20,
  name_pattern: '[A-Za-z0-9_.-]{1,40}',
  value_characters: 500,
  value_pattern: `${PRINTABLE_CHARACTER}{0,500}`,
} as const

export const PRESETS = {
  per_account: 100,
  name_characters: 100,
  name_pattern: `${PRINTABLE_CHARACTER}{1,100}`,
  description_characters: 500,
} as const

/** What a visitor's page may be let upload (POST /api/v0/uploads/tokens). */
export const UPLOAD_TOKENS = {
  max_files: { minimum: 1, maximum: 1000, default: 1 },
  expires_in_seconds: { minimum: 60, maximum: 86_400, default: 3600 },
  /** Those that have not expired. */
  per_account: 10_000,
  name_characters: 100,
  name_pattern: `${PRINTABLE_CHARACTER}{0,100}`,
} as const

/** `out/<account>/<job_id>/`, with the longest account that there may be. */
const OWN_STORE_PREFIX_BYTES = 'out/'.length + 40 + 1 + 36 + 1

/**
 * Bytes that the path of an output may have below its destination, so that its store takes it as a key (1,024 bytes: Amazon,
 * Google, Oracle, R2). In front of it stands nothing in a store of the customer's; what goes to an http server is staged
 * under digests, of one length whatever the path.
 */
export const OUTPUT_PATH_BYTES = {
  aws: MAX_LENGTH.path_bytes,
  gcloud: MAX_LENGTH.path_bytes,
  http: MAX_LENGTH.path_bytes,
  oracle: MAX_LENGTH.path_bytes,
  'vendor-store': MAX_LENGTH.path_bytes - OWN_STORE_PREFIX_BYTES,
} as const

/** Days after which the service removes what it keeps. */
export const RETENTION_DAYS = { unfinished_uploads: 3, uploads: 7, outputs: 30, jobs: 90 } as const

/** A shared page may live for this long, and never longer than the outputs that it plays. */
export const SHARE_SECONDS = { minimum: 60, maximum: RETENTION_DAYS.outputs * 86_400 } as const
export const SHARE_TITLE_LENGTH = 200
export const MAX_SHARES = 100

/** Clients that may follow one job at a time. */
export const MAX_FOLLOWERS = 20
