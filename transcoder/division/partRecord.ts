// In charge of: the record of a part of a divided job: the objects that it stored for the last attempt, and what was
// measured in them; its form as one message of the task API, which limits its size.
// Not in charge of: filling it (recordParts.ts), copying the objects into the outputs (joinParts.ts).
import * as z from 'zod/mini'
import type { Warning } from '#contract/errors.ts'
import { finishedObjectSchema, MAX_PART_RECORD_BYTES } from '#contract/task/protocol.ts'
import { warningCode } from '#contract/warningCodes.ts'
import { gunzipSync, gzipSync } from 'node:zlib'
import { TaskError } from '#contract/taskError.ts'
import { UnlikeChunks } from './unlikeChunks.ts'

const count = z.number().check(z.int(), z.gte(0))
/** A time in the source. May be a fraction, and before the beginning. */
const time = z.number()

/** An object that is not an output (upload/workObjects.ts). */
const workObject = z.object({ name: z.string(), bytes: count, sha256: z.string() })

const recordedStreamSchema = z.object({
  /** Position in `packaging.renditions` of `encodedSegments`. */
  rendition: count,
  /** The video before the chunk. */
  before: z.object({ segments: count, frames: count }),
  /** The header. Only the first chunk stores it; the header of every other chunk must have the same bytes. */
  init: workObject,
  segments: z.array(
    z.object({
      ...workObject.shape,
      start: z.number().check(z.int()),
      duration: count,
      frames: count,
    }),
  ),
  timescale: count,
  codecs: z.array(z.string()),
  /** Bytes by which a chunk is too long for a constant bitrate; missing = none. */
  overrun: z.optional(count),
  /** What a chunk asks of the decoder's buffer, in bits (formats/video/decoderBuffer.ts); missing = it was not measured. */
  demand: z.optional(z.object({ needed: z.number(), gain: z.number(), ceiling: z.number(), shortage: z.number() })),
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
  streams: z.array(recordedStreamSchema),
  /** Source without an index: its bytes that were read in one piece, and the format of its pictures. */
  read: z.optional(z.object({ first: count, end: count, format: z.string() })),
})
export type ChunkRecord = z.infer<typeof chunkRecordSchema>

const restRecordSchema = z.object({
  kind: z.literal('rest'),
  ...common,
  /** What the commit has to complete: audio files, stills, the preview, the waveform. */
  objects: z.array(finishedObjectSchema),
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
  pictures: z.nullable(z.object({ sheets: z.array(workObject), poster: workObject })),
  /** Seconds of each audio file of the plan; null = not known. */
  audioFileSeconds: z.array(z.nullable(time)),
  /** Bytes of the source; null = not known. */
  sourceBytes: z.nullable(count),
  /** The audio of the outputs, in the order of `intermediateTracks`. */
  tracks: z.array(workObject),
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

/** Content of a record before compression. Names and times of segments are alike: a record becomes five times smaller. */
const MAX_CONTENT_BYTES = 512 * 1024 * 1024
/** Bytes for the other members of the message. */
const MESSAGE_BYTES = 256 * 1024

/**
 * The member `record` of `DeliverPost`. Compressed: the segments of a day of audio would otherwise exceed the limit with
 * one track. Throws output_too_large.
 */
export function encodePartRecord(record: DeliveredRecord): Record<string, unknown> {
  const gzip = gzipSync(JSON.stringify(record)).toString('base64')
  if (gzip.length > MAX_PART_RECORD_BYTES - MESSAGE_BYTES)
    throw new TaskError('output_too_large', 'The job has too many segments to be divided.')
  return { gzip }
}

/** Reads what `encodePartRecord` made. Throws internal; UnlikeChunks, if the part found that one task has to make the job. */
export function decodePartRecord(encoded: unknown): PartRecord {
  const record = decodeRecord(encoded)
  if (record.kind === 'refusal') throw new UnlikeChunks(record.reason)
  return record
}

function decodeRecord(encoded: unknown): DeliveredRecord {
  try {
    const { gzip } = encoded as { gzip: string }
    const text = gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: MAX_CONTENT_BYTES }).toString('utf8')
    return partRecordSchema.parse(JSON.parse(text))
  } catch (error) {
    throw new TaskError('internal', 'The record of a part of this job cannot be read.', { cause: error })
  }
}
