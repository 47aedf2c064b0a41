// In charge of: what every part of a divided job would read of the source before it can seek: its beginning, which ffprobe and
// ffmpeg examine, and its index. The attempt that divides the job has read both; it leaves them, and parts use them.
// Where that fails, a part reads them in the source.
// Not in charge of: the object (transcoder/division/), what the attempt keeps of the source (source/readCache.ts).
import { createHash } from 'node:crypto'
import { MAIN_TASK } from '#contract/taskId.ts'
import type { Attempt } from '../../attempt.ts'
import { decodeLeftBytes, encodeLeftBytes } from '../../division/leftBytes.ts'
import { putWorkObject, readWorkObjects, workDirectory } from '../../division/workObjects.ts'
import type { SourceRun } from '../../source/collectedBytes.ts'
import type { Plan } from '../../plan/model/plan.ts'
import type { OpenTask } from '../openTask.ts'

/** Of a smaller source it saves little. */
const LEAST_SOURCE_BYTES = 64 * 1024 * 1024
/** ffprobe and ffmpeg examine up to 5,000,000 bytes (-probesize). */
const MOST_BEGINNING_BYTES = 6 * 1024 * 1024
/** In memory for a moment. The index of a film of two hours has about 5 MB. */
const MOST_BYTES = 16 * 1024 * 1024
const FILE = 'beginning'

/** The same plan where nothing is left. */
export async function withBeginning(
  { attempt, task, sizeBytes }: Pick<OpenTask, 'attempt' | 'task' | 'sizeBytes'>,
  plan: Plan,
): Promise<Plan> {
  const { loopback, taskClient, controller, log } = attempt
  const { division } = plan
  if (division == null || task.accepts?.mainWork !== true || (sizeBytes ?? 0) < LEAST_SOURCE_BYTES) return plan
  const runs = within(MOST_BYTES, await loopback.kept(MOST_BEGINNING_BYTES))
  if (runs[0]?.first !== 0) return plan
  const object = encodeLeftBytes(runs)
  const name = `${workDirectory(MAIN_TASK, task.attempt)}/${FILE}`
  try {
    await putWorkObject(taskClient, name, object, controller.signal)
  } catch (error) {
    controller.signal.throwIfAborted()
    log.warn('the beginning of the source could not be stored for the parts', { error: String(error) })
    return plan
  }
  const beginning = { name, bytes: object.length, sha256: createHash('sha256').update(object).digest('hex') }
  return { ...plan, division: { ...division, beginning } }
}

/** As many of the first ones as have no more bytes. */
function within(most: number, runs: readonly SourceRun[]): SourceRun[] {
  let sum = 0
  return runs.filter(({ bytes }) => (sum += bytes.length) <= most)
}

/** Before anything reads the source. `whole`: the plan of the job. */
export async function useBeginning(attempt: Attempt, whole: Plan): Promise<void> {
  const { loopback, taskClient, controller, log } = attempt
  const { beginning } = whole.division ?? {}
  if (beginning === undefined) return
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of readWorkObjects(taskClient, [beginning], controller.signal)) pieces.push(piece)
    await loopback.keep(decodeLeftBytes(Buffer.concat(pieces)) ?? [])
  } catch (error) {
    controller.signal.throwIfAborted()
    log.warn('the beginning of the source that was stored cannot be read: it is read again', { error: String(error) })
  }
}
