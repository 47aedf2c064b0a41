// In charge of: the captions that chunks draw. A subtitle stream of the source is read once, by the attempt that divides the
// job. It stores the captions, and each chunk fetches them: no chunk reads the whole source for its minute of video.
// Not in charge of: reading them in the source (burnIn/, bitmapBurnIn.ts), the objects (transcoder/upload/workObjects.ts).
import { stat, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { MAIN_TASK } from '#contract/taskId.ts'
import { TaskError } from '#contract/taskError.ts'
import { putWorkObject, readWorkObjects, workDirectory } from '../upload/workObjects.ts'
import type { CaptionCue } from '../formats/captions/captionCue.ts'
import type { StoredObject } from '#contract/task/plan/divisionPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { drawnBitmaps } from '../plan/streams/bitmapBurnIn.ts'
import { drawnStream, requireLibass, type DrawnCaptions } from '../plan/streams/burnIn.ts'
import { bitmapPacketsFile } from '../source/bitmapTrack.ts'
import { DrawnBitmaps } from '../pipeline/bitmapBurnIn.ts'
import { readDrawnCaptions } from '../pipeline/burnIn/drawnCaptions.ts'
import type { OpenTask } from '../pipeline/openTask.ts'

/** Text of a subtitle stream: far more than any has. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024

/** Whether the chunks of the job draw subtitles of the source. */
function storesSubtitles({ burnIn }: Pick<Plan, 'burnIn'>): boolean {
  return burnIn?.from.kind === 'source track' && (burnIn.kind === 'text' || burnIn.drawn !== null)
}

/** The same plan where nothing has to be stored. */
export async function withStoredSubtitles(
  { attempt, task, bitmaps }: OpenTask,
  { plan, drawn }: { plan: Plan; drawn: DrawnCaptions | null },
): Promise<Plan> {
  const { division } = plan
  if (division == null || !storesSubtitles(plan)) return plan
  const { taskClient, controller } = attempt
  const name = `${workDirectory(MAIN_TASK, task.attempt)}/subtitles`
  if (plan.burnIn?.kind === 'text') {
    const body = await promisify(gzip)(JSON.stringify(drawn?.cues ?? []))
    const subtitles = await putWorkObject(taskClient, name, body, controller.signal)
    return { ...plan, division: { ...division, subtitles } }
  }
  if (bitmaps === null) throw new TaskError('internal', 'The subtitles that the plan draws were not read.')
  const path = bitmaps.file
  const { size } = await stat(path)
  const subtitles = await putWorkObject(taskClient, name, { path, start: 0, end: size }, controller.signal)
  return { ...plan, division: { ...division, subtitles } }
}

/** `whole`: the plan of the job. */
export async function drawnInChunk(
  open: OpenTask,
  whole: Plan,
): Promise<{ drawn: DrawnCaptions | null; bitmaps: DrawnBitmaps | null }> {
  const { attempt, spec, media, captionFiles } = open
  if (!storesSubtitles(whole)) {
    // An empty stream was read by the attempt that planned.
    const isFile = spec.burnIn?.kind === 'caption'
    return {
      drawn: isFile ? await readDrawnCaptions(attempt, { spec, media, files: captionFiles }) : null,
      bitmaps: null,
    }
  }
  const stored = whole.division?.subtitles
  if (stored === undefined) throw new TaskError('internal', 'The subtitles that this job draws were not stored.')
  const stream = drawnBitmaps(spec, media)
  if (stream === null) return { drawn: await storedText(open, stored), bitmaps: null }
  const file = bitmapPacketsFile(attempt.workspace)
  await writeFile(file, readWorkObjects(attempt.taskClient, [stored], attempt.controller.signal))
  return { drawn: null, bitmaps: new DrawnBitmaps(attempt, { file, codec: stream.codec, stream: stream.index }) }
}

/** What was left out, and which characters no font has, was said with the plan. */
async function storedText({ attempt, spec, media }: OpenTask, stored: StoredObject): Promise<DrawnCaptions> {
  const { engine, taskClient, controller } = attempt
  requireLibass(engine.features)
  const packed: Uint8Array[] = []
  for await (const bytes of readWorkObjects(taskClient, [stored], controller.signal)) packed.push(bytes)
  const text = await promisify(gunzip)(Buffer.concat(packed), { maxOutputLength: MAX_TEXT_BYTES })
  const cues = JSON.parse(text.toString('utf8')) as CaptionCue[]
  return { cues, file: null, stream: drawnStream(spec, media, engine.features), crowded: 0, missing: [] }
}
