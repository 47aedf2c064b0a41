// In charge of: the text subtitle stream of each piece of a joined source, as captions of the joined video.
// Not in charge of: reading one (readTextStream.ts), tracks of WebVTT (pipeline/join/joinedText.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../../attempt.ts'
import type { CaptionCue } from '../../formats/captions/captionCue.ts'
import { pieceStarts } from '../../plan/join/planJoin.ts'
import { pieceError, pieceSpec } from '../../plan/join/pieceSpec.ts'
import type { JoinPlan } from '#contract/task/plan/joinPlan.ts'
import type { OtherStream } from '../../plan/model/mediaInfo.ts'
import { drawnStream } from '../../plan/streams/burnIn.ts'
import { isDrawnBitmap } from '../../plan/streams/bitmapBurnIn.ts'
import { placeCues } from '../../plan/streams/placeCues.ts'
import type { OpenInput } from '../join/openInput.ts'
import { readTextStream } from './readTextStream.ts'

export interface JoinedPieces {
  inputs: readonly OpenInput[]
  join: JoinPlan
}

/**
 * Cues in seconds of the joined video, and the first stream. A piece without the stream has none. Throws
 * subtitle_track_missing if no piece has it.
 */
export async function readJoinedText(
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
