// In charge of: one channel's cues as WebVTT files: one per segment of the presentation, and one for the whole.
// Not in charge of: the text of a file (webvttWriter.ts), storing them (transcoder/segmenter).
import { vttBlock, webvttOf } from './webvttWriter.ts'
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
 * `mapMpegts`: the PTS of presentation time 0 in the media segments. `intervals`: in order, without gaps. A cue that
 * crosses a boundary is in both files (RFC 8216bis, 3.5). null = cues are shown over so many segments that their text
 * would have more than `mostCharacters`.
 */
export function webvttFiles(
  { cues }: Pick<CaptionChannelCues, 'cues'>,
  intervals: readonly SegmentInterval[],
  mapMpegts: number,
  mostCharacters: number,
): WebvttFiles | null {
  const blocks: string[] = []
  const segments = intervals.map((): string[] => [])
  let characters = 0
  for (const cue of cues) {
    const block = vttBlock(cue)
    if (block === null) continue
    blocks.push(block)
    for (let at = firstAfter(intervals, cue.start); at < intervals.length; at++) {
      if (intervals[at]!.start / 1000 >= cue.end) break
      characters += block.length
      if (characters > mostCharacters) return null
      segments[at]!.push(block)
    }
  }
  return {
    segments: segments.map((shown) => webvttOf(shown, mapMpegts)),
    fullFile: webvttOf(blocks, null),
  }
}

/** The first interval that ends after `seconds`. */
function firstAfter(intervals: readonly SegmentInterval[], seconds: number): number {
  let [low, high] = [0, intervals.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const { start, duration } = intervals[middle]!
    if ((start + duration) / 1000 > seconds) high = middle
    else low = middle + 1
  }
  return low
}
