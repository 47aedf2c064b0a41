// In charge of: what the rest of a divided job needs to know of the last chunk, which another part makes.
// Not in charge of: that this part starts after the other (worker/db/parts.ts).
import { LAST_CHUNK } from '#contract/task/partPositions.ts'
import type { Attempt } from '../attempt.ts'
import { videoSeconds } from './joinChunks.ts'
import { decodePartRecord } from './recordEncoding.ts'
import { surveyPartsOf } from './plan/surveyPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { requireRecord } from './jobRecords.ts'

/** The time at which the video of the outputs ends. */
export async function lastVideoSeconds(attempt: Attempt, whole: Plan): Promise<number> {
  return videoSeconds(decodePartRecord(await requireRecord(attempt, positionOf(whole))))
}

/** Throws UnlikeChunks if the part that made it found that one task has to make the job. */
export async function requireUsableVideo({ taskClient, controller }: Attempt, whole: Plan): Promise<void> {
  const record = await taskClient.fetchPartRecord(positionOf(whole), controller.signal)
  if (record !== null) decodePartRecord(record)
}

function positionOf({ division }: Plan): number {
  return surveyPartsOf(division!) + LAST_CHUNK
}
