// In charge of: the form of what a transcoder found out and reports beside its outputs, within bounds: the source, the media of
// an output, an attempt's log. The types and the answers come from the same schemas (dryRunEstimate.ts, mediaFacts.ts, answers.ts).
// Not in charge of: finding it out (transcoder), what a client is shown of it (status.ts, serveLog.ts).
import * as z from 'zod/mini'

/** A source of very many streams is told in part: its report is read with every line of a list. */
export const MAX_SOURCE_BYTES = 32 * 1024
export const MAX_SOURCE_STREAMS = 64
/** Of the still picture of a source. */
export const MAX_PREVIEW_BYTES = 1024 * 1024
/** Of one attempt's log, as JSON. */
export const MAX_LOG_BYTES = 256 * 1024
/** Attempts of a job whose logs are kept: the newest. */
export const MAX_LOGS = 5

const word = z.string().check(z.maxLength(200))
/** Beyond any duration, size or rate. */
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
