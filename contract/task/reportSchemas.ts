// In charge of: the schemas of a transcoder's reports, within limits: the source, the media of an output, the log of an
// attempt. The types and the answers use the same schemas (dryRunEstimate.ts, mediaFacts.ts, answers.ts).
// Not in charge of: collecting the data (transcoder), what a client is shown (status.ts, serveLog.ts).
import * as z from 'zod/mini'

/** A source with very many streams is reported in part: the report is read together with every entry of a job list. */
export const MAX_SOURCE_BYTES = 32 * 1024
export const MAX_SOURCE_STREAMS = 64
/** For the preview image of a source. */
export const MAX_PREVIEW_BYTES = 1024 * 1024
/** For the log of one attempt, as JSON. */
export const MAX_LOG_BYTES = 256 * 1024
/** Attempts of a job whose logs are kept; the newest ones. */
export const MAX_LOGS = 5

const word = z.string().check(z.maxLength(200))
/** Larger than any duration, size or rate. */
export const MAX_AMOUNT = 1e15
const amount = z.number().check(z.gte(0), z.lte(MAX_AMOUNT))
const count = amount.check(z.int())
const language = z.nullable(word)

export const sourceReportSchema = z.object({
  formats: z.array(word).check(z.maxLength(MAX_SOURCE_STREAMS)),
  duration_seconds: z.nullable(amount),
  size_bytes: z.nullable(amount),
  bitrate_kbps: z.nullable(amount),
  video: z.nullable(
    z.object({
      codec: word,
      width: count,
      height: count,
      sample_aspect_ratio: word,
      rotation: z.number(),
      frame_rate: z.nullable(word),
      variable_frame_rate: z.boolean(),
      scan: z.enum(['progressive', 'interlaced', 'telecined']),
      field_order: word,
      pixel_format: word,
      transfer: word,
      primaries: word,
      matrix: word,
      hdr: z.boolean(),
      captions: z.array(word).check(z.maxLength(100)),
      has_captions: z.boolean(),
    }),
  ),
  audio: z
    .array(
      z.object({
        source_stream: count,
        codec: word,
        channels: count,
        channel_layout: z.nullable(word),
        sample_rate: count,
        language,
        dialnorm: z.nullable(z.number()),
        duration_seconds: z.nullable(amount),
      }),
    )
    .check(z.maxLength(MAX_SOURCE_STREAMS)),
  cues: z.nullable(z.object({ pids: z.array(count).check(z.maxLength(MAX_SOURCE_STREAMS)), splice_points: count })),
  other: z.array(z.object({ type: word, codec: word, language })).check(z.maxLength(MAX_SOURCE_STREAMS)),
})

export const mediaFactsSchema = z.object({
  duration_seconds: amount,
  average_bitrate_kbps: amount,
  peak_bitrate_kbps: amount,
  video: z.nullable(
    z.object({
      codec: word,
      codec_string: z.nullable(word),
      width: count,
      height: count,
      display_aspect_ratio: word,
      frame_rate: word,
      frames_per_second: amount,
      scan: z.enum(['progressive', 'interlaced']),
      dynamic_range: z.enum(['sdr', 'hdr10', 'hlg']),
      bitrate_kbps: amount,
    }),
  ),
  audio: z
    .array(z.object({ codec: word, channels: count, sample_rate: count, bitrate_kbps: amount, language }))
    .check(z.maxLength(64)),
  captions: z.array(z.object({ kind: z.enum(['embedded', 'webvtt']), name: word, language })).check(z.maxLength(200)),
  renditions: z.exactOptional(
    z
      .array(
        z.object({
          path: z.string().check(z.maxLength(1024)),
          width: count,
          height: count,
          average_bitrate_kbps: amount,
          peak_bitrate_kbps: amount,
        }),
      )
      .check(z.maxLength(32)),
  ),
})

/** One attempt of `GET /api/v0/job/<id>/log`. */
export const attemptLogSchema = z.object({
  engine: z.nullable(word),
  commands: z
    .array(
      z.object({
        purpose: word,
        command: z.string().check(z.maxLength(64 * 1024)),
        seconds: amount,
        exit_code: z.nullable(z.number().check(z.int())),
      }),
    )
    .check(z.maxLength(500)),
  lines: z
    .array(
      z.object({
        time: z.iso.datetime(),
        level: z.enum(['info', 'warn', 'error']),
        message: z.string().check(z.maxLength(8 * 1024)),
      }),
    )
    .check(z.maxLength(5000)),
})
export type AttemptLog = z.infer<typeof attemptLogSchema>
