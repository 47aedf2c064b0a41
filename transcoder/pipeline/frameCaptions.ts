// In charge of: reading the captions in the video of a source, in a run of its own before the encode: ffmpeg reads the
// captions of frames from a file that is complete.
// Not in charge of: the frames that they are sent in (captionTracks.ts), WebVTT tracks (segmenter/captionReader.ts).
import type { Attempt } from '../attempt.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../ffmpeg/run.ts'
import { CaptionExtractor, type CaptionedFrame } from '../formats/cea/captionExtractor.ts'
import { RetimedCaptions } from '../formats/cea/retimedCaptions.ts'
import { TICKS_PER_SECOND } from '../formats/mpegts/clock.ts'
import { readCut } from '../plan/argv/cutArgs.ts'
import { pieceArgs } from '../plan/argv/pieceArgs.ts'
import { TS_ORIGIN_TICKS } from '../plan/forms.ts'
import type { PiecePlan } from '#contract/task/plan/joinPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { requireCompleteSource } from './encode.ts'
import type { OpenInput } from './join/openInput.ts'

interface Reading {
  input: OpenInput
  piece: PiecePlan
  /** What ffmpeg runs for, in the log. */
  purpose: string
  onFrame: (frame: CaptionedFrame) => void
}

/** Frames in the order in which they are shown, by seconds in the piece. */
export async function readFrameCaptions(
  { engine, settings, workspace, controller, log }: Attempt,
  { input, piece, purpose, onFrame }: Reading,
): Promise<void> {
  const { loopback, seekable } = input
  const before = readCut({ cut: piece.cut, hasCaptions: true }, seekable).cut?.startSeconds ?? 0
  const extractor = new CaptionExtractor(TS_ORIGIN_TICKS + Math.round(before * TICKS_PER_SECOND))
  const args = pieceArgs({ ...piece, captions: true }, [{ kind: 'captions' }], {
    input: loopback.url,
    inputFlags: inputFlags(loopback.url),
    outputs: [`pipe:${FIRST_PIPE_FD}`],
    seekable,
    threads: settings.threads,
  })
  const result = await runFfmpeg(engine, args, {
    cwd: workspace.cwd,
    purpose,
    signal: controller.signal,
    limits: { fileBytes: 0 },
    bytesRead: () => loopback.bytesServed,
    pipeReaders: [
      async (stream) => {
        for await (const block of stream) for (const frame of extractor.push(block as Buffer)) onFrame(frame)
        for (const frame of extractor.end()) onFrame(frame)
      },
    ],
  })
  controller.signal.throwIfAborted()
  requireCompleteSource({ loopback })
  // Damage is judged where the video is decoded.
  if (result.code !== 0) log.warn('the captions of the video could not be read to its end', { purpose })
}

/** All captions of a source, on the clock of the outputs. */
export async function readSourceCaptions(attempt: Attempt, plan: Plan, input: OpenInput): Promise<RetimedCaptions> {
  const captions = new RetimedCaptions()
  const piece: PiecePlan = {
    ...plan,
    // No other stream is read.
    videoOffsetSeconds: input.timeline.offsets.frames,
    startSeconds: 0,
    video: null,
    audio: [],
    frames: null,
    hasFixedEnd: false,
    captions: true,
    subtitles: [],
  }
  const onFrame = ({ time, bytes }: CaptionedFrame) => captions.push(time, bytes)
  await readFrameCaptions(attempt, { input, piece, purpose: 'read the captions of the source', onFrame })
  return captions
}
