// In charge of: ts_mode_input_audio_source_stream_count: how far a transport stream is probed, and the error where it
// has fewer audio streams.
// Not in charge of: probing (transcoder/analysis/probe.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { PlanContext } from '../planContext.ts'
import { unnamedAudio } from '../../formats/mpegts/elementaryKind.ts'
import { usedAudioStreams } from './outputTiming.ts'
import { TaskError } from '#contract/taskError.ts'

/** ffmpeg's defaults are 5 MB and 5 s. With them an audio stream that begins later is listed without its format. */
export const DEEP_PROBE_FLAGS: readonly string[] = ['-probesize', '50M', '-analyzeduration', '20M']

/**
 * The source is a transport stream, and the job states a number of streams, or selects one of which no frame was found
 * yet. ffmpeg must then probe as far as ffprobe did.
 */
export function needsDeepProbe(spec: JobSpec, media: MediaInfo): boolean {
  if (!media.formats.includes('mpegts')) return false
  if (media.isProbedDeep === true || spec.expectedAudioStreams !== null) return true
  const selected = usedAudioStreams(spec)
  return media.other.some(
    ({ audioNumber, codec }) =>
      audioNumber !== undefined && selected.includes(audioNumber) && !unnamedAudio.has(codec) && codec !== 'unknown',
  )
}

/** Throws audio_stream_missing where a transport stream has fewer audio streams than the job states. */
export function requireStreamCount(context: PlanContext): void {
  const { spec, media } = context
  const expected = spec.expectedAudioStreams
  if (expected === null) return
  const field = 'ts_mode_input_audio_source_stream_count'
  if (!media.formats.includes('mpegts')) {
    context.warn({
      code: 'no_effect',
      field,
      message: `${field} has no effect: the source is not a transport stream.`,
    })
    return
  }
  const found = media.audio.length
  if (found > expected)
    context.warn({
      code: 'no_effect',
      field,
      message: `${field} ${expected} leaves nothing out: the source has ${found} audio streams, and source_stream selects among all of them.`,
    })
  if (found >= expected) return
  throw new TaskError(
    'audio_stream_missing',
    `The source should have ${expected} audio ${expected === 1 ? 'stream' : 'streams'}; within 20 s or 50 MB ${found} can be read.`,
    { field, details: { expected, audio_streams: found } },
  )
}
