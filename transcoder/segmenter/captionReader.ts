// In charge of: decoding captions from the copied video stream of the source while ffmpeg outputs it.
// Not in charge of: extracting caption data from frames (formats/cea/captionExtractor.ts), decoding it
// (formats/cea/captionDecoder.ts), files (webvttTracks.ts).
import type { Readable } from 'node:stream'
import { CaptionDecoder } from '../formats/cea/captionDecoder.ts'
import { CaptionExtractor } from '../formats/cea/captionExtractor.ts'
import { TS_ORIGIN_TICKS } from '../plan/forms.ts'

/**
 * `beforeTicks`: how much of the stream comes before the first frame of the outputs. A caption that is on the screen then
 * begins with that frame.
 *
 * Reads to the end. Data that cannot be read as captions is skipped: damage of the video is detected by the encode. */
export async function readCaptions(stream: Readable, decoder: CaptionDecoder, beforeTicks = 0): Promise<void> {
  const source = new CaptionExtractor(TS_ORIGIN_TICKS + beforeTicks)
  for await (const block of stream)
    for (const { time, bytes } of source.push(block as Buffer)) decoder.push(time, bytes)
  for (const { time, bytes } of source.end()) decoder.push(time, bytes)
}
