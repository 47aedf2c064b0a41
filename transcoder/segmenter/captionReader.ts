// In charge of: the copied pictures of the source out of ffmpeg, to cues, while they come.
// Not in charge of: reading pictures (formats/cea/captionExtractor.ts) and captions (formats/cea/captionDecoder.ts), files (textSubtitles.ts).
import type { Readable } from 'node:stream'
import { CaptionDecoder } from '../formats/cea/captionDecoder.ts'
import { CaptionExtractor } from '../formats/cea/captionExtractor.ts'
import { TS_ORIGIN_TICKS } from '../plan/forms.ts'

/** Reads to the end. What cannot be read as captions is passed over: the pictures themselves are judged where they are encoded. */
export async function readCaptions(stream: Readable, decoder: CaptionDecoder): Promise<void> {
  const source = new CaptionExtractor(TS_ORIGIN_TICKS)
  for await (const chunk of stream)
    for (const { time, bytes } of source.push(chunk as Buffer)) decoder.push(time, bytes)
  for (const { time, bytes } of source.end()) decoder.push(time, bytes)
}
