// In charge of: what the segmenter hands on of one stream.
// Not in charge of: recording it (segmentWriter.ts), measuring it (cutters/meteredCutter.ts).
import type { MeteredStream } from './cutters/meteredCutter.ts'
import type { RecordedRendition } from './segmentCheck.ts'

/** One stream of segments, and what was measured in it. */
export interface SegmentedStream {
  recorded: RecordedRendition
  metered: MeteredStream
}
