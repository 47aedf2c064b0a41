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
import type { MediaInfo, OtherStream } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { assLooks } from '../../plan/argv/burnInArgs.ts'
import { drawnBitmaps, isDrawnBitmap } from '../../plan/streams/bitmapBurnIn.ts'
import { drawnStream, fontOf, requireLibass, type DrawnCaptions } from '../../plan/streams/burnIn.ts'
import { placeCues } from '../../plan/streams/placeCues.ts'
import { fetchCaptionFile } from '../../source/captionFiles.ts'
import type { Workspace } from '../../workspace.ts'
import { missingCharacters } from './missingCharacters.ts'
import { readTextStream } from './readTextStream.ts'
import { TaskError } from '#contract/taskError.ts'
import type { CaptionCue } from '../../formats/captions/captionCue.ts'
import { pieceStarts } from '../../plan/join/planJoin.ts'
import { pieceError, pieceSpec } from '../../plan/join/pieceSpec.ts'
import type { JoinPlan } from '#contract/task/plan/joinPlan.ts'
import type { OpenInput } from '../join/openInput.ts'

interface JoinedPieces {
  inputs: readonly OpenInput[]
  join: JoinPlan
}

/**
 * Cues in seconds of the joined video, and the first stream. A piece without the stream has none. Throws
 * subtitle_track_missing if no piece has it.
 */
async function readJoinedText(
  attempt: Pick<Attempt, 'engine' | 'workspace' | 'controller'>,
  spec: JobSpec,
  { inputs, join }: JoinedPieces,
): Promise<{ cues: CaptionCue[]; stream: OtherStream }> {
  const starts = pieceStarts(join)
  const cues: CaptionCue[] = []
  let first: OtherStream | null = null
  let missing: unknown = null
  for (const [piece, { loopback, media }] of inputs.entries()) {
    const own = pieceSpec(spec, piece, media)
    const begin = starts[piece]
    try {
      const stream = streamOf(own, media, attempt)
      first ??= stream
      // Behind a piece of unknown length, times are unknown too.
      if (begin === undefined) continue
      const found = await readTextStream({ ...attempt, loopback }, { spec: own, media, stream })
      const { cut, durationSeconds } = join.pieces[piece]!
      for (const cue of placeCues(
        found,
        cut,
        starts[piece + 1] === undefined ? durationSeconds : starts[piece + 1]! - begin,
      ))
        cues.push({ ...cue, start: cue.start + begin, end: cue.end + begin })
    } catch (error) {
      if (!(error instanceof TaskError) || error.code !== 'subtitle_track_missing') throw pieceError(piece, error)
      missing ??= pieceError(piece, error)
    }
  }
  if (first === null) throw missing
  return { cues: cues.toSorted((a, b) => a.start - b.start), stream: first }
}

function streamOf(spec: JobSpec, media: OpenInput['media'], { engine }: Pick<Attempt, 'engine'>): OtherStream {
  const stream = drawnStream(spec, media, engine.features)
  if (stream !== null && !isDrawnBitmap(stream)) return stream
  throw new TaskError(
    'subtitle_track_unsupported',
    'Bitmap subtitles are drawn from a source in "input" only, not from one in "inputs".',
    { field: 'burn_in_captions.source_track' },
  )
}

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
