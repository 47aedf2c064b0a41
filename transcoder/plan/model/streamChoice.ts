// In charge of: which of a file's video streams a player would show, and which of its audio streams nothing can decode.
// Not in charge of: reading them (ffprobeJson.ts), the audio that a job selects (audio/missingAudio.ts).
import type { ProbeStream } from './probeOutput.ts'

/** Codecs of still images; a video of such frames is chosen where there is no other. */
const PICTURES = new Set(['mjpeg', 'png', 'bmp', 'gif', 'webp', 'tiff', 'jpeg2000'])
/** ffmpeg knows their names and has no decoder. A codec without a name is unknown to it. */
const UNDECODABLE = new Set(['unknown', 'none', 'ac4', 'mpegh_3d_audio'])

/** Cover art, previews and disabled tracks come after the pictures that move, then the order of the file decides. */
export function chooseVideo(streams: readonly ProbeStream[]): ProbeStream | undefined {
  const moving = hasMotion(streams)
  const ranked = streams.map((stream) => ({
    stream,
    rank: (moving && isPicture(stream) ? 2 : 0) + (stream.disposition?.['default'] === 1 ? 0 : 1),
  }))
  return ranked.toSorted((one, other) => one.rank - other.rank)[0]?.stream
}

/** Beside such a stream, a single picture is cover art. */
export function hasMotion(videos: readonly ProbeStream[]): boolean {
  return videos.some((stream) => !isPicture(stream))
}

export function isPicture(stream: ProbeStream): boolean {
  const count = frames(stream)
  return count === null ? PICTURES.has(stream.codec_name ?? '') : count < 2
}

/** null = not stated. Matroska states the time of the end in a tag. */
function frames(stream: ProbeStream): number | null {
  if (stream.disposition?.['still_image'] === 1) return 1
  if (stream.nb_frames !== undefined) return Number(stream.nb_frames)
  const [num = 0, den = 0] = (stream.avg_frame_rate ?? '').split('/').map(Number)
  const [hours = 0, minutes = 0, seconds = 0] = (stream.tags?.['DURATION'] ?? '').split(':').map(Number)
  const end = hours * 3600 + minutes * 60 + seconds
  const length =
    stream.duration === undefined ? end - Math.max(0, Number(stream.start_time ?? 0)) : Number(stream.duration)
  const count = (length * num) / den
  return Number.isFinite(count) && count > 0 ? Math.round(count) : null
}

/** No frame of it can be decoded: its codec is unknown, or no frame was found. */
export function isUnreadable(stream: ProbeStream): boolean {
  return (stream.channels ?? 0) === 0 || UNDECODABLE.has(stream.codec_name ?? 'unknown')
}
