// In charge of: what the assembling attempt needs to know of the source, which it does not read: the rest of the job finds
// it, and delivers it with its record.
// Not in charge of: the record (division/partRecord.ts).
import { gunzipSync, gzipSync } from 'node:zlib'
import { TaskError } from '#contract/taskError.ts'
import type { Cue } from '../formats/scte35/cueScan.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

export interface SourceFacts {
  /** The source with the cut. */
  used: MediaInfo
  /** The time in the source at which the outputs begin. */
  startSeconds: number
  /** The cues of the outputs. */
  cues: readonly Cue[]
}

/** A member of the record's message that is the transcoder's own. */
export const SOURCE_MEMBER = 'source'
/** Cues of a day, and what ffprobe reports about a source. */
const MAX_BYTES = 256 * 1024 * 1024

export function encodeSourceFacts({ used, startSeconds, cues }: SourceFacts): string {
  const sections = cues.map((cue) => ({ ...cue, section: Buffer.from(cue.section).toString('base64') }))
  return gzipSync(JSON.stringify({ used, startSeconds, cues: sections })).toString('base64')
}

/** Throws internal. */
export function decodeSourceFacts(message: unknown): SourceFacts {
  try {
    const encoded = (message as Record<string, string>)[SOURCE_MEMBER]!
    const text = gunzipSync(Buffer.from(encoded, 'base64'), { maxOutputLength: MAX_BYTES }).toString('utf8')
    const { used, startSeconds, cues } = JSON.parse(text) as Omit<SourceFacts, 'cues'> & {
      cues: (Omit<Cue, 'section'> & { section: string })[]
    }
    const read = cues.map((cue) => ({ ...cue, section: new Uint8Array(Buffer.from(cue.section, 'base64')) }))
    return { used, startSeconds, cues: read }
  } catch (error) {
    throw new TaskError('internal', 'What a part of this job says of the source cannot be read.', { cause: error })
  }
}
