// In charge of: the end of a divided job's video, with which its audio is cut: another part makes it.
// Not in charge of: cutting (segmenter/cutters), waiting (jobRecords.ts).
import type { Attempt } from '../../attempt.ts'
import { videoOf } from '../../division/joinChunks.ts'
import { decodePartRecord } from '../../division/recordEncoding.ts'
import type { Plan } from '../../plan/model/plan.ts'
import type { RecordedRendition } from '../../segmenter/segmentCheck.ts'
import { waitForRecord } from './jobRecords.ts'

/** The last chunk is the first part: it starts before the one that waits for it. */
const LAST_CHUNK = 0

export async function lastVideo(attempt: Attempt, whole: Plan): Promise<RecordedRendition[]> {
  return videoOf(whole, decodePartRecord(await waitForRecord(attempt, LAST_CHUNK)))
}
