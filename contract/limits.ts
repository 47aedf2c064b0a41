// In charge of: the numbers that bound a request.
// Not in charge of: enforcing them (job/fields/ and the rules), codec tables (codecs.ts), their public form (api/publishedLimits.ts).

export const MAX_BODY_BYTES = 256 * 1024
/** Largest upload in one request: what a Worker accepts on the lowest plan. */
export const MAX_UPLOAD_BYTES = 100_000_000

/** R2 accepts 10,000 parts of at least 5 MiB; all but the last have the same size. */
const PART_UNIT_BYTES = 5 * 1024 * 1024
const MAX_UPLOAD_PARTS = 10_000
/** Largest resumable upload. Its parts are 5 or 10 MiB, and an upload never holds more than one part in memory. */
export const MAX_RESUMABLE_BYTES = 100_000_000_000
/** Recommended chunk of a resumable upload: whole parts of either size, and below the limit of one request. */
export const UPLOAD_CHUNK_BYTES = 16 * PART_UNIT_BYTES

/** Part size for an upload of `length` bytes: the smallest multiple of 5 MiB that needs no more than 10,000 parts. */
export function uploadPartBytes(length: number): number {
  return PART_UNIT_BYTES * Math.max(1, Math.ceil(length / (PART_UNIT_BYTES * MAX_UPLOAD_PARTS)))
}

/** A request that is nested deeper or has more values is refused before anything else reads it. */
export const MAX_NESTING = 16
export const MAX_VALUES = 20_000

/** The largest `queue_position` that is shown; it then means "this number or more". */
export const MAX_QUEUE_POSITION = 1000

/** None = a job without video (job/rules/products.ts). */
export const VIDEO_PROFILES = { minimum: 0, maximum: 16 } as const
/** 2.2 audio_profiles: a comment in the sample says values 0 to 7. */
export const AUDIO_PROFILES = { minimum: 0, maximum: 8 } as const

/** Pieces of a source that are joined. */
export const INPUTS = { minimum: 1, maximum: 100 } as const
/** Elements of `stills`. */
export const STILLS = { minimum: 1, maximum: 16 } as const
/** Images of all elements together. Each is an output with a few requests to its store. */
export const MAX_STILLS = 1000
export const STILL_COUNT = { minimum: 1, maximum: MAX_STILLS } as const
/** Seconds from one still to the next. */
export const STILL_INTERVAL = { minimum: 0.1, maximum: 86_400 } as const
export const STILL_QUALITY = { minimum: 1, maximum: 100 } as const

/** All parts of an animated preview together. */
export const PREVIEW_SECONDS = { minimum: 0.5, maximum: 30 } as const
export const PREVIEW_PARTS = { minimum: 1, maximum: 20 } as const
export const PREVIEW_WIDTH = { minimum: 16, maximum: 1280 } as const
export const PREVIEW_RATE = { minimum: 1, maximum: 30 } as const

export const SAMPLES_PER_PIXEL = { minimum: 16, maximum: 1_000_000 } as const
export const PIXELS_PER_SECOND = { minimum: 1, maximum: 3000 } as const
/** Pixels of a waveform, over all of its channels: eight hours of stereo at 256 samples per pixel. */
export const MAX_WAVEFORM_PIXELS = 12_000_000
/** Pixels of a waveform as an image. */
export const WAVEFORM_WIDTH = { minimum: 16, maximum: 16_384 } as const
export const WAVEFORM_HEIGHT = { minimum: 16, maximum: 4096 } as const

/** Pixels. 0 (same as the source) is also allowed. */
export const WIDTH = { minimum: 16, maximum: 7680 } as const
export const HEIGHT = { minimum: 16, maximum: 4320 } as const

/** Specification 8. */
export const AUDIO_VOLUME = { minimum: 0, maximum: 200 } as const
/** LUFS. Below the range, the noise of a lossy codec becomes audible; above it, only a square wave is that loud. */
export const LOUDNESS_LUFS = { minimum: -40, maximum: -5 } as const
export const DIALNORM = { minimum: 0, maximum: 31 } as const
export const SOURCE_STREAM = { minimum: 1, maximum: 8 } as const
/** In source_channels. */
export const SOURCE_CHANNEL = { minimum: 1, maximum: 64 } as const
export const SOURCE_CHANNEL_STREAM = { minimum: 1, maximum: 32 } as const
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
/** Caption files of one job. Each becomes a track. */
export const CAPTIONS = { minimum: 0, maximum: 32 } as const
/** A day of dense dialogue needs a tenth of it. */
export const MAX_CAPTION_BYTES = 16 * 1024 * 1024
/** Captions in one file: more than a day of dense dialogue has. */
export const MAX_CAPTION_CUES = 100_000
export const CAPTION_LABEL_CHARACTERS = 100
/** Position in `captions` of the file that is burned in. */
export const BURNED_IN_CAPTION = { minimum: 0, maximum: CAPTIONS.maximum - 1 } as const
/** 1-based index among the source's subtitle streams. */
export const SOURCE_TRACK = { minimum: 1, maximum: 32 } as const
/** Seconds; a day and more. */
export const CAPTION_OFFSET = { minimum: -100_000, maximum: 100_000 } as const
/** −1 (same as the source) is also allowed. */
export const SCTE35_PID = { minimum: 32, maximum: 8190 } as const
/** PIDs of output streams: below the range that ATSC reserves for its tables. */
export const STREAM_PID = { minimum: 32, maximum: 8186 } as const
/** The defaults of ffmpeg's muxer, which earlier outputs had. */
export const DEFAULT_PMT_PID = 0x1000
export const DEFAULT_VIDEO_PID = 0x100
/** program_number 0 is reserved for the network (NIT). */
export const SERVICE_ID = { minimum: 1, maximum: 65_535 } as const
export const TRANSPORT_STREAM_ID = { minimum: 0, maximum: 65_535 } as const
/** Two names of this length fit in one service descriptor, in any script. */
export const SERVICE_NAME_CHARACTERS = 40
/** 16 bits; 0 is reserved for the network (ISO/IEC 13818-1, 2.4.4.5). */
export const PROGRAM_NUMBER = { minimum: 1, maximum: 65535 } as const
/** For `max_source_errors`. A higher limit would have no practical use. */
export const SOURCE_ERRORS = { minimum: 0, maximum: 1_000_000 } as const
/** For `max_chunk_seconds`; 0 is also allowed. Shorter chunks cost more joins, longer ones more work after a loss. */
export const CHUNK_SECONDS = { minimum: 10, maximum: 600 } as const
/** For `deadline_seconds`. The upper bound is the time after which the service ends any job. */
export const DEADLINE_SECONDS = { minimum: 60, maximum: 86_400 } as const
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

/**
 * A character that is neither a control character nor half of a surrogate pair. For patterns with the Unicode flag.
 */
const PRINTABLE_CHARACTER = String.raw`[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]`

/** Limits of a job's `metadata`. */
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

/** What an upload token can allow (POST /api/v0/uploads/tokens). */
export const UPLOAD_TOKENS = {
  max_files: { minimum: 1, maximum: 1000, default: 1 },
  expires_in_seconds: { minimum: 60, maximum: 86_400, default: 3600 },
  /** Counts tokens that have not expired. */
  per_account: 10_000,
  name_characters: 100,
  name_pattern: `${PRINTABLE_CHARACTER}{0,100}`,
} as const

/** Days after which the service deletes data, where its settings say nothing else. */
export const RETENTION_DAYS = { unfinished_uploads: 3, uploads: 7, outputs: 30, jobs: 90 } as const

export type RetentionDays = Record<keyof typeof RETENTION_DAYS, number>

/** Lifetime of an API key that expires: up to ten years. */
export const KEY_SECONDS = { minimum: 60, maximum: 10 * 365 * 86_400 } as const

/** A shared page may live for this long, and never longer than the outputs that it plays. */
export const SHARE_SECONDS = { minimum: 60, maximum: 30 * 86_400 } as const
export const SHARE_TITLE_LENGTH = 200
export const SHARE_PASSWORD_LENGTH = { minimum: 8, maximum: 200 } as const
/** Passwords that may be tried for one share, in each instance of the Worker: hashing one takes some 50 ms. */
export const SHARE_PASSWORDS_PER_MINUTE = 30
export const MAX_SHARES = 100

/** Clients that can follow one job at the same time. */
export const MAX_FOLLOWERS = 20

/** Highest spend cap of an account, in the currency. */
export const MAX_SPEND_CAP = 1_000_000_000

/** The most parts of a divided job. */
export const MAX_JOB_PARTS = 400
