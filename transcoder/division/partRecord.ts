// In charge of: the record of a part of a divided job: what it stored, and what was measured in it. A later attempt puts
// the job together from the records alone.
// Not in charge of: filling it (recordParts.ts), its form on the way (recordEncoding.ts), putting parts together
// (assembleParts.ts).
import * as z from 'zod/mini'
import type { Warning } from '#contract/errors.ts'
import { finishedObjectSchema } from '#contract/task/protocol.ts'
import { warningCode } from '#contract/warningCodes.ts'
import type { ProbedRendition } from '../outputAnalysis/presentationAnalysis.ts'

const count = z.number().check(z.int(), z.gte(0))
/** A time in the source. May be a fraction, and before the beginning. */
const time = z.number()

/** An object that a part has stored. `uri`: below the directory of its track. */
const storedObject = z.object({ uri: z.string(), bytes: count, sha256: z.string() })

const recordedStreamSchema = z.object({
  /** Position in `packaging.renditions` of the plan of the whole job. */
  rendition: count,
  form: z.literal('cmaf'),
  /** What comes before the first segment. For a chunk it is the video before the chunk, otherwise nothing. */
  before: z.object({ segments: count, frames: count }),
  /** The header. Only the first chunk stores it; the header of every other chunk must have the same bytes. */
  init: storedObject,
  segments: z.array(
    z.object({
      ...storedObject.shape,
      start: z.number().check(z.int()),
      duration: count,
      frames: count,
      keys: z.array(z.object({ start: z.number().check(z.int()), offset: count, bytes: count })),
    }),
  ),
  timescale: count,
  codecs: z.array(z.string()),
  /** Bytes of coded media, without the container's overhead. */
  mediaBytes: count,
  /** Bytes by which a chunk is too long for a constant bitrate; missing = none. */
  overrun: z.optional(count),
  /** What a chunk asks of the decoder's buffer, in bits (formats/video/decoderBuffer.ts); missing = it was not measured. */
  demand: z.optional(z.object({ needed: z.number(), gain: z.number(), ceiling: z.number(), shortage: z.number() })),
  /** What ffprobe reports about the stream. Only the first chunk and the rest are probed. null = unknown. */
  probed: z.nullable(z.custom<ProbedRendition>((value) => typeof value === 'object' && value !== null)),
})
export type StreamRecord = z.infer<typeof recordedStreamSchema>

const eventCount = z.object({ count, seconds: z.readonly(z.array(time)) })
const damage = z.object({
  packets: eventCount,
  frames: eventCount,
  messages: z.extend(eventCount, { first: z.string() }),
  gaps: z.readonly(z.array(z.object({ seconds: time, lengthSeconds: time }))),
  formatChanges: z.optional(
    z.readonly(z.array(z.object({ seconds: time, stream: count, layout: z.string(), sampleRate: count }))),
  ),
  sizeChanges: z.optional(z.readonly(z.array(z.object({ seconds: time, width: count, height: count })))),
  rangeChanges: z.optional(z.readonly(z.array(time))),
  total: count,
})

const common = {
  version: z.literal(1),
  streams: z.array(recordedStreamSchema),
  /** What the commit has to complete: audio files, stills, the poster, very large segments. */
  objects: z.array(finishedObjectSchema),
  /** Times are those of the outputs. */
  damage,
  /** Warnings that are not in the plan already. */
  warnings: z.array(
    z.object({
      code: warningCode,
      field: z.optional(z.string()),
      message: z.string(),
    }) satisfies z.ZodMiniType<Warning>,
  ),
}

const chunkRecordSchema = z.object({
  kind: z.literal('chunk'),
  chunk: count,
  ...common,
  /** Source without an index: its bytes that were read in one piece, and the format of its pictures. */
  read: z.optional(z.object({ first: count, end: count, format: z.string() })),
})
export type ChunkRecord = z.infer<typeof chunkRecordSchema>

const restRecordSchema = z.object({
  kind: z.literal('rest'),
  ...common,
  captions: z.object({
    channels: z.array(
      z.object({
        channel: z.string(),
        cues: z.array(z.object({ start: time, end: time, text: z.string(), settings: z.string() })),
      }),
    ),
    isOverLimit: z.boolean(),
  }),
  /** As WebVTT, in the order of the plan. */
  subtitles: z.array(z.object({ text: z.string(), truncated: z.boolean() })),
  secondsBefore: time,
  /** Thumbnails; null = the job has none. */
  pictures: z.nullable(z.object({ sheets: z.array(storedObject), poster: storedObject })),
  /** Seconds of each audio file of the plan; null = not known. */
  audioFileSeconds: z.array(z.nullable(time)),
  /** Bytes of the source; null = not known. */
  sourceBytes: z.nullable(count),
  /** What single files are made of, in the order of `intermediateTracks`; missing = none. */
  tracks: z.optional(z.array(z.object({ name: z.string(), bytes: count, sha256: z.string() }))),
})
export type RestRecord = z.infer<typeof restRecordSchema>

/** The part found that one task has to make the job. */
const refusalSchema = z.object({
  kind: z.literal('refusal'),
  version: z.literal(1),
  /** The end of a sentence. */
  reason: z.string(),
})

export type PartRecord = ChunkRecord | RestRecord
export const partRecordSchema = z.discriminatedUnion('kind', [chunkRecordSchema, restRecordSchema, refusalSchema])
export type DeliveredRecord = z.infer<typeof partRecordSchema>
