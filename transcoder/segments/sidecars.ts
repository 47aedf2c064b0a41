// In charge of: what lies beside the segments: captions as files, stored and described for the manifests.
// Not in charge of: reading them (captionTaker.ts), manifests (package/).
import { createHash } from 'node:crypto'
import { joinPath } from '#contract/outputs.ts'
import type { CaptionChannelCues } from '../captions/decoder.ts'
import { textFiles, type TextSpan } from '../captions/tracks.ts'
import type { Segment, TextTrack, VideoTrack } from '../package/model.ts'
import { Payload } from './spool.ts'

/** RFC 8216bis, 3.1.4, and the registration of WebVTT. */
const TEXT_TYPE = 'text/vtt'

export interface SidecarFile {
  /** Below the directory of the packaging. */
  path: string
  contentType: string
  role: 'captions' | 'media'
  payload: Payload
}

export interface CaptionFiles {
  tracks: TextTrack[]
  files: SidecarFile[]
}

/**
 * `own`: the attempt's directory. `video`: the track whose segments text is cut along. `origin`: presentation time 0 on the
 * clock of HLS segments, 90 kHz.
 */
export function captionFiles(
  channels: readonly CaptionChannelCues[],
  languages: Readonly<Record<string, string>>,
  { own, video, origin }: { own: string; video: VideoTrack; origin: number },
): CaptionFiles {
  const files: SidecarFile[] = []
  const spans = spansOf(video)
  const tracks = channels.map(({ channel, cues }): TextTrack => {
    const directory = `captions/${channel}`
    const written = textFiles({ cues }, spans, origin)
    const store = (uri: string, body: string): Omit<Segment, 'start' | 'duration'> => {
      const payload = inMemory(Buffer.from(body))
      files.push({ path: joinPath(directory, uri), contentType: TEXT_TYPE, role: 'captions', payload })
      return { uri, bytes: payload.bytes, sha256: payload.sha256 }
    }
    return {
      kind: 'text',
      id: `captions_${channel}`,
      directory,
      channel,
      name: channel,
      language: languages[channel] ?? null,
      timescale: 1000,
      segments: written.segments.map((body, index) => ({
        ...store(`${own}/${String(index + 1).padStart(5, '0')}.vtt`, body),
        ...spans[index]!,
      })),
      whole: store(`${own}/captions.vtt`, written.whole),
    }
  })
  return { tracks, files }
}

/** In whole milliseconds, without gaps. */
function spansOf({ segments, timescale }: VideoTrack): TextSpan[] {
  const at = (ticks: number) => Math.round((ticks * 1000) / timescale)
  return segments.map(({ start, duration }) => ({ start: at(start), duration: at(start + duration) - at(start) }))
}

export function inMemory(bytes: Buffer): Payload {
  return new Payload(bytes.length, createHash('sha256').update(bytes).digest('hex'), bytes)
}
