// In charge of: the schema of a job's status (specification 2.4) and of each output in it.
// Not in charge of: building it (publicStatus.ts). The service imports only the types.
import * as z from 'zod'
import { jobError, warning } from '../errors.ts'
import { estimate, sourceReport } from '../task/dryRunEstimate.ts'
import { MAX_QUEUE_POSITION } from '../limits.ts'
import { mediaFacts } from '../task/mediaFacts.ts'
import { count, time } from '../schemaParts.ts'

const phase = z.enum(['queued', 'starting', 'probing', 'transcoding', 'packaging', 'uploading', 'committing', 'done'])
export type JobPhase = z.infer<typeof phase>

export const publicOutput = z.object({
  path: z.string(),
  url: z
    .string()
    .nullable()
    .describe(
      'Where to download it without a key: a signed address of the service for its own store, elsewhere a presigned one of the store (for an hour, as long as the credentials are kept); null where there is none, and in lists.',
    ),
  location: z.string().describe('The address of the object in its store, in the form of its provider.'),
  size: count,
  sha256: z.string(),
  content_type: z.string(),
  profile: z
    .int()
    .nullable()
    .describe('Position in `videoProfiles` or `audioProfiles`; null where it belongs to several.'),
  role: z.string().describe('media, playlist, manifest, captions, poster, storyboard, tar or report.'),
  segments: z
    .object({ count, bytes: count })
    .describe('Of a media playlist: the number of its segments, and their total size.')
    .exactOptional(),
  media: z
    .nullable(mediaFacts)
    .describe('Measured in the finished output; null for what holds no media, such as a report.'),
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
  tcode_speed: z.string().describe('Times real time; "-1" until known.'),
  xfer_progress: z.string().describe('Percent.'),
  xfer_time: z.string().describe('Seconds.'),
  xfer_speed: z.string().describe('MB/s; "-1.0" until known.'),
  job_completed: z.boolean().describe('True in every terminal state; `error` tells failure from success.'),
  phase,
  error: jobError.nullable(),
  warnings: z.array(warning),
  outputs: z.array(publicOutput),
  dry_run: z.boolean().describe('Nothing is encoded or stored; the result is in `estimate`.'),
  estimate: estimate.nullable().describe('Of a dry run that ended well (docs/dry-run.md).'),
  source: z.nullable(sourceReport).describe('The source as it was probed; null until then.'),
  poster: poster
    .nullable()
    .describe('A still of the source; null until it was read, where it has no video, and with `preview: false`.'),
  archive_url: z
    .string()
    .nullable()
    .describe(
      'All objects of the job as one tar; null where they are not in the service’s own store, or not finished.',
    ),
  retry_of: z.int().nullable().describe('Number of the job that this one repeats.'),
  input_name: z.string().describe('What the source is called: an upload’s name, else the file’s in its address.'),
  queue_position: z
    .int()
    .nullable()
    .describe(`Queued jobs that stand before it; ${MAX_QUEUE_POSITION} = so many or more.`),
  failed_starts: z
    .object({ count: z.int().describe('In a row.'), next_try_at: time })
    .nullable()
    .describe('While the job waits because no transcoder could be started for it.'),
  waiting_for: z
    .object({ code: z.string(), message: z.string(), next_try_at: time })
    .nullable()
    .describe(
      'While the job waits for a source or a store that is away, or for whatever else ended its last attempt; `attempt.lost` has the same.',
    ),
  eta_seconds: z.number().nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
})
export type PublicStatus = z.infer<typeof jobStatus>
