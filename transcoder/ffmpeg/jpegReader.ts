// In charge of: reading thumbnail sheets and the poster from ffmpeg and keeping them in memory until the manifests are
// written.
// Not in charge of: splitting the stream into JPEGs (formats/jpegSplitter.ts), describing them
// (segmenter/sidecarFiles.ts).
import type { Readable } from 'node:stream'
import { EngineError } from './engineError.ts'
import { FormatError } from '../formats/formatError.ts'
import { JpegSplitter } from '../formats/jpegSplitter.ts'

/** A day of sheets if the source does not state its duration; far more than any video has. */
const MAX_BYTES = 256 * 1024 * 1024

/** Reads to the end. Resolves with null if the last JPEG is truncated: ffmpeg's exit explains the error better. */
export async function readJpegs(stream: Readable): Promise<Uint8Array[] | null> {
  const splitter = new JpegSplitter()
  const jpegs: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const block of stream)
      for (const jpeg of splitter.push(block as Buffer)) {
        bytes += jpeg.length
        if (bytes > MAX_BYTES) throw new EngineError('output_too_large', 'The thumbnails exceeded their maximum size.')
        jpegs.push(jpeg)
      }
    splitter.end()
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    if (error.code === 'cut off') return null
    throw new EngineError('output_broken', error.message, error)
  }
  return jpegs
}
