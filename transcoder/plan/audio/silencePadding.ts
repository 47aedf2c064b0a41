// In charge of: how much silence is added to the end of an audio track: up to the video's end in segmented output, and
// where the source's audio ends before the outputs begin.
// Not in charge of: gaps within a track, which the resampler fills (filters.ts).
import type { AudioStream } from '../model/mediaInfo.ts'
import type { PlanContext } from '../planContext.ts'
import { toNumber } from '../../formats/rational.ts'
import { sourceRate } from '../video/frameRate.ts'
import { outputDuration, outputStartSeconds, usedAudioStreams } from '../streams/outputTiming.ts'

/**
 * A track that ends before the outputs begin still gets one packet of silence: without a packet ffmpeg 5 leaves the
 * track out, and ffmpeg 7 ends with SIGABRT.
 */
const ONE_PACKET_SECONDS = 0.032

/** Without video, renditions of several streams of the source are as long as the longest. */
function longestAudio({ spec, media }: PlanContext, begin: number): number {
  const numbers = usedAudioStreams(spec)
  const used = media.audio.filter(({ number }) => numbers.includes(number))
  const ends = used.map((stream) => (stream.durationSeconds === null ? null : outputDuration(media, [stream], begin)))
  const known = ends.filter((end) => end !== null)
  return used.length < 2 || known.length < ends.length ? 0 : Math.floor(Math.max(...known) * 1000) / 1000
}

/** The least duration of the track in seconds; 0 = no padding. */
export function silencePaddingUntil(context: PlanContext, stream: AudioStream, kind: 'segments' | 'file'): number {
  const { spec, media } = context
  const { video } = media
  const begin = outputStartSeconds(spec, media)
  if (video === null) return kind === 'segments' ? longestAudio(context, begin) : 0
  const videoEnd = outputDuration(media, [video], begin)
  const end = stream.durationSeconds === null ? null : outputDuration(media, [stream], begin)
  const endsBeforeStart = end === 0
  if (endsBeforeStart)
    context.warn({
      code: 'audio_ends_before_video',
      message: `Audio stream ${stream.number} of the source ends before the first frame of video: its track is silent in the outputs.`,
    })
  const least = end === null || endsBeforeStart ? ONE_PACKET_SECONDS : 0
  if (videoEnd === null || !(endsBeforeStart || kind === 'segments')) return least
  // Less a frame: durations are rounded, and audio longer than the video would add a segment.
  return Math.max(least, Math.floor((videoEnd - 1 / toNumber(sourceRate(spec, video).value)) * 1000) / 1000)
}
