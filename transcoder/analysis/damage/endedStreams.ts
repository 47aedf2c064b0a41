// In charge of: the warning, or the error, that a stream which the outputs use ends before the source does, because its
// program map changes.
// Not in charge of: streams that go on on another PID (formats/mpegts/stableMap.ts).
import type { Warning } from '#contract/errors.ts'
import { TaskError } from '#contract/taskError.ts'
import { TICKS_PER_SECOND, ticksBetween, wrapTicks } from '../../formats/mpegts/clock.ts'
import { describeChange, type EndedStream } from '../../formats/mpegts/stableMap.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { Timeline } from '../../plan/planContext.ts'
import { clock } from './damageReport.ts'

/** What a job cannot have whose source is read in pieces (pipeline/join/sourcePieces.ts). */
export const NOT_IN_PIECES =
  'start_seconds, end_seconds, source_channels, or a waveform of a stream that no audio profile has'

type Source = { media: MediaInfo; timeline: Pick<Timeline, 'startSeconds'> }

export function endedStreamWarnings(
  ended: readonly EndedStream[],
  source: Source,
  plan: Pick<Plan, 'sourceAudio'>,
): Warning[] {
  return usedOf(ended, source, plan).map((stream) => ({
    code: 'stream_ends_early',
    message: describeEnd(stream, source),
  }))
}

/** A used stream goes on in another codec, before the end of the part that is used: what follows was not decoded. */
export function codecChangeError(
  ended: readonly EndedStream[],
  source: Source,
  plan: Pick<Plan, 'sourceAudio' | 'cut'>,
  cause?: unknown,
): TaskError | null {
  const end = plan.cut?.endSeconds ?? Infinity
  const changed = usedOf(ended, source, plan).find(
    (stream) => isOnItsPid(stream) && placeOf(stream, source) + LAST_SECONDS < end,
  )
  return changed === undefined
    ? null
    : new TaskError('source_unsupported', describeEnd(changed, source), { field: 'input', cause })
}

/** Frames of the old codec are shown after its last time stamp in the file. */
const LAST_SECONDS = 0.5

function isOnItsPid({ pid, instead }: EndedStream): boolean {
  return instead.some((other) => other.pid === pid)
}

function describeEnd(stream: EndedStream, source: Source): string {
  const { media: kind, pid, codec, instead } = stream
  const place = `about ${clock(Math.floor(placeOf(stream, source)))}`
  if (isOnItsPid(stream))
    return `The source’s ${describeChange(stream)} changes its codec at ${place}, and is not decoded from there on. Such a source is read in pieces, but not in a job with ${NOT_IN_PIECES}, and not if the codec changes back within an eighth of the file. Cut the file there, and give the parts as inputs.`
  const others = instead.map((other) => `PID ${other.pid} (${other.codec})`).join(', ')
  const begins =
    others === ''
      ? ''
      : `; ${kind} of another codec begins there on ${others}, which cannot continue it: transcode from there on as a job of its own`
  return `The source’s ${kind} on PID ${pid} (${codec}) is no longer in its program map from ${place} on${begins}.`
}

function usedOf(ended: readonly EndedStream[], { media }: Source, { sourceAudio }: Pick<Plan, 'sourceAudio'>) {
  const used = [
    ...(media.video === null ? [] : [media.video]),
    ...media.audio.filter(({ number }) => sourceAudio.includes(number)),
  ]
  return ended.filter(({ pid }) => used.some(({ id }) => id === pid))
}

/** Seconds in the source. */
function placeOf({ ticks }: EndedStream, { timeline }: Source): number {
  const start = wrapTicks(Math.round(timeline.startSeconds * TICKS_PER_SECOND))
  return Math.max(0, ticksBetween(start, ticks) / TICKS_PER_SECOND)
}
