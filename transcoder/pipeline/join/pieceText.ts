// In charge of: the captions and subtitles that are read while one piece is decoded.
// Not in charge of: where they are in the outputs (joinedText.ts).
import { CaptionDecoder } from '../../formats/cea/captionDecoder.ts'
import type { SubtitleText } from '../../segmenter/subtitleReader.ts'

export class PieceText {
  readonly captions = new CaptionDecoder()
  readonly subtitles = new Map<number, SubtitleText>()
  /** Seconds that are read before the piece begins. */
  readonly secondsBefore: number

  constructor(secondsBefore: number) {
    this.secondsBefore = secondsBefore
  }
}
