// In charge of: the schema of a job's status (specification 2.4) and of each output in it.
// Not in charge of: building it (publicStatus.ts). The service imports only the types.
import * as z from 'zod'
import { statusError, warning } from '../errors.ts'
import { estimate, sourceReport } from '../task/dryRunEstimate.ts'
import { MAX_QUEUE_POSITION } from '../limits.ts'
import { mediaFacts } from '../task/mediaFacts.ts'
import { count, time } from '../schemaParts.ts'

const phase = z.enum([
  'queued',
  'starting',
  'probing',
  'sampling',
  'transcoding',
  'packaging',
  'uploading',
  'committing',
  'done',
])
export type JobPhase = z.infer<typeof phase>

export const publicOutput = z.object({
  path: z.string(),
  url: z
    .string()
    .nullable()
    .describe(
      'Download address that needs no key: a signed address of the service for its own store, otherwise a presigned address of your store (valid for one hour, available while the credentials are stored); null if there is none, and in lists.',
    ),
  location: z.string().describe('The address of the object in its store, in the provider’s form.'),
  size: count,
  sha256: z.string(),
  content_type: z.string(),
  profile: z
    .int()
    .nullable()
    .describe('Position in `videoProfiles` or `audioProfiles`; null if the object belongs to several profiles.'),
  role: z
    .string()
    .describe('media, playlist, manifest, captions, poster, storyboard, still, preview, waveform, tar or report.'),
  segments: z
    .object({ count, bytes: count })
    .describe('For a media playlist: number and total size of its segments.')
    .exactOptional(),
  media: z
    .nullable(mediaFacts)
    .describe('Measured in the finished output; null for objects without media, such as a report.'),
})
export type PublicOutput = z.infer<typeof publicOutput>

/** Always kept in the service's own store, wherever the outputs go. */
export const poster = z.object({
  url: z.string().describe('JPEG; signed, needs no key.'),
  width: count,
  height: count,
})
export type Poster = z.infer<typeof poster>

export const jobStatus = z.object({
  job_id: z.string(),
  // "ready" before the start and after success; both were observed (specification 3).
  state: z.enum(['ready', 'running', 'error', 'cancelled']),
  tcode_progress: z.string().describe('Percent.'),
  tcode_time: z.string().nullable().describe('Seconds.'),
  tcode_speed: z.string().describe('As a multiple of real time; "-1" until known.'),
  xfer_progress: z.string().describe('Percent.'),
  xfer_time: z.string().describe('Seconds.'),
  xfer_speed: z.string().describe('MB/s; "-1.0" until known.'),
  job_completed: z.boolean().describe('True when the job has ended; `error` tells whether it failed.'),
  phase,
  error: statusError.nullable(),
  warnings: z.array(warning),
  outputs: z.array(publicOutput),
  dry_run: z.boolean().describe('Nothing is encoded or stored; the result is in `estimate`.'),
  estimate: estimate.nullable().describe('The result of a successful dry run (docs/dry-run.md).'),
  source: z.nullable(sourceReport).describe('The source as probed; null before that.'),
  poster: poster
    .nullable()
    .describe(
      'A still image of the source; null until the source was read, if it has no video, and with `preview: false`.',
    ),
  archive_url: z
    .string()
    .nullable()
    .describe(
      'Address of a tar archive of all outputs; null until the job is completed, and if the outputs are not in the service’s own store.',
    ),
  retry_of: z.int().nullable().describe('Number of the job that this one retries.'),
  input_name: z
    .string()
    .describe('Name of the source: the name of the upload, otherwise the file name in the address.'),
  queue_position: z
    .int()
    .nullable()
    .describe(`Number of queued jobs before this one; ${MAX_QUEUE_POSITION} means that many or more.`),
  failed_starts: z
    .object({ count: z.int().describe('In a row.'), code: z.string(), message: z.string(), next_try_at: time })
    .nullable()
    .describe(
      'Set while the job waits because no transcoder could be started for it, with the most recent published reason.',
    ),
  waiting_for: z
    .object({ code: z.string(), message: z.string(), next_try_at: time })
    .nullable()
    .describe(
      'Set while the job waits after a failed attempt, for example because its source or store is unavailable; the event `attempt.lost` has the same error.',
    ),
  chunks: z
    .object({
      total: z.int(),
      completed: z.int(),
      running: z.int(),
      map: z
        .string()
        .describe(
          'One letter per task: the chunks of the video in order, then the task that makes everything else. `.` waiting, `r` running, `c` completed, `f` failed, `x` cancelled.',
        ),
    })
    .nullable()
    .describe('The tasks into which the job is divided; null if it is not.'),
  eta_seconds: z.number().nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
})
export type PublicStatus = z.infer<typeof jobStatus>
