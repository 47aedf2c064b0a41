// In charge of: what the end of segmented output needs to know of its segments, whoever made them: one run of ffmpeg, or
// the parts of a divided job.
// Not in charge of: making them (segmenter.ts, division/assembleParts.ts), the manifests (finishPackage.ts).
import type { FinishedObject } from '#contract/task/protocol.ts'
import type { CaptionDecoder } from '../formats/cea/captionDecoder.ts'
import type { TarUpload } from '../upload/tarUpload.ts'
import type { RecordedRendition } from './segmentCheck.ts'
import type { SegmentedStream } from './segmentedStream.ts'
import type { Picture, SidecarFile } from './sidecarFiles.ts'
import type { SubtitleText } from './subtitleReader.ts'

export interface StoredSegments {
  /** The directory below each track's in which this attempt stores files. The segments may be in others. */
  readonly attemptDirectory: string
  readonly renditions: RecordedRendition[]
  /** The renditions with their counts. */
  readonly streams: SegmentedStream[]
  /** null = the outputs have none. */
  readonly tar: TarUpload | null
  /** How much of the copied streams comes before the first frame of the outputs. */
  readonly secondsBefore: number
  readonly captions: Pick<CaptionDecoder, 'end'>
  /** The source's text subtitles, in the order of the plan. */
  readonly subtitles: readonly SubtitleText[]
  /** null = they are incomplete. */
  readonly sheets: readonly Picture[] | null
  readonly posters: readonly Picture[] | null
  /** Uploads those files that are not stored yet. */
  enqueueFiles(files: readonly SidecarFile[]): void
  /** Resolves when everything is stored. Returns the objects that the commit has to complete. */
  finish(): Promise<FinishedObject[]>
}
