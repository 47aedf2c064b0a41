// In charge of: writing WebVTT: a caption file, one segment of it, and the track that maps times to thumbnails in their
// sheets.
// Not in charge of: the captions' text.
import type { ThumbnailTrack } from '../presentation/presentation.ts'
import { joinPath, relativePath, encodeUriPath } from '../presentation/relativeUri.ts'

export interface VttCue {
  /** Seconds. */
  start: number
  end: number
  /** Plain text; lines are separated by line feeds. */
  text: string
  /** Cue settings as WebVTT writes them, such as `line:90%`; '' = none. */
  settings: string
  /** The text with tags and escaped signs, without empty lines; missing = the text has no styles. */
  markup?: string
}

/**
 * A file. `mapMpegts`: the PTS that corresponds to 00:00:00 (RFC 8216bis, 3.5), for segments of HLS; null for a
 * standalone file. Cues that end before they begin are left out.
 */
export function webvtt(cues: readonly VttCue[], mapMpegts: number | null = null): string {
  return webvttOf(
    cues.flatMap((cue) => vttBlock(cue) ?? []),
    mapMpegts,
  )
}

/** The same for cues that are written already. */
export function webvttOf(blocks: readonly string[], mapMpegts: number | null): string {
  const map = mapMpegts === null ? [] : [`X-TIMESTAMP-MAP=MPEGTS:${mapMpegts},LOCAL:00:00:00.000`]
  return `${[['WEBVTT', ...map].join('\n'), ...blocks].join('\n\n')}\n`
}

/** null = the cue ends before it begins. */
export function vttBlock({ start, end, text, settings, markup }: VttCue): string | null {
  if (Math.round(end * 1000) <= Math.round(start * 1000)) return null
  return cueBlock(start, end, settings, markup ?? escape(text))
}

/** One cue per thumbnail: `sheet.jpg#xywh=x,y,w,h` (Media Fragments URI, 4.2.2), relative to the track's own file. */
export function thumbnailVtt(track: ThumbnailTrack, duration: number): string {
  const { width, height, columns, rows, intervalSeconds, sheets, vtt, directory } = track
  const perSheet = columns * rows
  const count = Math.min(Math.ceil(duration / intervalSeconds - 1e-9), sheets.length * perSheet)
  const blocks = Array.from({ length: count }, (_, at) => {
    const index = at % perSheet
    const sheet = joinPath(directory, sheets[Math.floor(at / perSheet)]!.uri)
    const uri = encodeUriPath(relativePath(joinPath(directory, vtt.uri), sheet))
    const [x, y] = [(index % columns) * width, Math.floor(index / columns) * height]
    const end = Math.min((at + 1) * intervalSeconds, duration)
    return cueBlock(at * intervalSeconds, end, '', `${uri}#xywh=${x},${y},${width},${height}`)
  })
  return `${['WEBVTT', ...blocks].join('\n\n')}\n`
}

function cueBlock(start: number, end: number, settings: string, text: string): string {
  return `${formatTime(start)} --> ${formatTime(end)}${settings === '' ? '' : ` ${settings}`}\n${text}`
}

/** hh:mm:ss.mmm; hours have as many digits as they need. */
function formatTime(seconds: number): string {
  const ms = Math.round(seconds * 1000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const rest = String(ms % 1000).padStart(3, '0')
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}.${rest}`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes markup and `-->`. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>]/g, (sign) => ENTITIES[sign]!)
}

/** The same for lines, and removes empty lines, which would end the cue. */
function escape(text: string): string {
  return escapeText(text)
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
    .join('\n')
}
