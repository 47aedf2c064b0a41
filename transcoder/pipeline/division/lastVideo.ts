// In charge of: the end of a divided job's video, with which its audio is cut: another part makes it.
// Not in charge of: cutting (segmenter/cutters), that this part starts after the other (worker/db/parts.ts).
import { LAST_CHUNK } from '#contract/task/partPositions.ts'
import type { Attempt } from '../../attempt.ts'
import { videoOf } from '../../division/joinChunks.ts'
import { decodePartRecord } from '../../division/recordEncoding.ts'
import { surveyPartsOf } from '../../plan/division/surveyPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { RecordedRendition } from '../../segmenter/segmentCheck.ts'
import { requireRecord } from './jobRecords.ts'

export async function lastVideo(attempt: Attempt, whole: Plan): Promise<RecordedRendition[]> {
  return videoOf(whole, decodePartRecord(await requireRecord(attempt, positionOf(whole))))
}

/** Throws UnlikeChunks if the part that made it found that one task has to make the job. */
export async function requireUsableVideo({ taskClient, controller }: Attempt, whole: Plan): Promise<void> {
  const record = await taskClient.fetchPartRecord(positionOf(whole), controller.signal)
  if (record !== null) decodePartRecord(record)
}

function positionOf({ division }: Plan): number {
  return surveyPartsOf(division!) + LAST_CHUNK
}
