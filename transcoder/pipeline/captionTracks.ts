// In charge of: the captions of one attempt: its files as cues of the outputs, and as inputs of ffmpeg.
// Not in charge of: fetching them (source/captionFiles.ts), WebVTT of segmented output (segmenter/webvttTracks.ts).
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { CaptionCue } from '../formats/captions/captionCue.ts'
import { flattenCues } from '../formats/captions/flattenCues.ts'
import type { CaptionFile } from '../formats/captions/captionFile.ts'
import { captionFrames, type SentCaptions } from '../formats/cea/captionFrames.ts'
import { carrierFrame } from '../formats/video/captionCarrier.ts'
import { tx3gFile } from '../formats/mp4/tx3gFile.ts'
import { tx3gTracks } from '../plan/argv/captionInputs.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { carrierRates } from '../plan/argv/captionCarriers.ts'
import { rangeInCut } from '../plan/argv/rangeArgs.ts'
import { encodedVideo } from '../plan/argv/ffmpegArgs.ts'
import { runOutFrames } from '../plan/video/rangeBuffer.ts'
import { embedCaptions } from '../plan/streams/embeddedCaptions.ts'
import { placeCues } from '../plan/streams/placeCues.ts'
import type { Workspace } from '../workspace.ts'

/** By position in `plan.sidecars`: cues in presentation time. */
export function placedCaptions(plan: Plan, files: readonly CaptionFile[]): CaptionCue[][] {
  return plan.sidecars.map(({ caption }) => placeCues(files[caption]?.cues ?? [], plan.cut, plan.durationSeconds))
}

/** Writes the captions of mp4 tracks as files that ffmpeg copies. Returns their paths. */
export async function writeCaptionInputs(
  plan: Plan,
  files: readonly CaptionFile[],
  workspace: Pick<Workspace, 'root'>,
): Promise<string[]> {
  const placed = placedCaptions(plan, files)
  const paths: string[] = []
  for (const track of tx3gTracks(plan)) {
    const path = join(workspace.root, `captions_${track.caption}.mp4`)
    await writeFile(path, tx3gFile(flattenCues(placed[plan.sidecars.indexOf(track)] ?? [])))
    paths.push(path)
  }
  return paths
}

/** Frames that are written at once. */
const FRAMES = 1000

/** What encoded frames carry: caption files, or the captions of the source, which are read only if they are needed. */
interface Carried {
  spec: JobSpec
  files: readonly CaptionFile[]
  ofSource: (() => Promise<SentCaptions>) | null
}

/** Writes the videos that carry captions into the frames of encoded ones (argv/captionCarriers.ts). Returns their paths. */
export async function writeCaptionCarriers(
  plan: Plan,
  { spec, files, ofSource }: Carried,
  workspace: Pick<Workspace, 'root'>,
): Promise<string[]> {
  const paths: string[] = []
  const videos = encodedVideo(plan)
  const isOfSource = videos.some(({ embedded }) => embedded === 'pieces' || embedded === 'source')
  const found = isOfSource && ofSource !== null ? await ofSource() : null
  for (const [index, rate] of carrierRates(videos).entries()) {
    const sent = found ?? embedCaptions(spec, files, { cut: plan.cut, duration: plan.durationSeconds })
    const path = join(workspace.root, `carrier_${index}.m2v`)
    const range = rangeInCut(plan, rate, runOutFrames(plan, rate)) ?? undefined
    await writeFile(path, batches(captionFrames(sent, rate, range)))
    paths.push(path)
  }
  return paths
}

function* batches(frames: Iterable<Uint8Array>): Generator<Uint8Array> {
  let batch: Uint8Array[] = []
  for (const frame of frames) {
    batch.push(carrierFrame(frame))
    if (batch.length < FRAMES) continue
    yield Buffer.concat(batch)
    batch = []
  }
  yield Buffer.concat(batch)
}
