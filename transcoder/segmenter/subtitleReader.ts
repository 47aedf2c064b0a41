// In charge of: reading one subtitle stream from ffmpeg and keeping it until the end of the run.
// Not in charge of: its content (manifests/webvtt/webvttParser.ts), files (webvttTracks.ts).
import type { Readable } from 'node:stream'

/** A day of dense dialogue needs a tenth of it; a hostile source may be endless. */
const MAX_BYTES = 16 * 1024 * 1024

export interface SubtitleText {
  /** WebVTT. */
  text: string
  /** The stream was longer than the limit. */
  truncated: boolean
}

/** Reads to the end. */
export async function readSubtitles(stream: Readable): Promise<SubtitleText> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const block of stream) {
    const part = block as Buffer
    if (bytes < MAX_BYTES) parts.push(part)
    bytes += part.length
  }
  const truncated = bytes > MAX_BYTES
  const text = Buffer.concat(parts).toString('utf8')
  // The last cue may be truncated.
  return { text: truncated ? text.slice(0, text.lastIndexOf('\n\n')) : text, truncated }
}
