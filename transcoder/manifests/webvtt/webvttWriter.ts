// In charge of: WebVTT: a file of captions, one segment of them, and the track that places thumbnails in their sheets.
// Not in charge of: what the captions say.
import type { ThumbnailTrack } from '../presentation/presentation.ts'
import { joinPath, relativePath, encodeUriPath } from '../presentation/relativeUri.ts'

export interface VttCue {
  /** Seconds. */
  start: number
  end: number
  /** Plain text; lines by line feeds. */
  text: string
  /** Cue settings as WebVTT writes them, such as `line:90%`; '' = none. */
  settings: string
}

/**
 * A file. `mapMpegts`: the PTS that stands for 00:00:00 (RFC 8216bis, 3.5), for segments of HLS; null for a file of its own.
 * Cues that end before they begin are left out.
 */
export function webvtt(cues: readonly VttCue[], mapMpegts: number | null = null): string {
  const map = mapMpegts === null ? [] : [`X-TIMESTAMP-MAP=MPEGTS:${mapMpegts},LOCAL:00:00:00.000`]
  const blocks = cues
    .filter(({ start, end }) => Math.round(end * 1000) > Math.round(start * 1000))
    .map(({ start, end, text, settings }) => cueBlock(start, end, settings, escape(text)))
  return `${[['WEBVTT', ...map].join('\n'), ...blocks].join('\n\n')}\n`
}

/** Cues that are seen between two times: those of one segment. A cue over a boundary is in both segments (RFC 8216bis, 3.5). */
export function cuesBetween(cues: readonly VttCue[], start: number, end: number): VttCue[] {
  return cues.filter((cue) => cue.start < end && cue.end > start)
}

/** One cue for each picture: `sheet.jpg#xywh=x,y,w,h` (Media Fragments URI, 4.2.2), seen from the track's own file. */
export function thumbnailVtt(track: ThumbnailTrack, duration: number): string {
  const { width, height, columns, rows, intervalSeconds, sheets, vtt, directory } = track
  const perSheet = columns * rows
  const count = Math.min(Math.ceil(duration / intervalSeconds - 1e-9), sheets.length * perSheet)
  const blocks = Array.from({ length: count }, (_, at) => {
    const place = at % perSheet
    const sheet = joinPath(directory, sheets[Math.floor(at / perSheet)]!.uri)
    const uri = encodeUriPath(relativePath(joinPath(directory, vtt.uri), sheet))
    const [x, y] = [(place % columns) * width, Math.floor(place / columns) * height]
    const end = Math.min((at + 1) * intervalSeconds, duration)
    return cueBlock(at * intervalSeconds, end, '', `${uri}#xywh=${x},${y},${width},${height}`)
  })
  return `${['WEBVTT', ...blocks].join('\n\n')}\n`
}

function cueBlock(start: number, end: number, settings: string, payload: string): string {
  return `${formatTime(start)} --> ${formatTime(end)}${settings === '' ? '' : ` ${settings}`}\n${payload}`
}

/** hh:mm:ss.mmm; hours have as many digits as they need. */
function formatTime(seconds: number): string {
  const ms = Math.round(seconds * 1000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const rest = String(ms % 1000).padStart(3, '0')
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}.${rest}`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Text that can hold neither markup nor `-->`, nor an empty line, which would end the cue. */
function escape(text: string): string {
  return text
    .replaceAll(/[&<>]/g, (sign) => ENTITIES[sign]!)
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
    .join('\n')
}
