// In charge of: one channel's cues as WebVTT files: one per segment of the presentation, and one for the whole.
// Not in charge of: the text of a file (webvttWriter.ts), storing them (transcoder/segmenter).
import { cuesBetween, webvtt } from './webvttWriter.ts'
import type { CaptionChannelCues } from '../../formats/cea/captionDecoder.ts'

/** A segment of the presentation. Milliseconds. */
export interface SegmentInterval {
  start: number
  duration: number
}

export interface WebvttFiles {
  /** One for each segment interval. */
  segments: string[]
  fullFile: string
}

/**
 * `mapMpegts`: the PTS of presentation time 0 in the media segments. A cue that crosses a boundary is in both files.
 */
export function webvttFiles(
  { cues }: Pick<CaptionChannelCues, 'cues'>,
  intervals: readonly SegmentInterval[],
  mapMpegts: number,
): WebvttFiles {
  return {
    segments: intervals.map(({ start, duration }) =>
      webvtt(cuesBetween(cues, start / 1000, (start + duration) / 1000), mapMpegts),
    ),
    fullFile: webvtt(cues),
  }
}
