// In charge of: reading the captions that a job draws into its video: from a caption file or from a subtitle stream of the
// source; and the files from which libass draws them.
// Not in charge of: which ones, and warnings (plan/streams/burnIn.ts), the look (formats/ass).
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { Attempt } from '../../attempt.ts'
import type { CaptionFile } from '../../formats/captions/captionFile.ts'
import { assFile } from '../../formats/ass/assFile.ts'
import { withoutCrowds } from '../../formats/ass/crowds.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { assLooks } from '../../plan/argv/burnInArgs.ts'
import { drawnBitmaps } from '../../plan/streams/bitmapBurnIn.ts'
import { drawnStream, fontOf, requireLibass, type DrawnCaptions } from '../../plan/streams/burnIn.ts'
import { placeCues } from '../../plan/streams/placeCues.ts'
import { fetchCaptionFile } from '../../source/captionFiles.ts'
import type { Workspace } from '../../workspace.ts'
import { missingCharacters } from './missingCharacters.ts'
import { readJoinedText, type JoinedPieces } from './readJoinedText.ts'
import { readTextStream } from './readTextStream.ts'

interface DrawnRequest {
  spec: JobSpec
  media: MediaInfo
  /** The caption files that were fetched for tracks. */
  files: readonly CaptionFile[]
  /** The pieces of a joined source; missing = it is one file. */
  joined?: JoinedPieces | null
}

/**
 * null = the job draws none, or images (pipeline/bitmapBurnIn.ts).
 * Throws TaskError captions_unavailable, captions_unreadable, subtitle_track_missing, subtitle_track_unsupported or burn_in_unavailable.
 */
export async function readDrawnCaptions(
  attempt: Pick<Attempt, 'engine' | 'taskClient' | 'loopback' | 'workspace' | 'controller'>,
  { spec, media, files, joined = null }: DrawnRequest,
): Promise<DrawnCaptions | null> {
  const { burnIn = null, captions = [] } = spec
  if (burnIn === null || spec.video.length === 0 || drawnBitmaps(spec, media) !== null) return null
  const { engine, workspace, controller } = attempt
  requireLibass(engine.features)
  const pieces = joined !== null && burnIn.kind === 'source track' ? await readJoinedText(attempt, spec, joined) : null
  const stream = pieces === null ? drawnStream(spec, media, engine.features) : pieces.stream
  const file =
    burnIn.kind === 'source track'
      ? null
      : (files[burnIn.caption] ??
        (await fetchCaptionFile(attempt, { index: burnIn.caption, spec: captions[burnIn.caption]! })))
  const all =
    file?.cues ?? pieces?.cues ?? (stream === null ? [] : await readTextStream(attempt, { spec, media, stream }))
  const { cues, left } = withoutCrowds(all)
  const font = fontOf(spec, stream)
  const missing = await missingCharacters(engine, { cues, font }, workspace, controller.signal)
  return { cues, file, stream, crowded: left, missing }
}

/** Returns their paths, relative to ffmpeg's working directory. */
export async function writeBurnInFiles(
  plan: Plan,
  drawn: DrawnCaptions | null,
  { root, cwd }: Pick<Workspace, 'root' | 'cwd'>,
): Promise<string[]> {
  const cues = placeCues(drawn?.cues ?? [], plan.cut, plan.durationSeconds)
  const paths: string[] = []
  for (const [index, look] of assLooks(plan).entries()) {
    const path = join(root, `burn_in_${index}.ass`)
    await writeFile(path, assFile(cues, look))
    paths.push(relative(cwd, path))
  }
  return paths
}
