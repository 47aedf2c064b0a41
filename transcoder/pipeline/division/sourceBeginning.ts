// In charge of: what every part of a divided job would read of the source before it can seek: its beginning, which ffprobe and
// ffmpeg examine, and its index. The attempt that divides the job has read both; it leaves them, and parts use them. Looking for
// frames that are interlaced, it has read on from the beginning; the first chunk would read the same.
// Where that fails, a part reads them in the source.
// Not in charge of: the object (transcoder/division/), what the attempt keeps of the source (source/readCache.ts).
import { MAIN_TASK } from '#contract/taskId.ts'
import type { Attempt } from '../../attempt.ts'
import { decodeLeftBytes, encodeLeftBytes } from '../../division/leftBytes.ts'
import { putWorkObject, readWorkObjects, workDirectory, type WorkObject } from '../../division/workObjects.ts'
import type { SourceRun } from '../../source/readCache.ts'
import type { PartPlan } from '../../plan/model/divisionPlan.ts'
import type { Plan } from '../../plan/model/plan.ts'
import type { OpenTask } from '../openTask.ts'

/** Of a smaller source it saves little. */
const LEAST_SOURCE_BYTES = 64 * 1024 * 1024
/** ffprobe and ffmpeg examine up to 5,000,000 bytes (-probesize). */
const BEGINNING_BYTES = 6 * 1024 * 1024
/** In memory for a moment. The index of a film of two hours has about 5 MB. */
const MOST_BYTES = 16 * 1024 * 1024
/** Of less, the first chunk reads it again. */
const LEAST_CONTINUATION_BYTES = 1024 * 1024

/** The same plan where nothing is left. */
export async function withBeginning(
  { attempt, task, sizeBytes }: Pick<OpenTask, 'attempt' | 'task' | 'sizeBytes'>,
  plan: Plan,
): Promise<Plan> {
  const { loopback, taskClient, controller, log } = attempt
  const { division } = plan
  if (division == null || task.kind === 'plan' || task.accepts?.mainWork !== true) return plan
  if ((sizeBytes ?? 0) < LEAST_SOURCE_BYTES) return plan
  const [first, ...others] = await loopback.kept()
  if (first?.first !== 0) return plan
  const put = (file: string, runs: SourceRun[]): Promise<WorkObject> =>
    putWorkObject(
      taskClient,
      `${workDirectory(MAIN_TASK, task.attempt)}/${file}`,
      encodeLeftBytes(runs),
      controller.signal,
    )
  let made = plan
  try {
    const beginning = { first: 0, bytes: first.bytes.subarray(0, BEGINNING_BYTES) }
    const left = { ...division, beginning: await put('beginning', within(MOST_BYTES, [beginning, ...others])) }
    made = { ...plan, division: left }
    const bytes = first.bytes.subarray(BEGINNING_BYTES)
    // Before a cut nothing is encoded.
    if (bytes.length < LEAST_CONTINUATION_BYTES || plan.cut != null) return made
    const continuation = await put('continuation', [{ first: BEGINNING_BYTES, bytes }])
    return { ...plan, division: { ...left, continuation } }
  } catch (error) {
    controller.signal.throwIfAborted()
    log.warn('the beginning of the source could not be stored for the parts', { error: String(error) })
    return made
  }
}

/** The first ones that together have no more bytes. */
function within(most: number, runs: readonly SourceRun[]): SourceRun[] {
  let sum = 0
  return runs.filter(({ bytes }) => {
    const fits = sum + bytes.length <= most
    if (fits) sum += bytes.length
    return fits
  })
}

/** Before anything reads the source. `whole`: the plan of the job; `part`: undefined = a part of the survey. */
export async function useBeginning(attempt: Attempt, whole: Plan, part: PartPlan | undefined): Promise<void> {
  const { beginning, continuation } = whole.division ?? {}
  await useObject(attempt, beginning)
  if (part?.kind === 'chunk' && part.chunk === 0) await useObject(attempt, continuation)
}

async function useObject(attempt: Attempt, object: WorkObject | undefined): Promise<void> {
  const { loopback, taskClient, controller, log } = attempt
  if (object === undefined) return
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of readWorkObjects(taskClient, [object], controller.signal)) pieces.push(piece)
    await loopback.keep(decodeLeftBytes(Buffer.concat(pieces)) ?? [])
  } catch (error) {
    controller.signal.throwIfAborted()
    log.warn('what was stored of the source cannot be read: it is read there again', {
      object: object.name,
      error: String(error),
    })
  }
}
