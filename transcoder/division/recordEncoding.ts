// In charge of: the record of a part as one message of the task API, which limits its size.
// Not in charge of: its content (partRecord.ts).
import { gunzipSync, gzipSync } from 'node:zlib'
import { MAX_PART_RECORD_BYTES } from '#contract/task/protocol.ts'
import { TaskError } from '#contract/taskError.ts'
import { partRecordSchema, type DeliveredRecord, type PartRecord } from './partRecord.ts'
import { UnlikeChunks } from './unlikeChunks.ts'

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
