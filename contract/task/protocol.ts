// In charge of: the messages between the Worker's task door and the transcoder.
// Not in charge of: what either side does with them.
import * as z from 'zod/mini'
import type { Estimate } from './dryRunEstimate.ts'
import { mediaFactsSchema, sourceReportSchema } from './reportSchemas.ts'
import type { JobConfig } from '../job/jobConfig.ts'
import type { TaskKind } from './lifecycle.ts'
import { taskPlanSchema } from './planSchema.ts'
import type { JobSpec } from '../job/jobSpec.ts'
import { warningCode } from '../warningCodes.ts'

/** Raised when a message changes shape. Old and new versions meet during a rollout, so the door accepts every version in `SUPPORTED_PROTOCOLS`. */
export const TASK_PROTOCOL = 1
/**
 * Spoken for dry runs only. A transcoder of before would take such a task for a transcode and write outputs: it refuses this
 * number instead (`/run` answers 400), and the task waits until a newer one is there.
 */
const DRY_RUN_PROTOCOL = 2
/** Spoken for jobs that are settled by their source: a transcoder of before would plan them without rungs, or fail them. */
const SOURCE_DEPENDENT_PROTOCOL = 3
export const SUPPORTED_PROTOCOLS: readonly number[] = [TASK_PROTOCOL, DRY_RUN_PROTOCOL, SOURCE_DEPENDENT_PROTOCOL]

type SourceDependentFields = Partial<Pick<JobConfig, 'ladder' | 'allow_upscaling'>> & {
  audioProfiles?: { optional?: boolean | undefined }[]
}

/** `config`: what the job asks for, as far as it may need a newer transcoder. */
export function requiredProtocol(kind: TaskKind, config: SourceDependentFields = {}): number {
  const { ladder, allow_upscaling: upscaling, audioProfiles = [] } = config
  if (ladder !== undefined || upscaling === false || audioProfiles.some(({ optional }) => optional === true))
    return SOURCE_DEPENDENT_PROTOCOL
  return kind === 'plan' ? DRY_RUN_PROTOCOL : TASK_PROTOCOL
}

/** The largest body that one request to the door may carry, in bytes (a Worker accepts 100 MB on the lowest plan). */
export const MAX_TASK_BODY_BYTES = 32 * 1024 * 1024
/** The smallest size of a part but the last: 5 MiB on S3 and R2, kept at 8 MiB. */
export const MIN_PART_BYTES = 8 * 1024 * 1024
/** Parts that one object may have on S3 and R2. */
export const MAX_PARTS = 10_000
export const HEARTBEAT_MS = 1000

/** What `POST /run` on a transcoder carries. `door` is the base address of the Worker, without a slash at its end. */
export const runRequestSchema = z.object({
  protocol: z.number(),
  task_id: z.string().check(z.regex(/^[a-z0-9-]{1,80}$/)),
  attempt: z.number().check(z.int(), z.positive()),
  token: z.string().check(z.minLength(1), z.maxLength(1000)),
  taskApi: z.url(),
})
export type RunRequest = z.infer<typeof runRequestSchema>

/** Answer of `GET /task/:id`. It carries no credential. */
export interface TaskDescription {
  protocol: number
  task_id: string
  job_id: string
  attempt: number
  /** plan = a dry run: it ends with `/estimate`, and the door takes no upload of it. */
  kind: TaskKind
  /** As stored, for `job.json` alone. Transcoders of before `spec` translate it themselves. */
  config: JobConfig
  /** What the attempt does. Absent in answers of older Workers, as its version is. */
  spec?: JobSpec
  spec_version?: number
  /** The plan that an earlier attempt stored; a later attempt follows it. */
  plan: unknown
  /** Name of the source without its directory, for derived output names. */
  input_name: string
  /** Milliseconds that this attempt may take before the service gives up on it. */
  max_attempt_ms: number
  /** What the service still takes beside the outputs. Absent in answers of older ones: they take none of it. */
  takes?: {
    /** `POST /task/:id/source` → `SourcePost`. */
    source: boolean
    /** `PUT /task/:id/preview`: one JPEG of the source. */
    preview: boolean
    /** `PUT /task/:id/log` → `AttemptLog`, each time whole; also when the attempt is over. */
    log: boolean
    /** Tracks of the source's text subtitles (`captions/sub_0/…`). */
    subtitles?: boolean
  }
}

/** Where an attempt stands. Fractions are 0…1 and never go back within an attempt. */
export const progressPostSchema = z.object({
  phase: z.enum(['starting', 'probing', 'transcoding', 'packaging', 'uploading']),
  transcoded: z.number().check(z.gte(0), z.lte(1)),
  /** Seconds of wall time spent encoding so far. */
  transcode_seconds: z.number().check(z.gte(0)),
  /** Multiple of real time; null until known. */
  speed: z.nullable(z.number().check(z.gte(0))),
  bytes_produced: z.number().check(z.gte(0)),
  bytes_stored: z.number().check(z.gte(0)),
  /** Seconds during which at least one transfer was under way. */
  transfer_seconds: z.number().check(z.gte(0)),
  eta_seconds: z.nullable(z.number().check(z.gte(0))),
})
export type ProgressPost = z.infer<typeof progressPostSchema>

/** continue; cancel = the job was cancelled; stop = this attempt is no longer the current one. */
export type ProgressReply = { verdict: 'continue' | 'cancel' | 'stop' }

const outputPath = z.string().check(z.minLength(1), z.maxLength(1024))
/** Which types an object may have, its place says (allowedOutputs.ts); a header of its own it never makes. */
const contentType = z.string().check(z.regex(/^[a-z0-9.+-]{1,50}\/[a-z0-9.+-]{1,50}$/))

/**
 * Characters of an upload's handle: the path and the store's own id of the upload, as JSON in base64url. A path has 1,024
 * bytes at most, twice that where each is to be escaped; stores' ids were seen with some 250 characters. It is a part of an address, and some servers take no more than 16 KiB of headers.
 */
export const MAX_UPLOAD_HANDLE = 12 * 1024

const warning = z.object({
  code: warningCode,
  field: z.optional(z.string().check(z.maxLength(200))),
  message: z.string().check(z.maxLength(2000)),
})

/** The plan as JSON: it goes into one row of the ledger, which holds 2 MB. */
export const MAX_PLAN_BYTES = 1_500_000

export const planPostSchema = z.object({
  plan: taskPlanSchema,
  warnings: z.array(warning).check(z.maxLength(200)),
})
export type PlanPost = z.infer<typeof planPostSchema>

/** The source as it was probed: told before anything is planned, so that it is known as well where planning fails. */
export const sourcePostSchema = z.object({ source: sourceReportSchema })
export type SourcePost = z.infer<typeof sourcePostSchema>

export const uploadRequestSchema = z.object({
  path: outputPath,
  content_type: contentType,
  /** Upper estimate in bytes; decides the part size, which is the same for every part but the last. */
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

/** `storyboard`: the WebVTT that says which small picture belongs to which second. */
const role = z.enum(['media', 'playlist', 'manifest', 'captions', 'poster', 'storyboard', 'tar', 'report'])

/** One object of the commit record. `parts` are in order, 1-based and complete. */
export const finishedObjectSchema = z.object({
  path: outputPath,
  upload: z.string().check(z.minLength(1), z.maxLength(MAX_UPLOAD_HANDLE)),
  size: z.number().check(z.gte(1)),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  content_type: contentType,
  parts: z
    .array(z.object({ n: z.number().check(z.int(), z.positive()), etag: z.string().check(z.maxLength(200)) }))
    .check(z.minLength(1), z.maxLength(MAX_PARTS)),
  profile: z.nullable(z.number()),
  role,
  /** Measured in what was written; absent for what holds no media, and from older transcoders. */
  media: z.optional(mediaFactsSchema),
})
export type FinishedObject = z.infer<typeof finishedObjectSchema>

/**
 * An object whose whole content comes with `finish`: playlists, manifests, job.json. Put at the commit: every media playlist
 * (stage 1) before what points at it (stage 2).
 */
export const writtenObjectSchema = z.object({
  path: outputPath,
  content_type: contentType,
  profile: z.nullable(z.number()),
  role,
  media: z.optional(mediaFactsSchema),
  body: z.string().check(z.minLength(1), z.maxLength(8 * 1024 * 1024)),
  stage: z.literal([1, 2]),
  /** The segments that a media playlist stands for: they are too many for `status.outputs`; job.json lists them all. */
  segments: z.optional(z.object({ count: z.number(), bytes: z.number() })),
})
export type WrittenObject = z.infer<typeof writtenObjectSchema>

export const finishPostSchema = z.object({
  /** Completed at the commit, before anything that points at them. */
  objects: z.array(finishedObjectSchema).check(z.maxLength(1000)),
  written: z._default(z.array(writtenObjectSchema).check(z.maxLength(1000)), []),
  warnings: z.array(warning).check(z.maxLength(200)),
  /** Last figures, so that the stored status is exact. */
  progress: progressPostSchema,
})
export type FinishPost = z.infer<typeof finishPostSchema>

/** The largest estimate that a job keeps, in bytes of JSON. */
export const MAX_ESTIMATE_BYTES = 512 * 1024

/** How a dry run ends well. */
export const estimatePostSchema = z.object({
  /** An `Estimate`: shown as it is, so only the transcoder knows its inside. */
  estimate: z.record(z.string(), z.unknown()),
  warnings: z.array(warning).check(z.maxLength(200)),
  progress: progressPostSchema,
})
export type EstimatePost = Omit<z.infer<typeof estimatePostSchema>, 'estimate'> & { estimate: Estimate }

export const failPostSchema = z.object({
  /** failed = the job's problem; interrupted = the transcoder is stopping and gives the task back; cancelled = as told by a heartbeat. */
  reason: z.enum(['failed', 'interrupted', 'cancelled']),
  error: z.optional(
    z.object({
      code: z.string().check(z.maxLength(64)),
      message: z.string().check(z.maxLength(2000)),
      field: z.optional(z.string().check(z.maxLength(200))),
      details: z.optional(z.record(z.string(), z.unknown())),
    }),
  ),
  warnings: z.optional(z.array(warning).check(z.maxLength(200))),
})
export type FailPost = z.infer<typeof failPostSchema>

/** Errors of the source that the door answers with on `/task/:id/input` (`{"error": {"code": …}}`), beside stale_attempt. */
export const SOURCE_ERROR_HEADER = 'x-source-error'

/**
 * A source that is an HLS playlist (`GET /task/:id/input` begins with `#EXTM3U`, the input's provider is http) is read in
 * pieces. The Worker reads the playlists and keeps every address to itself:
 *
 * - `GET /task/:id/input/hls` → `HlsDescription`, again and again while `ended` is false;
 * - `GET /task/:id/input/hls/<pin>/<track>/segments/<n>` and `…/maps/<n>` → the bytes of one piece, whole, as the server has
 *   them (encrypted where `key` is a number);
 * - `GET /task/:id/input/hls/<pin>/keys/<n>` → 16 bytes, the key of AES-128 in CBC mode with PKCS#7 padding.
 *
 * Another `pin` than the description's, or playlists that have changed since: `source_changed`.
 */
export interface HlsDescription {
  pin: string
  /** False: an event that still runs; segments will be added. */
  ended: boolean
  /** The longest segment, in seconds. */
  target_seconds: number
  /** The highest variant, and the audio renditions of its group behind it. */
  tracks: HlsTrack[]
}
export interface HlsTrack {
  /** RFC 5646, as the playlist says it; null for the variant. */
  language: string | null
  /** Initialisation sections, numbered as `HlsSegment.map` does. */
  maps: HlsEncryption[]
  segments: HlsSegment[]
  /** All durations are written as whole numbers, as before version 3 (RFC 8216, 4.3.2.1). Missing in older answers. */
  rounds?: boolean
}
interface HlsEncryption {
  /** Number of the key; null = in clear. */
  key: number | null
  /** 32 hexadecimal digits, where there is a key. */
  iv: string | null
}
export interface HlsSegment extends HlsEncryption {
  seconds: number
  /** Clock or coding begin anew here. */
  discontinuity: boolean
  /** Number of the initialisation section (fragmented MP4); null = none. */
  map: number | null
}

/** Audio renditions of one HLS source: as many as `source_stream` can name. */
export const MAX_HLS_AUDIO = 8
/** What an HLS source begins with, behind a byte order mark at most (RFC 8216, 4.3.1.1). */
export const HLS_MAGIC = '#EXTM3U'
