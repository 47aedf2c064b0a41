// In charge of: reading ffmpeg's WebVTT as cues of plain text in presentation time.
// Not in charge of: writing WebVTT (webvttWriter.ts), ffmpeg's arguments (plan/argv/segmentArgs.ts).
import type { VttCue } from './webvttWriter.ts'

/** Times in WebVTT; hours are optional. */
const TIMES = /^(?:(\d+):)?(\d{2}):(\d{2}\.\d{3}) --> (?:(\d+):)?(\d{2}):(\d{2}\.\d{3})/
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', nbsp: '\u00A0', lrm: '\u200E', rlm: '\u200F' }

/**
 * `origin`: seconds of the file's clock at presentation time 0. `end`: duration of the video in seconds, to which cues
 * are cut.
 */
export function parseWebvtt(text: string, origin: number, end: number): VttCue[] {
  return text
    .split(/(?:\r\n|\r|\n){2,}/)
    .flatMap((block): VttCue[] => {
      const lines = block.split(/\r\n|\r|\n/)
      const at = lines.findIndex((line) => TIMES.test(line))
      const times = TIMES.exec(lines[at] ?? '')
      if (times === null) return []
      const [from, to] = [parseTime(times, 1), parseTime(times, 4)].map((seconds) => Math.max(0, seconds - origin))
      const spoken = plainText(lines.slice(at + 1).join('\n'))
      if (spoken === '' || from! >= end || to! <= from!) return []
      return [{ start: from!, end: Math.min(to!, end), text: spoken, settings: '' }]
    })
    .toSorted((a, b) => a.start - b.start)
}

function parseTime(found: RegExpExecArray, at: number): number {
  return Number(found[at] ?? 0) * 3600 + Number(found[at + 1]) * 60 + Number(found[at + 2])
}

/**
 * Removes ffmpeg's markup, such as italics, as for captions. ffmpeg escapes other special characters only sometimes.
 */
function plainText(text: string): string {
  return text
    .replaceAll(/<\/?[biu]>/g, '')
    .replaceAll(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .trim()
}
