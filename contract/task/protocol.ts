// In charge of: the messages between the Worker's task API and the transcoder.
// Not in charge of: what either side does with them.
import * as z from 'zod/mini'
import type { Estimate } from './dryRunEstimate.ts'
import { MAX_AMOUNT, mediaFactsSchema, sourceReportSchema } from './reportSchemas.ts'
import type { JobConfig } from '../job/jobConfig.ts'
import type { TaskKind } from './lifecycle.ts'
import { taskPlan } from './plan/plan.ts'
import type { JobSpec } from '../job/jobSpec.ts'
import { MAX_JOB_PARTS, MAX_STILLS } from '../limits.ts'
import { warningCode } from '../warningCodes.ts'

/**
 * Number of the messages below. It is raised when a member is renamed or gets another meaning, when `JobSpec` gets
 * another member, and when a task needs a transcoder that knows something new. A transcoder refuses `POST /run` with another number (400 `protocol_mismatch`),
 * and the task waits until a newer transcoder is available.
 */
export const TASK_PROTOCOL = 8

/** A transcoder's answer to a task whose task_api_url leads nowhere. */
export const SERVICE_UNREACHABLE = 'service_unreachable'

/**
 * With `GET /task/:id`: the build of the transcoder's ffmpeg. A part is not given to one of another build than the rest of
 * its job (409). Without it the transcoder looks by itself, and gives the part back.
 */
export const BUILD_HEADER = 'x-splicepoint-ffmpeg-build'

/** Largest body of one request to the task API, in bytes (a Worker accepts 100 MB on the lowest plan). */
export const MAX_TASK_BODY_BYTES = 32 * 1024 * 1024
/** Smallest size of a part, except the last: 8 MiB; S3 and R2 require 5 MiB. */
export const MIN_PART_BYTES = 8 * 1024 * 1024
/** Maximum number of parts of one object on S3 and R2. */
export const MAX_UPLOAD_PARTS = 10_000
export const HEARTBEAT_MS = 1000

/**
 * The source of an attempt: `GET` and `HEAD /task/:id/input`, with ranges. If the job has `inputs` (`JobSpec.inputs`),
 * piece N is `/task/:id/input/N`, from 0; `/input` is the first one, and can be read before the task is known.
 */
export function inputPath(piece: number): string {
  return piece === 0 ? '/input' : `/input/${piece}`
}

/** The body of `POST /run` on a transcoder. */
export const runRequestSchema = z.object({
  protocol: z.number(),
  task_id: z.string().check(z.regex(/^[a-z0-9-]{1,80}$/)),
  attempt: z.number().check(z.int(), z.positive()),
  token: z.string().check(z.minLength(1), z.maxLength(1000)),
  /** Base address of the Worker's task API, without a trailing slash. */
  task_api_url: z.url(),
})
export type RunRequest = z.infer<typeof runRequestSchema>

/** The answer of `GET /task/:id`. It contains no credentials. */
export interface TaskDescription {
  protocol: number
  task_id: string
  job_id: string
  attempt: number
  /** plan = a dry run: it ends with `/estimate`, and the task API accepts no uploads for it. */
  kind: TaskKind
  /** As stored; used for `job.json` only. */
  config: JobConfig
  /** The work of the attempt. */
  spec: JobSpec
  /** The plan that an earlier attempt stored. A later attempt follows it. */
  plan: unknown
  /** Name of the source without its directory, for derived output names. */
  input_name: string
  /** Milliseconds that this attempt may take before the service gives it up. */
  max_attempt_ms: number
  /** The most seconds of the source, or of all pieces together, of which outputs are made. Missing = no bound. */
  max_source_seconds?: number
  /** Reports that the service accepts in addition to the outputs. Absent = none. */
  accepts?: {
    /** `POST /task/:id/source` → `SourcePost`. */
    source: boolean
    /** `PUT /task/:id/preview`: one JPEG frame of the source. */
    preview: boolean
    /** `PUT /task/:id/log` → `AttemptLog`, complete each time; also accepted after the attempt has ended. */
    log: boolean
    /** Tracks of the source's text subtitles (`captions/sub_0/…`). */
    subtitles?: boolean
    /** `POST /task/:id/divide`: the most parts that the job may have. Missing = it cannot be divided. */
    parts?: number
    /**
     * A job that says nothing about chunks is divided if chunks are predicted to save one transcoder more than this
     * many seconds, or those that are free a part of it. Missing = it is not divided.
     */
    divide_above_seconds?: number
  }
  /** Divided job: which part this attempt makes, from 0. The attempt ends with `/deliver`. */
  part?: { index: number }
  /** This many parts have surveyed the source. This attempt reads their records, and divides the job again. */
  surveyed?: { parts: number }
  /**
   * The job is divided, and all its parts are stored: this attempt puts them together. `parts`: how many, without the
   * survey. `first`: how many parts the survey had; missing = none.
   */
  assemble?: { parts: number; first?: number }
  /**
   * The client wants the job to end in this many seconds; 0 = the time is over. `slots`: how many transcoders may work on
   * the job at once. Missing = the client named no time, or this attempt divides nothing.
   */
  deadline?: { seconds_left: number; slots: number }
  /** How many transcoders may work on the job at once. Missing = this attempt divides nothing. */
  slots?: number
  /** How many of these have nothing else to do now, that of this attempt included. Missing = one. */
  free_slots?: number
  /** Milliseconds between heartbeats; missing = HEARTBEAT_MS. */
  heartbeat_ms?: number
}

/** The values of all parts of a job are added up. */
const amount = z.number().check(z.gte(0), z.lte(MAX_AMOUNT))

/** Progress of an attempt. Fractions are 0…1 and never decrease within an attempt. */
export const progressPostSchema = z.object({
  phase: z.enum(['starting', 'probing', 'sampling', 'transcoding', 'packaging', 'uploading']),
  transcoded: z.number().check(z.gte(0), z.lte(1)),
  /** Seconds of wall time spent encoding so far. */
  transcode_seconds: amount,
  /** Multiple of real time; null until known. */
  speed: z.nullable(amount),
  bytes_produced: amount,
  bytes_stored: amount,
  /** Seconds during which at least one transfer was running. */
  transfer_seconds: amount,
  eta_seconds: z.nullable(amount),
  /** CPU time of the attempt so far, of the transcoder and its programs. Absent where it cannot be measured. */
  cpu_seconds: z.exactOptional(amount),
  /** Bytes of the source and of other files of the client that the attempt has read so far. */
  bytes_read: z.exactOptional(amount),
  /** Free bytes of the disk with the work directory. */
  disk_free_bytes: z.exactOptional(amount),
})
export type ProgressPost = z.infer<typeof progressPostSchema>

/** cancel = the job was cancelled; stop = this is no longer the current attempt. */
export type ProgressReply = { instruction: 'continue' | 'cancel' | 'stop' }

const outputPath = z.string().check(z.minLength(1), z.maxLength(1024))
/**
 * The path decides which types an object may have (allowedOutputs.ts). The pattern only ensures that the value is safe
 * in a header.
 */
const contentType = z.string().check(z.regex(/^[a-z0-9.+-]{1,50}\/[a-z0-9.+-]{1,50}$/))

/**
 * Maximum characters of an upload handle: the path and the store's upload id, as JSON in base64url. A path has at most
 * 1,024 bytes, or twice that when each is escaped; upload ids of up to 250 characters were seen. The handle is part of
 * an address, and some servers accept no more than 16 KiB of headers.
 */
export const MAX_UPLOAD_HANDLE = 12 * 1024

const warning = z.object({
  code: warningCode,
  field: z.optional(z.string().check(z.maxLength(200))),
  message: z.string().check(z.maxLength(2000)),
})

/** Share of a divided job's progress that its parts fill. The attempt that puts them together fills the rest. */
export const PARTS_SHARE = 0.95

/** Share of the samples of the bitrate in what the parts fill. Both are the predicted seconds of one transcoder. */
export function samplingShare(division: {
  seconds?: number | undefined
  samplingSeconds?: number | undefined
}): number {
  const { seconds = 0, samplingSeconds = 0 } = division
  return samplingSeconds === 0 ? 0 : samplingSeconds / (samplingSeconds + seconds)
}

/** Time between two reports of an attempt at a part. It is long: 300 parts of one job report to one Durable Object. */
export const PART_HEARTBEAT_MS = 5000

/**
 * `POST /task/:id/divide`, after the plan was stored (its member `division`): the job continues as parts, and this
 * attempt has ended. A later attempt puts them together (`TaskDescription.assemble`).
 */
export const dividePostSchema = z.object({
  /** How many parts the job has then. The parts of a survey are included, and stay the first ones. */
  parts: z.number().check(z.int(), z.gte(2), z.lte(MAX_JOB_PARTS)),
  /** The parts survey the source; the attempt after them divides the job again (`TaskDescription.surveyed`). */
  survey: z.exactOptional(z.literal(true)),
})
export type DividePost = z.infer<typeof dividePostSchema>

/** Largest result of a part, in bytes of JSON. */
export const MAX_PART_RECORD_BYTES = 16 * 1024 * 1024

/** `POST /task/:id/deliver`: the result of a part. Its objects stay, and belong to the job. */
export const deliverPostSchema = z.object({
  /** Passed on unchanged (`partRecordPath`), so only the transcoder knows its members. */
  record: z.record(z.string(), z.unknown()),
  warnings: z.array(warning).check(z.maxLength(200)),
  progress: progressPostSchema,
})
export type DeliverPost = z.infer<typeof deliverPostSchema>

/**
 * `GET /task/:id/parts/<index>`: the record of a part of the same job, for the attempt that puts the parts together and for
 * other parts. 404 `not_found` while the part is not stored.
 */
export function partRecordPath(index: number): string {
  return `/parts/${index}`
}

/**
 * `PUT` and `GET /task/:id/work/<name>`: objects of a part for the attempt that puts the parts together, and of the attempt
 * that divides the job for its parts, of at most `MAX_TASK_BODY_BYTES`. They are removed when the job has ended. A name is `<task number>-<attempt>/<file>`: each
 * attempt writes below its own directory, and any attempt of the job reads.
 */
export const workObjectName = /^[0-9]{1,3}-[0-9]{1,6}\/[a-z0-9_.-]{1,100}$/

export function workObjectPath(name: string): string {
  return `/work/${name}`
}

/** Size of the plan as JSON. It is stored in one row of D1, which holds 2 MB. */
export const MAX_PLAN_BYTES = 1_500_000

export const planPostSchema = z.object({
  plan: taskPlan,
  warnings: z.array(warning).check(z.maxLength(200)),
  /**
   * The stored plan was made for an ffmpeg with other features, and this one takes its place with its warnings. A
   * service that does not know this member answers with the stored plan.
   */
  replaces: z.optional(z.boolean()),
})
export type PlanPost = z.infer<typeof planPostSchema>

/** The probed source. It is sent before planning, so that it is known even if planning fails. */
export const sourcePostSchema = z.object({ source: sourceReportSchema })
export type SourcePost = z.infer<typeof sourcePostSchema>

export const uploadRequestSchema = z.object({
  path: outputPath,
  content_type: contentType,
  /** Upper estimate in bytes. It decides the part size, which is the same for every part but the last. */
  expected_size: z.number().check(z.gte(0)),
})
export type UploadRequest = z.infer<typeof uploadRequestSchema>
export interface UploadReply {
  upload: string
  /** Bytes of every part but the last. */
  part_size: number
}
export interface PartReply {
  etag: string
}

/** `storyboard`: the WebVTT file that maps times to thumbnails. */
const role = z.enum([
  'media',
  'playlist',
  'manifest',
  'captions',
  'poster',
  'storyboard',
  'tar',
  'report',
  'still',
  'preview',
  'waveform',
])

/** One object of the commit. `parts` are complete and in order, starting at 1. */
export const finishedObjectSchema = z.object({
  path: outputPath,
  upload: z.string().check(z.minLength(1), z.maxLength(MAX_UPLOAD_HANDLE)),
  size: z.number().check(z.gte(1)),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  content_type: contentType,
  parts: z
    .array(z.object({ n: z.number().check(z.int(), z.positive()), etag: z.string().check(z.maxLength(200)) }))
    .check(z.minLength(1), z.maxLength(MAX_UPLOAD_PARTS)),
  profile: z.nullable(z.number()),
  role,
  /** Measured in the written output. Absent for objects without media. */
  media: z.optional(mediaFactsSchema),
})
export type FinishedObject = z.infer<typeof finishedObjectSchema>

/**
 * An object whose whole content comes with `finish`: playlists, manifests, job.json. It is stored at the commit: media
 * playlists (stage 1) before the objects that refer to them (stage 2).
 */
export const writtenObjectSchema = z.object({
  path: outputPath,
  content_type: contentType,
  profile: z.nullable(z.number()),
  role,
  media: z.optional(mediaFactsSchema),
  body: z.string().check(z.minLength(1), z.maxLength(8 * 1024 * 1024)),
  stage: z.literal([1, 2]),
  /** The segments of a media playlist. They are too many for `status.outputs`; job.json lists them all. */
  segments: z.optional(z.object({ count: z.number(), bytes: z.number() })),
})
export type WrittenObject = z.infer<typeof writtenObjectSchema>

/** What the job delivers, for the usage of its account. */
export const usageReportSchema = z.object({
  /** Seconds of the source that were used: after cuts, all pieces together. null = unknown. */
  source_seconds: z.nullable(amount),
  /** Each rendition once, also if it is stored in several forms. */
  renditions: z
    .array(
      z.object({
        codec: z.string().check(z.regex(/^[a-z0-9_]{1,20}$/)),
        /** null = audio alone. */
        video: z.nullable(z.object({ width: z.number().check(z.gte(0)), height: z.number().check(z.gte(0)) })),
        copied: z.boolean(),
        seconds: amount,
      }),
    )
    .check(z.maxLength(1000)),
})
export type UsageReport = z.infer<typeof usageReportSchema>

export const finishPostSchema = z.object({
  /** Completed at the commit, before the objects that refer to them. */
  objects: z.array(finishedObjectSchema).check(z.maxLength(MAX_STILLS + 1000)),
  written: z._default(z.array(writtenObjectSchema).check(z.maxLength(1000)), []),
  warnings: z.array(warning).check(z.maxLength(200)),
  /** The final progress, so that the stored status is exact. */
  progress: progressPostSchema,
  usage: z.exactOptional(usageReportSchema),
  /** The job was divided, but this attempt made all of it: what its parts stored is not used. */
  undivided: z.exactOptional(z.literal(true)),
})
export type FinishPost = z.infer<typeof finishPostSchema>

/** Largest estimate that is stored with a job, in bytes of JSON. */
export const MAX_ESTIMATE_BYTES = 512 * 1024

/** The result of a successful dry run. */
export const estimatePostSchema = z.object({
  /** An `Estimate`. It is passed on unchanged, so only the transcoder knows its members. */
  estimate: z.record(z.string(), z.unknown()),
  warnings: z.array(warning).check(z.maxLength(200)),
  progress: progressPostSchema,
})
export type EstimatePost = Omit<z.infer<typeof estimatePostSchema>, 'estimate'> & { estimate: Estimate }

export const failPostSchema = z.object({
  /**
   * failed = an error of the job. interrupted = the transcoder is stopping and gives the task back. cancelled = after
   * the answer to a heartbeat.
   */
  reason: z.enum(['failed', 'interrupted', 'cancelled']),
  /** For people: why an interrupted attempt could not finish. */
  why: z.optional(z.string().check(z.maxLength(300))),
  error: z.optional(
    z.object({
      code: z.string().check(z.maxLength(64)),
      message: z.string().check(z.maxLength(2000)),
      field: z.optional(z.string().check(z.maxLength(200))),
      details: z.optional(z.record(z.string(), z.unknown())),
    }),
  ),
  warnings: z.optional(z.array(warning).check(z.maxLength(200))),
  /** CPU time of the whole attempt. */
  cpu_seconds: z.exactOptional(amount),
  bytes_read: z.exactOptional(amount),
})
export type FailPost = z.infer<typeof failPostSchema>

/**
 * Header with the source error that the task API answers with on `/task/:id/input` (`{"error": {"code": …}}`), in
 * addition to stale_attempt.
 */
export const SOURCE_ERROR_HEADER = 'x-source-error'

/**
 * A source that is an HLS playlist (`GET /task/:id/input` begins with `#EXTM3U`, and the provider is http) is read in
 * separate resources. The Worker reads the playlists and does not reveal any address:
 *
 * - `GET /task/:id/input/hls` → `HlsDescription`; repeated while `ended` is false
 * - `GET /task/:id/input/hls/<digest>/<track>/segments/<n>` and `…/maps/<n>` → the complete bytes of one resource, as
 *   the server has them (encrypted if `key` is a number)
 * - `GET /task/:id/input/hls/<digest>/keys/<n>` → 16 bytes, the key of AES-128 in CBC mode with PKCS#7 padding
 *
 * `<digest>` is `playlist_digest` of the description. If the playlists have another digest meanwhile, the answer is the
 * error `source_changed`.
 */
export interface HlsDescription {
  /** Digest of the playlists: changes with any change of their content. */
  playlist_digest: string
  /** False: a live event that is still running; segments will be added. */
  ended: boolean
  /** The longest segment, in seconds. */
  target_seconds: number
  /** The highest variant, followed by the audio renditions of its group. */
  tracks: HlsTrack[]
}
export interface HlsTrack {
  /** RFC 5646, from the playlist; null for the variant. */
  language: string | null
  /** Initialisation sections, numbered as in `HlsSegment.map`. */
  maps: HlsEncryption[]
  segments: HlsSegment[]
  /** All durations are whole numbers, as before version 3 (RFC 8216, 4.3.2.1). */
  integer_durations: boolean
}
interface HlsEncryption {
  /** Number of the key; null = not encrypted. */
  key: number | null
  /** 32 hexadecimal digits if there is a key. */
  iv: string | null
}
export interface HlsSegment extends HlsEncryption {
  seconds: number
  /** Timestamps or encoding parameters change here. */
  discontinuity: boolean
  /** Number of the initialisation section (fragmented MP4); null = none. */
  map: number | null
}

/** Maximum audio renditions of an HLS source: as many as `source_stream` can name. */
export const MAX_HLS_AUDIO = 8
/** The first characters of an HLS source; only a byte order mark may precede them (RFC 8216, 4.3.1.1). */
export const HLS_MAGIC = '#EXTM3U'
