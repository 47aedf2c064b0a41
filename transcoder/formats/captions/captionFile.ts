// In charge of: what was read of a caption file.
// Not in charge of: reading it (readCaptions.ts).
import type { CaptionFormat } from '#contract/captions.ts'
import type { CaptionCue } from './captionCue.ts'

export interface CaptionFile {
  format: CaptionFormat
  /** By start. Overlapping cues are possible. */
  cues: CaptionCue[]
  /** What a client should know: sentences without a subject's name. */
  remarks: CaptionRemark[]
}

export interface CaptionRemark {
  kind: 'encoding' | 'times' | 'programme start' | 'empty'
  message: string
}
