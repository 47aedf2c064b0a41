// In charge of: the result of a dry run: the probed source, the plan, and the estimated time, size and cost.
// Not in charge of: computing it (transcoder/plan/estimate/estimateJob.ts), the route (worker/jobs/jobRoutes.ts). The
// service imports only the types.
import * as z from 'zod'
import { CAPTION_FORMATS } from '../captions.ts'
import { warning } from '../errors.ts'
import { sourceReportSchema as sourceFacts } from './reportSchemas.ts'
import { count, described } from '../schemaParts.ts'

export const sourceReport = described(sourceFacts, {
  formats: 'Names of the container, as reported by ffprobe.',
  bitrate_kbps: 'Bitrate of the whole file.',
  'video.width': 'Coded pixels, before rotation.',
  'video.rotation': 'Clockwise rotation, in degrees, for upright display.',
  'video.frame_rate': 'Frames per second as a fraction, "30000/1001"; null where unknown.',
  'video.scan': 'As measured in the frames that were examined.',
  'video.captions':
    'CEA-608/708 services in the first frames; empty, with `has_captions` true, if they could not be identified.',
  'audio.source_stream': 'The `source_stream` of an audio profile.',
  cues: 'null unless the job requests SCTE-35 passthrough.',
})
export type SourceReport = z.infer<typeof sourceReport>

/**
 * `likely` is a guess. The real value is between `low` and `high`, unless the source is unlike those that the model was
 * measured on.
 */
export const range = z.object({ low: z.number(), likely: z.number(), high: z.number() })
export type EstimateRange = z.infer<typeof range>

const plannedVideo = z.object({
  codec: z.string(),
  copied: z.boolean().optional().describe('The source’s video as it is; the other members then describe it.'),
  width: count,
  height: count,
  sample_aspect_ratio: z.string(),
  frame_rate: z.string().describe('A fraction, as "30000/1001".'),
  frames_per_second: z.number(),
  scan: z.string(),
  deinterlaced: z.boolean(),
  bitrate_mode: z.string(),
  bitrate_kbps: z.number(),
  max_kbps: z.number(),
  buffer_bits: z.number(),
  gop_frames: count,
  gop_seconds: z.number(),
  b_frames: count,
  captions: z.boolean(),
  logo: z.object({ x: z.number(), y: z.number(), width: count, height: count }).nullable(),
  picture: z
    .object({ width: count, height: count })
    .nullable()
    .describe('Size of the video inside its bars; null without bars.'),
})

export const fileReport = z.object({
  path: z.string(),
  content_type: z.string(),
  profile: z.int().nullable().describe('Position in `videoProfiles`; null for an audio file.'),
  description: z.array(z.string()).describe('A description of the output, one sentence for each aspect.'),
  video: plannedVideo.nullable().describe('null for an audio file.'),
  audio: z.array(
    z.object({
      codec: z.string(),
      copied: z.boolean().optional().describe('The source’s stream as it is.'),
      channels: count,
      bitrate_kbps: z.number(),
      sample_rate: count,
      source_stream: count,
      language: z.string().nullable(),
    }),
  ),
  output_bytes: range.nullable().describe('null if the duration of the source is unknown.'),
})
export type PlannedFile = z.infer<typeof fileReport>

const plannedCaptions = z.object({
  caption: count.describe('Position in `captions`.'),
  format: z.enum(CAPTION_FORMATS).describe('As found in the file.'),
  language: z.string().nullable(),
  label: z.string().describe('Empty = the name of the language.'),
  default: z.boolean(),
  forced: z.boolean(),
  hearing_impaired: z.boolean(),
  captions: count.describe('Captions within the outputs.'),
})

const burnedInCaptions = z
  .object({
    kind: z.enum(['text', 'bitmap']),
    caption: count.nullable().describe('Position in `captions`; null for a subtitle stream of the source.'),
    source_track: count.nullable().describe('The `source_track`; null for a caption file.'),
    captions: count.describe('Captions within the outputs.'),
  })
  .describe('The captions that are drawn into the video.')

/** `status.estimate`. Values are null if the source does not state its duration. */
export const estimate = z.object({
  version: z.literal(1),
  probe: sourceReport,
  plan: z.object({
    duration_seconds: z.number().nullable(),
    outputs: z.array(fileReport),
    captions: z.array(plannedCaptions).optional().describe('The tracks of caption files; missing without any.'),
    burn_in_captions: burnedInCaptions.optional(),
    division: z
      .object({
        chunks: count,
        chunk_seconds: z.number().describe('The longest chunk, in seconds of the outputs.'),
        chosen_by: z
          .enum(['request', 'prediction'])
          .optional()
          .describe(
            'request = `max_chunk_seconds` of the job. prediction = chunks that one transcoder is predicted to encode in about a minute, or in less if `deadline_seconds` asks for it. Missing in older dry runs.',
          ),
      })
      .optional()
      .describe('The chunks that several transcoders encode at once; missing = one task makes the whole job.'),
    deadline: z
      .object({
        seconds: z.number().describe('`deadline_seconds` of the job.'),
        predicted_seconds: z.number().describe('Until the end, if all transcoders that exist work on this job alone.'),
        slots: count.describe('How many exist, at most the `max_running` of the account.'),
        slots_needed: count
          .nullable()
          .describe('How many have to work on the job at the same time; null = no number is enough.'),
      })
      .optional()
      .describe(
        'By the likely prediction; missing without `deadline_seconds`, or if the length of the source is unknown.',
      ),
  }),
  predicted: z.object({
    wall_seconds: range
      .nullable()
      .describe('Time on `machine`, without the time in the queue, if source and store are as fast as the encoder.'),
    cpu_seconds: range.nullable().describe('CPU time in seconds.'),
    output_bytes: range.nullable(),
    cost_usd: range.nullable(),
    store_writes: count.nullable().describe('Number of write requests to the store.'),
    machine: z.object({ vcpus: z.number(), memory_gib: z.number(), disk_gb: z.number() }),
    prices: z
      .object({
        vcpu_second: z.number(),
        memory_gib_second: z.number(),
        disk_gb_second: z.number(),
        store_writes_per_million: z.number(),
      })
      .describe('The prices in US dollars from which `cost_usd` is computed.'),
  }),
  warnings: z.array(warning).describe('The warnings that the job would have.'),
})
export type Estimate = z.infer<typeof estimate>
