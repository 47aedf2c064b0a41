// In charge of: the warning that a stream which the outputs use ends before the source does, because its program map
// changes.
// Not in charge of: streams that go on on another PID (formats/mpegts/stableMap.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { Warning } from '#contract/errors.ts'
import { TICKS_PER_SECOND, ticksBetween, wrapTicks } from '../../formats/mpegts/clock.ts'
import type { EndedStream } from '../../formats/mpegts/stableMap.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '../../plan/model/plan.ts'
import { outputStartSeconds } from '../../plan/streams/outputTiming.ts'
import { clock } from './damageReport.ts'

export function endedStreamWarnings(
  ended: readonly EndedStream[],
  { spec, media }: { spec: JobSpec; media: MediaInfo },
  { sourceAudio }: Pick<Plan, 'sourceAudio'>,
): Warning[] {
  const used = [
    ...(media.video === null ? [] : [media.video]),
    ...media.audio.filter(({ number }) => sourceAudio.includes(number)),
  ]
  const start = wrapTicks(Math.round(outputStartSeconds(spec, media) * TICKS_PER_SECOND))
  return ended
    .filter(({ pid }) => used.some(({ id }) => id === pid))
    .map(({ pid, media: kind, ticks, instead }) => {
      const at = clock(Math.max(0, Math.floor(ticksBetween(start, ticks) / TICKS_PER_SECOND)))
      const others = instead.map(({ pid: other, codec }) => `PID ${other} (${codec})`).join(', ')
      const begins =
        others === ''
          ? ''
          : `; ${kind} of another codec begins there on ${others}, which cannot continue it: transcode from there on as a job of its own`
      return {
        code: 'stream_ends_early',
        message: `The source’s ${kind} on PID ${pid} is no longer in its program map from about ${at} on${begins}.`,
      }
    })
}
