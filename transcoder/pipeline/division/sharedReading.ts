// In charge of: that the parts of a divided job read a source once between them: a chunk leaves what it reads between its
// frames as an object, and the rest uses it. Where that fails, the rest reads the source.
// Not in charge of: which bytes these are (analysis/sharedBytes.ts), when the rest begins (plan/division/sharedReading.ts,
// worker/db/tasks.ts).
import type { TaskDescription } from '#contract/task/protocol.ts'
import { partTaskNumber } from '#contract/taskId.ts'
import { readTracks, skipsVideo } from '../../analysis/expectedBytes.ts'
import { sharedPlaces } from '../../analysis/sharedBytes.ts'
import { videoBytes } from '../../analysis/skippedBytes.ts'
import type { Attempt } from '../../attempt.ts'
import { decodeLeftBytes, encodeLeftBytes } from '../../division/leftBytes.ts'
import { decodePartRecord } from '../../division/recordEncoding.ts'
import { putWorkObject, readWorkObjects, workDirectory, type WorkObject } from '../../division/workObjects.ts'
import type { TrackPlaces } from '../../formats/mp4/trackPlaces.ts'
import { partsOf, planOfPart } from '../../plan/division/partPlan.ts'
import { chunkBegins, planSharedReading } from '../../plan/division/sharedReading.ts'
import { surveyPartsOf } from '../../plan/division/surveyPlan.ts'
import type { PartPlan } from '../../plan/model/divisionPlan.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '../../plan/model/plan.ts'
import { plannedFiles } from '../../plan/model/plannedFiles.ts'
import { plannedPipes } from '../../plan/model/plannedPipes.ts'
import { outputStartSeconds } from '../../plan/streams/outputTiming.ts'
import { CollectedBytes, type SourceRun } from '../../source/collectedBytes.ts'
import { SkippedBytes } from '../../source/skippedBytes.ts'
import { AT_WORK } from '../../taskApi/taskClient.ts'
import { sleep } from '../../taskApi/retry.ts'
import type { OpenTask } from '../openTask.ts'

/**
 * A chunk leaves no more, in memory until it has ended; what is above it is read at the source. The rest has two of these.
 * A minute of 5.1 at the highest rate of a codec with losses has 5 MiB, one of eight channels without losses 70.
 */
const MOST_BYTES = 32 * 1024 * 1024
const FILE = 'left'

const POLL_MS = 1000
/** A chunk that others are still making. Reading the source is better than holding a transcoder for longer. */
const MOST_POLLS = 600
/** A slot that is freed has the next chunk within seconds. */
const POLLS_WHILE_IT_WAITS = 5

interface Shared {
  /** The plan of the whole job. */
  whole: Plan
  part: PartPlan
  /** The time in the source at which the outputs begin. */
  startSeconds: number
}

/** The plan says so if chunks leave something: `used` is the source with the cut. */
export async function withSharedReading(
  { attempt, spec, task }: Pick<OpenTask, 'attempt' | 'spec' | 'task'>,
  plan: Plan,
  used: MediaInfo,
): Promise<Plan> {
  const { loopback, settings, controller } = attempt
  if (!restReadsAudio(plan)) return plan
  const tracks = await readTracks(loopback, used, controller.signal)
  if (tracks === null || sharedPlaces(tracks, chunkBegins(plan, outputStartSeconds(spec, used))) === null) return plan
  const sharedReading = planSharedReading(plan, used, { vcpus: settings.machine.vcpus, slots: task.slots ?? 1 })
  return { ...plan, division: { ...plan.division!, sharedReading } }
}

/** The rest reads the source, but none of its video. */
function restReadsAudio(whole: Plan): boolean {
  const rest = planOfPart(whole, { kind: 'rest' })
  return skipsVideo(rest) && plannedFiles(rest).length + plannedPipes(rest).length > 0
}

/** A chunk collects what it returns; the rest reads what chunks left. null = nothing is to be collected. */
export function shareReading(
  attempt: Attempt,
  { whole, part, startSeconds }: Shared,
  tracks: readonly TrackPlaces[],
): CollectedBytes | null {
  if (whole.division?.sharedReading === undefined || !restReadsAudio(whole)) return null
  const places = sharedPlaces(tracks, chunkBegins(whole, startSeconds))
  if (places === null) return null
  const { video, others, shares } = places
  if (part.kind === 'rest') {
    attempt.loopback.skip(new SkippedBytes(videoBytes(tracks)), { video, others, shares, left: leftBy(attempt, whole) })
    return null
  }
  const share = shares[part.chunk]!
  const within = others
    .filter(({ first, last }) => last >= share.first && first <= share.last)
    .map(({ first, last }) => ({ first: Math.max(first, share.first), last: Math.min(last, share.last) }))
  return new CollectedBytes(within, MOST_BYTES)
}

/** Stored before the record that names it. null = nothing was left. */
export async function leaveBytes(
  { taskClient, controller, log }: Attempt,
  { part, attempt }: TaskDescription,
  collected: CollectedBytes | null,
): Promise<WorkObject | null> {
  const runs = collected?.runs() ?? []
  if (runs.length === 0 || part === undefined) return null
  const name = `${workDirectory(partTaskNumber(part.index), attempt)}/${FILE}`
  try {
    return await putWorkObject(taskClient, name, encodeLeftBytes(runs), controller.signal)
  } catch (error) {
    controller.signal.throwIfAborted()
    log.warn('what the chunk read for the rest could not be stored', { error: String(error) })
    return null
  }
}

function leftBy(attempt: Attempt, whole: Plan): (chunk: number) => Promise<readonly SourceRun[] | null> {
  const first = surveyPartsOf(whole.division!)
  const positions = partsOf(whole.division!)
  let patience = POLLS_WHILE_IT_WAITS
  return async (chunk) => {
    const index = positions.findIndex((part) => part.kind === 'chunk' && part.chunk === chunk)
    try {
      const record = await recordOf(attempt, first + index, patience)
      // Chunks begin in their order: those behind one that waits do so, too.
      patience = record === null ? 0 : POLLS_WHILE_IT_WAITS
      const runs = record === null ? null : await readLeft(attempt, record)
      if (runs === null) attempt.log.info('a chunk left nothing: the source is read', { chunk })
      return runs
    } catch (error) {
      attempt.controller.signal.throwIfAborted()
      attempt.log.warn('what a chunk left cannot be read: the source is read', { chunk, error: String(error) })
      return null
    }
  }
}

/** null = nobody is making it, or that takes too long. */
async function recordOf({ taskClient, controller }: Attempt, index: number, patience: number): Promise<unknown> {
  let waited = 0
  for (let poll = 0; poll < MOST_POLLS; poll += 1) {
    const found = await taskClient.lookAtPart(index, controller.signal)
    if (found !== null && found !== AT_WORK) return found
    if (found === null) waited += 1
    if (waited > patience) return null
    await sleep(POLL_MS, controller.signal)
  }
  return null
}

async function readLeft({ taskClient, controller }: Attempt, message: unknown): Promise<SourceRun[] | null> {
  const record = decodePartRecord(message)
  if (record.kind !== 'chunk' || record.left === undefined) return null
  const pieces: Uint8Array[] = []
  for await (const piece of readWorkObjects(taskClient, [record.left], controller.signal)) pieces.push(piece)
  return decodeLeftBytes(Buffer.concat(pieces))
}
