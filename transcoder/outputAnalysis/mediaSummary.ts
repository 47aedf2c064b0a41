// In charge of: combining probed and counted values of written media into media facts.
// Not in charge of: probing and counting.
import type { AudioFacts, MediaFacts, VideoFacts } from '#contract/task/mediaFacts.ts'
import { HDR_NAMES } from '../plan/video/hdr.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../plan/model/mediaInfo.ts'
import type { Rational } from '../formats/rational.ts'
import { multiply, ratio, toNumber } from '../formats/rational.ts'
import { ratioText } from '../plan/estimate/describePlan.ts'
import type { MediaCounts } from '../formats/metering/byteCounts.ts'

/** Rounded to a tenth of a kilobit per second. */
export function kbps(value: number): number {
  return Math.round(value * 10) / 10
}

/** Rounded to milliseconds, the precision of containers. */
export function roundSeconds(value: number): number {
  return Math.round(value * 1000) / 1000
}

/**
 * Bitrate of coded video or audio alone; `seconds` of the whole output are used if the track's own duration is unknown.
 */
function trackBitrate(counts: MediaCounts | null, stream: VideoStream | AudioStream, seconds: number): number {
  const { tracks = [] } = counts ?? {}
  const track = tracks.find(({ id }) => id !== null && id === stream.id) ?? tracks[stream.index]
  const length = track?.seconds ?? stream.durationSeconds ?? seconds
  return track === undefined || length <= 0 ? 0 : kbps(track.bytes / 125 / length)
}

export interface ProbedOutput {
  media: MediaInfo
  counts: MediaCounts | null
  /** Duration of the whole output. */
  seconds: number
  codecString: string | null
  /** The counted rate; null = the rate that the container states. */
  frameRate: Rational | null
}

export function trackFacts(probed: ProbedOutput): Pick<MediaFacts, 'video' | 'audio'> {
  const { media, counts, seconds } = probed
  return {
    video: media.video === null ? null : videoFacts(media.video, probed),
    audio: media.audio.map((stream): AudioFacts => ({
      codec: stream.codec,
      channels: stream.channels,
      sample_rate: stream.sampleRate,
      bitrate_kbps: trackBitrate(counts, stream, seconds),
      language: stream.language === 'und' ? null : stream.language,
    })),
  }
}

function videoFacts(video: VideoStream, { counts, seconds, codecString, frameRate }: ProbedOutput): VideoFacts {
  const rate = frameRate ?? video.frameRate ?? ratio(0, 1)
  const { width, height } = video
  return {
    codec: video.codec,
    codec_string: codecString,
    width,
    height,
    display_aspect_ratio: ratioText(multiply(video.sar, ratio(width, height))),
    frame_rate: ratioText(rate, '/'),
    frames_per_second: roundSeconds(toNumber(rate)),
    scan: ['tt', 'bb', 'tb', 'bt'].includes(video.fieldOrder) ? 'interlaced' : 'progressive',
    dynamic_range: HDR_NAMES[video.colorTransfer ?? ''] ?? 'sdr',
    bitrate_kbps: trackBitrate(counts, video, seconds),
  }
}
