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
  /** The bytes of an SCC file, by time. */
  codes?: CaptionCodes[]
}

/** A line of an SCC file. */
export interface CaptionCodes {
  /** Seconds, as the times of cues. */
  start: number
  /** Field of line 21: 0 = field 1. */
  field: 0 | 1
  /** Without parity: first << 8 | second. One is sent in each 1001/30000 s. */
  pairs: number[]
}

export interface CaptionRemark {
  kind: 'encoding' | 'times' | 'programme start' | 'empty'
  message: string
}
