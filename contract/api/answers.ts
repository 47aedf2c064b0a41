// In charge of: the schemas of answers about jobs, shares, presets and uploads. The Worker, the client, the dashboard
// and the OpenAPI document all use them.
// Not in charge of: the status of a job (status.ts), administration (administration.ts). The service imports only the
// types.
import * as z from 'zod'
import { warning } from '../errors.ts'
import { attemptLogSchema } from '../task/reportSchemas.ts'
import type { JobConfig } from '../job/jobConfig.ts'
import { count, described, id, time } from '../schemaParts.ts'
import { jobStatus } from './status.ts'

/** Included in every answer that names a job. */
const namedJob = z.object({
  _auto_generated_id_: id,
  job_id: z.string(),
  cloud: z.string().describe('Kind of the store for its outputs.'),
  updated_at: time,
  status: jobStatus,
})
const metadata = z.record(z.string(), z.string())

export const created = namedJob.extend({
  dry_run: z.literal(true).exactOptional(),
  retry_of: id.describe('Number of the job that this one retries.').exactOptional(),
  warnings: z.array(warning),
})
export type Created = z.infer<typeof created>

/** Validated when the job was created. Members that the service does not know are kept. */
export const jobConfig = z.custom<JobConfig>((value) => typeof value === 'object' && value !== null)

export const jobRead = z.object({
  status: jobStatus,
  config: jobConfig.describe('As stored: with defaults, without secrets.'),
})
export type JobRead = z.infer<typeof jobRead>

export const listedJob = namedJob.extend({
  input: z.string().describe('Of a job with `inputs`: the first of them.'),
  inputs: z.array(z.string()).describe('The addresses of all sources, if the job has `inputs`.').exactOptional(),
  metadata: metadata.describe('As given when the job was created; {} if none was given.'),
})
export type ListedJob = z.infer<typeof listedJob>

const nextCursor = z.string().nullable().describe('null on the last page.')

export const jobList = z.object({
  jobs: z.array(listedJob),
  next_cursor: nextCursor,
  counts: z
    .object({ queued: count, running: count })
    .optional()
    .describe('With `counts=true`: the account’s jobs that have not ended, whatever the other conditions.'),
})
export type JobList = z.infer<typeof jobList>

/** One entry of `GET /job/<id>/events`, and the `data` of a Server-Sent Event of the same name. */
export const publicEvent = z.object({
  id: id.describe('In the order in which they happened.'),
  type: z.enum([
    'job.created',
    'attempt.started',
    'job.planned',
    'job.surveying',
    'job.divided',
    'job.assembling',
    'attempt.start_failed',
    'attempt.lost',
    'attempt.evicted',
    'job.committing',
    'job.completed',
    'job.failed',
    'job.cancelled',
  ]),
  at: time,
  attempt: count.nullable(),
  part: count.nullable().describe('Of a lost attempt at a part of a divided job: its position in `status.chunks.map`.'),
  slot: count.nullable(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      field: z.string().exactOptional(),
      details: z.record(z.string(), z.unknown()).exactOptional(),
    })
    .nullable(),
  message: z.string(),
})
export type PublicEvent = z.infer<typeof publicEvent>

export const eventList = z.object({ events: z.array(publicEvent), job_completed: z.boolean() })
export type EventList = z.infer<typeof eventList>

/** What the transcoder did in each attempt. It contains no secrets. */
export const jobLog = z.object({
  attempts: z
    .array(
      z.object({
        attempt: id,
        ...described(attemptLogSchema, {
          engine: 'Version of the ffmpeg that ran.',
          'commands.command': 'Quoted for a shell; the source is an address on the transcoder itself.',
          'commands.exit_code': 'null if the process was ended by a signal.',
        }).shape,
      }),
    )
    .describe('The newest messages, oldest first.'),
})
export type JobLog = z.infer<typeof jobLog>

/** One webhook of a job, with each attempt to deliver it. */
export const delivery = z.object({
  id: z.string(),
  event: z.enum(['job.completed', 'job.failed', 'job.cancelled']),
  state: z.enum(['pending', 'delivered', 'failed']),
  tries: count,
  created_at: time,
  next_try_at: time.nullable(),
  attempts: z.array(
    z.object({ at: time, status: count.nullable(), error: z.string().nullable(), milliseconds: count }),
  ),
})
export type Delivery = z.infer<typeof delivery>

export const deliveryList = z.object({ deliveries: z.array(delivery) })
export type DeliveryList = z.infer<typeof deliveryList>

/** A page that plays the outputs of a job. Everyone who has its address can open it. */
export const share = z.object({
  share_id: z.string(),
  url: z.string().describe('Address of the page. It works without a key until `expires_at`, or until it is revoked.'),
  embed_url: z.string().describe('Address of the player alone, to embed in other pages.'),
  embed_html: z.string().describe('An iframe with the embedded player, ready to paste.'),
  title: z.string(),
  has_password: z.boolean().describe('Viewers must enter a password.'),
  created_at: time,
  expires_at: time,
})
export type Share = z.infer<typeof share>

export const shareList = z.object({ shares: z.array(share) })
export type ShareList = z.infer<typeof shareList>

/** The data of the share page: `GET /s/<token>/data`. All addresses are signed and need no key. */
export const sharedMedia = z.object({
  title: z.string(),
  poster_url: z.string().nullable(),
  aspect_ratio: z.number().nullable().describe('Width divided by height of the video as displayed.'),
  duration_seconds: z.number().nullable(),
  sources: z
    .array(
      z.object({ kind: z.enum(['hls', 'dash', 'file']), url: z.string(), content_type: z.string(), label: z.string() }),
    )
    .describe('The outputs that a browser can play, best first.'),
  storyboard_url: z.string().nullable().describe('Address of the WebVTT file with the thumbnails of the seek bar.'),
  captions: z.array(z.object({ url: z.string(), language: z.string().nullable(), label: z.string() })),
  downloads: z
    .array(z.object({ url: z.string(), name: z.string(), size: count, content_type: z.string() }))
    .describe('Outputs that are single files, including those that browsers cannot play.'),
  expires_at: time.describe('When the page expires.'),
  addresses_expire_at: time.describe('When the addresses expire; request this document again for new ones.'),
})
export type SharedMedia = z.infer<typeof sharedMedia>

/** The body of POST /api/v0/job, without the members that differ from job to job (validatePreset.ts). */
export const presetJob = z.record(z.string(), z.unknown())

/** Named settings for jobs, without source and credentials. */
export const preset = z.object({
  preset_id: z.string(),
  name: z.string(),
  description: z.string(),
  built_in: z.boolean().describe('true = built in; it cannot be changed.'),
  job: presetJob,
  updated_at: time.nullable().describe('null for built-in presets.'),
})
export type Preset = z.infer<typeof preset>

export const presetList = z.object({ presets: z.array(preset).describe('Built-in presets first.') })
export type PresetList = z.infer<typeof presetList>

/** Permission to upload, for a page that must not know an API key. */
export const uploadToken = z.object({
  token_id: z.string().describe('Id of the token, to list its uploads and to revoke it. It gives no access.'),
  token: z.string().describe('Returned only once, in this answer.'),
  upload_url: z.string().describe('Address to which the page sends the file.'),
  name: z.string(),
  max_bytes: count.describe('Maximum size of each file.'),
  max_files: count,
  expires_at: time,
})
export type UploadToken = z.infer<typeof uploadToken>

const namedUpload = z.object({
  uploaded_file_number: id,
  input: z.string().describe('The value for `input` of a job that uses this upload.'),
  name: z.string(),
})

export const upload = namedUpload.extend({ size: count.describe('Bytes.'), expires_at: time })
export type Upload = z.infer<typeof upload>

export const listedUpload = namedUpload.extend({
  content_type: z.string(),
  size: count.nullable().describe('Bytes; null while the file is being received in a single request.'),
  received: count.nullable().describe('Bytes that are already stored.'),
  state: z.enum(['receiving', 'ready']),
  token: z
    .object({ token_id: z.string(), name: z.string() })
    .nullable()
    .describe('The upload token that was used; null = an API key.'),
  last_job: z
    .object({
      id,
      state: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
      poster_url: z.string().nullable(),
    })
    .nullable()
    .describe('The newest job that reads it; null = none, or it was deleted.'),
  created_at: time,
  expires_at: time,
})
export type ListedUpload = z.infer<typeof listedUpload>

export const uploadList = z.object({ uploads: z.array(listedUpload), next_cursor: nextCursor })
export type UploadList = z.infer<typeof uploadList>
