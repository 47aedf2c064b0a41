// In charge of: reading subtitles with ffmpeg: tx3g of mp4 files, WebVTT files, and caption files of other formats.
// Not in charge of: expectations.
import { ffmpeg } from '../media/media.ts'

export interface ReadSubtitle {
  /** Milliseconds. */
  start: number
  end: number
  /** As SubRip, with its tags. */
  text: string
}

/** The texts of a tx3g track as they are stored: ffmpeg's conversion changes braces and backslashes. */
export async function storedTexts(path: string, selector = '0:s:0'): Promise<string[]> {
  const data = await ffmpeg(['-i', path, '-map', selector, '-c', 'copy', '-f', 'data', '-'])
  const texts: string[] = []
  let at = 0
  while (at < data.length) {
    const length = data.readUInt16BE(at)
    if (length > 0) texts.push(data.toString('utf8', at + 2, at + 2 + length))
    at += 2 + length
    while (data.toString('latin1', at + 4, at + 8) === 'styl') at += data.readUInt32BE(at)
  }
  return texts
}

/** All subtitles of one stream, as ffmpeg converts them to SubRip. */
export async function readSubtitles(path: string, selector = '0:s:0'): Promise<ReadSubtitle[]> {
  const srt = await ffmpeg(['-i', path, '-map', selector, '-c:s', 'srt', '-f', 'srt', '-'])
  return srt
    .toString('utf8')
    .replaceAll('\r', '')
    .split(/\n\n(?=\d+\n|$)/)
    .flatMap((block) => {
      const found = /^\d+\n(\S+) --> (\S+)\n([^]*)$/.exec(block.trim())
      return found === null ? [] : [{ start: milliseconds(found[1]!), end: milliseconds(found[2]!), text: found[3]! }]
    })
}

function milliseconds(time: string): number {
  const [hours, minutes, seconds, rest] = time.split(/[:,]/).map(Number)
  return ((hours! * 60 + minutes!) * 60 + seconds!) * 1000 + rest!
}
