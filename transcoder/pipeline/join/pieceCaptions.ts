// In charge of: the CEA-608 captions in the video of each piece of a joined source.
// Not in charge of: reading a piece (pipeline/frameCaptions.ts), their places in the joined video (formats/cea/joinedPairs.ts), WebVTT tracks (joinFeed.ts), writing
// them (pipeline/captionTracks.ts).
import type { Attempt } from '../../attempt.ts'
import type { CaptionedFrame } from '../../formats/cea/captionExtractor.ts'
import type { CaptionFields } from '../../formats/cea/captionFrames.ts'
import { JoinedPairs } from '../../formats/cea/joinedPairs.ts'
import { toNumber } from '../../formats/rational.ts'
import { videoCodecOfSource } from '../../plan/codecs.ts'
import { pieceError } from '../../plan/join/pieceSpec.ts'
import type { JoinPlan, PiecePlan } from '#contract/task/plan/joinPlan.ts'
import { readFrameCaptions } from '../frameCaptions.ts'
import type { OpenInput } from './openInput.ts'

interface Pieces {
  inputs: readonly OpenInput[]
  join: JoinPlan
}

/** Reads every piece to its end, one after the other. */
export async function readPieceCaptions(attempt: Attempt, { inputs, join }: Pieces): Promise<CaptionFields> {
  const pairs = new JoinedPairs()
  const rate = toNumber(join.canvas!.rate)
  let frames = 0
  for (const [index, piece] of join.pieces.entries()) {
    pairs.beginPiece(frames / rate)
    let end = 0
    const onFrame = ({ time, bytes }: CaptionedFrame) => {
      // Frames after the end of a cut are read too.
      if (piece.hasFixedEnd && piece.frames !== null && time >= piece.frames / rate - 1e-3) return
      end = Math.max(end, time + 1 / frameRateOf(piece, inputs[index]!, rate))
      pairs.push(time, bytes)
    }
    await readPiece(attempt, { input: inputs[index]!, piece, index, onFrame }).catch((error: unknown) => {
      throw pieceError(index, error)
    })
    // As in rawJoin.ts: all frames that arrive are used, unless the job says where the piece ends.
    const found = Math.round(end * rate)
    frames += piece.hasFixedEnd ? (piece.frames ?? found) : Math.max(piece.frames ?? 0, found)
    pairs.endPiece(frames / rate)
  }
  return pairs.fields
}

function frameRateOf({ cut }: PiecePlan, { media }: OpenInput, otherwise: number): number {
  const rate = cut?.frames?.rate ?? media.video?.frameRate ?? null
  return rate === null ? otherwise : toNumber(rate)
}

interface Reading {
  input: OpenInput
  piece: PiecePlan
  index: number
  onFrame: (frame: CaptionedFrame) => void
}

async function readPiece(attempt: Attempt, { input, piece, index, onFrame }: Reading): Promise<void> {
  const { media, timeline } = input
  if (videoCodecOfSource(media.video?.codec ?? '') === null) return
  // No other stream is read.
  await readFrameCaptions(attempt, {
    input,
    piece: { ...piece, videoOffsetSeconds: timeline.offsets.frames },
    purpose: `read the captions of inputs[${index}]`,
    onFrame,
  })
}
