// In charge of: the process in which a caption file is read: its bytes from one pipe, what was read as JSON into another.
// Not in charge of: its limits, and starting it (captionProcess.ts).
import { readFileSync, writeFileSync } from 'node:fs'
import { CaptionError } from '../formats/captions/captionError.ts'
import { readCaptions, type ReadRequest } from '../formats/captions/readCaptions.ts'
import type { CaptionAnswer } from './captionProcess.ts'

/** The pipes after the standard ones: that of the reader, and that of the feed (run.ts). */
const [ANSWER, FILE] = [3, 4]

function answer(): CaptionAnswer {
  try {
    return { file: readCaptions(readFileSync(FILE), JSON.parse(process.argv[2]!) as ReadRequest) }
  } catch (error) {
    if (!(error instanceof CaptionError)) throw error
    return { message: error.message, line: error.line }
  }
}

writeFileSync(ANSWER, JSON.stringify(answer()))
