// In charge of: sheets of small pictures and the poster out of ffmpeg, held in memory until the manifests are written.
// Not in charge of: telling them apart (jpegSplitter.ts), describing them (sidecarFiles.ts).
import type { Readable } from 'node:stream'
import { EngineError } from './engineError.ts'
import { FormatError } from '../formats/streamError.ts'
import { JpegSplitter } from '../formats/jpegSplitter.ts'

/** A day of sheets where nothing said how long the source is; far more than any film has. */
const MAX_BYTES = 256 * 1024 * 1024

/** Reads to the end. Resolves with null where the last picture is cut off: ffmpeg's own ending explains it better. */
export async function readJpegs(stream: Readable): Promise<Uint8Array[] | null> {
  const splitter = new JpegSplitter()
  const pictures: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of stream)
      for (const picture of splitter.push(chunk as Buffer)) {
        bytes += picture.length
        if (bytes > MAX_BYTES) throw new EngineError('output_too_large', 'The thumbnails exceeded their maximum size.')
        pictures.push(picture)
      }
    splitter.end()
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    if (error.code === 'cut off') return null
    throw new EngineError('output_broken', error.message, error)
  }
  return pictures
}
