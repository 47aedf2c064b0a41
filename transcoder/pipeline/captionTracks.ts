// In charge of: the captions of one attempt: its files as cues of the outputs, and as inputs of ffmpeg.
// Not in charge of: fetching them (source/captionFiles.ts), WebVTT of segmented output (segmenter/webvttTracks.ts).
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CaptionCue } from '../formats/captions/captionCue.ts'
import { flattenCues } from '../formats/captions/flattenCues.ts'
import type { CaptionFile } from '../formats/captions/captionFile.ts'
import { tx3gFile } from '../formats/mp4/tx3gFile.ts'
import { tx3gTracks } from '../plan/argv/captionInputs.ts'
import type { Plan } from '../plan/model/plan.ts'
import { placeCues } from '../plan/streams/placeCues.ts'
import type { Workspace } from '../workspace.ts'

/** By position in `plan.sidecars`: cues in presentation time. */
export function placedCaptions(plan: Plan, files: readonly CaptionFile[]): CaptionCue[][] {
  return (plan.sidecars ?? []).map(({ caption }) =>
    placeCues(files[caption]?.cues ?? [], plan.cut, plan.durationSeconds),
  )
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
    await writeFile(path, tx3gFile(flattenCues(placed[plan.sidecars!.indexOf(track)] ?? [])))
    paths.push(path)
  }
  return paths
}
