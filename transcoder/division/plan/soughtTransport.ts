// In charge of: which transport streams can be divided into chunks: the places of chunks are found by time stamps.
// Not in charge of: finding them (analysis/transportSeek.ts), sources with an index (streams/cut.ts).
import { isSoughtCodec } from '../../formats/mpegts/accessPoint.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'

/** Time stamps have 33 bits: they repeat after 26.5 hours. */
const LONGEST_SECONDS = 26 * 3600

export function isSoughtTransport(media: MediaInfo): boolean {
  return media.formats.includes('mpegts') && notSought(media) === null
}

/** Why one task makes jobs of this transport stream; null = it can be divided. */
export function notSought({ video, programs, durationSeconds, clockJumps }: MediaInfo): string | null {
  // ffmpeg searches in the clock of one of them.
  if (programs.length > 1) return 'the source is a transport stream of several programs, each with a clock of its own'
  if (video === null || video.id === null || !isSoughtCodec(video.codec))
    return `the source is a transport stream of ${video?.codec ?? 'no video'}; the places of chunks are found in h.264, hevc and mpeg2 video`
  if (clockJumps !== undefined && clockJumps.length > 0) return 'the time stamps of the source jump'
  if (durationSeconds === null || durationSeconds > LONGEST_SECONDS)
    return 'the source is a transport stream of more than 26 hours, whose time stamps repeat'
  return null
}
