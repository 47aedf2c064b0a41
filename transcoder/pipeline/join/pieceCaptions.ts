// In charge of: reading the CEA-608 captions in the video of each piece of a joined source, in a run of its own before the
// encode: ffmpeg reads the captions of frames from a file that is complete.
// Not in charge of: their places in the joined video (formats/cea/joinedPairs.ts), WebVTT tracks (joinFeed.ts), writing
// them (pipeline/captionTracks.ts).
import { inputFlags } from '../../ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../../ffmpeg/run.ts'
import type { Attempt } from '../../attempt.ts'
import { CaptionExtractor, type CaptionedFrame } from '../../formats/cea/captionExtractor.ts'
import type { CaptionFields } from '../../formats/cea/captionFrames.ts'
import { JoinedPairs } from '../../formats/cea/joinedPairs.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { toNumber } from '../../formats/rational.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { readCut } from '../../plan/argv/cutArgs.ts'
import { pieceArgs } from '../../plan/argv/pieceArgs.ts'
import { videoCodecOfSource } from '../../plan/codecs.ts'
import { TS_ORIGIN_TICKS } from '../../plan/forms.ts'
import { pieceError, pieceSpec } from '../../plan/join/pieceSpec.ts'
import type { JoinPlan, PiecePlan } from '../../plan/model/joinPlan.ts'
import { framesOffset } from '../../plan/streams/outputTiming.ts'
import { requireCompleteSource } from '../encode.ts'
import type { OpenInput } from './openInput.ts'

interface Pieces {
  inputs: readonly OpenInput[]
  join: JoinPlan
}

/** Reads every piece to its end, one after the other. */
export async function readPieceCaptions(
  attempt: Attempt,
  spec: JobSpec,
  { inputs, join }: Pieces,
): Promise<CaptionFields> {
  const pairs = new JoinedPairs()
  const rate = toNumber(join.canvas!.rate)
  let frames = 0
  for (const [index, piece] of join.pieces.entries()) {
    pairs.beginPiece(frames / rate)
    let end = 0
    const onFrame = ({ time, bytes }: CaptionedFrame) => {
      // What is behind the end of a cut is read too.
      if (piece.hasFixedEnd && piece.frames !== null && time >= piece.frames / rate - 1e-3) return
      end = Math.max(end, time + 1 / frameRateOf(piece, inputs[index]!, rate))
      pairs.push(time, bytes)
    }
    await readPiece(attempt, spec, { input: inputs[index]!, piece, index, onFrame }).catch((error: unknown) => {
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

async function readPiece(attempt: Attempt, spec: JobSpec, reading: Reading): Promise<void> {
  const { input, piece, index, onFrame } = reading
  const { engine, settings, workspace, controller, log } = attempt
  const { loopback, media, seekable } = input
  if (videoCodecOfSource(media.video?.codec ?? '') === null) return
  const own: PiecePlan = {
    ...piece,
    captions: true,
    // No other stream is read.
    videoOffsetSeconds: framesOffset(pieceSpec(spec, index, media), media, engine.features),
  }
  const before = readCut({ cut: own.cut, hasCaptions: true }, seekable).cut?.startSeconds ?? 0
  const extractor = new CaptionExtractor(TS_ORIGIN_TICKS + Math.round(before * TICKS_PER_SECOND))
  const args = pieceArgs(own, [{ kind: 'captions' }], {
    input: loopback.url,
    inputFlags: inputFlags(loopback.url),
    outputs: [`pipe:${FIRST_PIPE_FD}`],
    seekable,
    threads: settings.threads,
  })
  let served = -1
  const result = await runFfmpeg(engine, args, {
    cwd: workspace.cwd,
    purpose: `read the captions of inputs[${index}]`,
    signal: controller.signal,
    limits: { fileBytes: 0 },
    isBlocked: () => {
      const seen = served
      served = loopback.bytesServed
      return served > seen
    },
    pipeReaders: [
      async (stream) => {
        for await (const chunk of stream) for (const frame of extractor.push(chunk as Buffer)) onFrame(frame)
        for (const frame of extractor.end()) onFrame(frame)
      },
    ],
  })
  controller.signal.throwIfAborted()
  requireCompleteSource({ loopback })
  // Damage is judged where the piece is decoded.
  if (result.code !== 0) log.warn('the captions of an input could not be read to its end', { input: index })
}
