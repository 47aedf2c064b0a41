// In charge of: the first picture of a recording that begins in the middle of a group of pictures: what comes before it
// cannot be decoded.
// Not in charge of: where the outputs begin (plan/streams/outputTiming.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { FfprobeError, runFfprobe, type FfmpegPrograms } from '../ffmpeg/run.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

/** Formats of recordings, which begin anywhere. */
const RECORDED: ReadonlySet<string> = new Set(['mpegts', 'mpeg'])
/** Decoders show nothing before a key frame. HEVC is shown at once, in parts grey. */
const WAITING: ReadonlySet<string> = new Set(['h264', 'mpeg2video', 'mpeg1video', 'vc1'])
/** Ten seconds, the longest groups of pictures of an encoder that was not told otherwise. */
const PACKETS = 600
const TIMEOUT_MS = 60_000

/** The source with the time of its first picture, if packets come before it that cannot be decoded. */
export async function withFirstPicture(
  engine: FfmpegPrograms,
  url: string,
  media: MediaInfo,
  options: { signal: AbortSignal; cwd: string },
): Promise<MediaInfo> {
  const { video } = media
  if (video === null || !WAITING.has(video.codec) || !media.formats.some((format) => RECORDED.has(format))) return media
  const packets = (count: number): Promise<string> => {
    const args = [
      ...inputFlags(url),
      ...['-hide_banner', '-v', 'error', '-of', 'csv=p=0', '-select_streams', `${video.index}`],
      ...['-read_intervals', `%+#${count}`, '-show_entries', 'packet=pts_time,flags', '-i', url],
    ]
    return runFfprobe(engine, args, { ...options, purpose: 'find the first picture', timeoutMs: TIMEOUT_MS })
  }
  try {
    // Few recordings begin within a group: of the others, nothing more is read.
    if (beginsWithKey(await packets(1))) return media
    const firstPictureSeconds = firstPictureOf(await packets(PACKETS))
    return firstPictureSeconds === null ? media : { ...media, video: { ...video, firstPictureSeconds } }
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof FfprobeError) return media
    throw error
  }
}

/** `packets`: lines of a time and flags. */
function beginsWithKey(packets: string): boolean {
  return isKey(packets.split('\n')[0] ?? '')
}

function isKey(packet: string): boolean {
  return packet.split(',')[1]?.startsWith('K') === true
}

/** null = no packet is a key frame, or it has no time. */
export function firstPictureOf(packets: string): number | null {
  const first = packets.split('\n').find(isKey)
  const seconds = Number.parseFloat(first ?? '')
  return Number.isFinite(seconds) ? seconds : null
}
