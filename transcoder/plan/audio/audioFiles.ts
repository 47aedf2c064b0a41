// In charge of: audio_output_path: each audio profile as a separate file, in addition to the outputs that carry it.
// Not in charge of: the mix and the codec of a profile (audioTracks.ts).
import { audioFilePath } from '#contract/job/paths/outputNames.ts'
import { audioFileOf } from '#contract/codecs.ts'
import { planTrack } from './audioTracks.ts'
import { mixedStreams } from '../model/channelMix.ts'
import type { AudioFilePlan } from '#contract/task/plan/plan.ts'
import type { PlanContext } from '../planContext.ts'
import { outputDuration } from '../streams/outputTiming.ts'

/** A generous estimate of ADTS headers and MP4 tables. */
const OVERHEAD = 1.1
const UNKNOWN_DURATION_SECONDS = 12 * 3600

export function planAudioFiles(context: PlanContext): AudioFilePlan[] {
  const { spec, media } = context
  const { startSeconds } = context.timeline
  if (spec.audioDirectory === null) return []
  return spec.audio.flatMap((profile) => {
    const audio = planTrack(context, profile, 'file')
    if (audio === null) return []
    const streams = mixedStreams(audio)
    const used = media.audio.filter(({ number }) => streams.includes(number))
    // An audio stream may end before the video, and one that begins late gets silence before it.
    const knownDuration = used.some((stream) => stream.durationSeconds === null)
      ? null
      : outputDuration(media, used, startSeconds)
    const source = knownDuration ?? outputDuration(media, [], startSeconds) ?? UNKNOWN_DURATION_SECONDS
    const estimate = Math.max(source, audio.silenceUntilSeconds)
    const file = audioFileOf(profile.codec, profile.container)
    return [
      {
        profile: profile.index,
        path: audioFilePath(spec, profile),
        container: file.container,
        contentType: file.contentType,
        // The files of a job with video are as they always were.
        isExact: spec.video.length === 0,
        audio,
        durationSeconds: knownDuration,
        expectedBytes: Math.ceil(estimate * profile.bitrateKbps * 125 * OVERHEAD + 65_536),
      },
    ]
  })
}
