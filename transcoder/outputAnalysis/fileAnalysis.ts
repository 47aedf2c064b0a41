// In charge of: the media facts of a finished file: from ffprobe, and from byte counts in its sample tables or taken
// during the upload.
// Not in charge of: whether it is complete (pipeline/encode.ts).
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import { detectCaptions, type ScratchDirs } from '../analysis/streamDetails.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import { checkMp4 } from '../mp4FileCheck.ts'
import { isMp4 } from '../plan/forms.ts'
import type { PlannedFile } from '../plan/model/plannedFiles.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { MediaCounts } from '../formats/metering/byteCounts.ts'
import { kbps, roundSeconds, trackFacts } from './mediaSummary.ts'
import { countSamples } from './sampleTables.ts'

export interface AnalyzedFile {
  path: string
  container: PlannedFile['container']
  bytes: number
  /** What ffprobe reports about it. */
  probed: MediaInfo
  /** Counted while the file was written; null if its sample tables contain the counts. */
  counts: MediaCounts | null
  /** Captions were to be kept in its frames. */
  captions: boolean
}

/** Null if the file does not state its duration. */
export async function analyzeFile(engine: Engine, file: AnalyzedFile, dirs: ScratchDirs): Promise<MediaFacts | null> {
  const { probed, bytes } = file
  const seconds = probed.durationSeconds
  if (seconds === null) return null
  const counts = file.counts ?? (await countSampleTables(file)) ?? singleStreamCounts(file)
  const average = bytes / 125 / seconds
  // Bare audio frames all have one size, so no second exceeds the average; nor does a file of less than a second.
  const peak = Math.max(average, counts.seconds?.peakKbps(seconds) ?? 0)
  const captionChannels =
    file.captions && probed.video !== null ? await detectCaptions(engine, `file:${file.path}`, probed.video, dirs) : []
  return {
    duration_seconds: roundSeconds(seconds),
    average_bitrate_kbps: kbps(average),
    peak_bitrate_kbps: kbps(peak),
    ...trackFacts({ media: probed, counts, seconds, codecString: counts.codecString, frameRate: null }),
    captions: captionChannels.map((name) => ({ kind: 'embedded', name, language: null })),
  }
}

async function countSampleTables({ path, container }: AnalyzedFile): Promise<MediaCounts | null> {
  return isMp4(container) ? countSamples(path, (await checkMp4(path)).boxes) : null
}

/** For a file that consists of a single stream. */
function singleStreamCounts({ bytes }: AnalyzedFile): MediaCounts {
  return { tracks: [{ id: null, bytes, seconds: null }], seconds: null, codecString: null }
}
