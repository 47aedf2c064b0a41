// In charge of: what was measured in a finished file: probed, and counted in its tables or as it left.
// Not in charge of: whether it is whole (encode.ts).
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
  /** As ffprobe sees it. */
  probed: MediaInfo
  /** Counted as it left; null where its tables tell. */
  counts: MediaCounts | null
  /** Captions were to be kept in its pictures. */
  captions: boolean
}

/** Null where it says no length. */
export async function analyzeFile(engine: Engine, file: AnalyzedFile, places: ScratchDirs): Promise<MediaFacts | null> {
  const { probed, bytes } = file
  const seconds = probed.durationSeconds
  if (seconds === null) return null
  const counts = file.counts ?? (await countSampleTables(file)) ?? singleStreamCounts(file)
  const average = bytes / 125 / seconds
  // Of bare audio frames, all of one size, no second has more than another; nor has a file of less than a second.
  const peak = Math.max(average, counts.seconds?.peakKbps(seconds) ?? 0)
  const seen =
    file.captions && probed.video !== null
      ? await detectCaptions(engine, `file:${file.path}`, probed.video, places)
      : []
  return {
    duration_seconds: roundSeconds(seconds),
    average_bitrate_kbps: kbps(average),
    peak_bitrate_kbps: kbps(peak),
    ...trackFacts({ media: probed, counts, seconds, codecString: counts.codecString, frameRate: null }),
    captions: seen.map((name) => ({ kind: 'embedded', name, language: null })),
  }
}

async function countSampleTables({ path, container }: AnalyzedFile): Promise<MediaCounts | null> {
  return isMp4(container) ? countSamples(path, (await checkMp4(path)).boxes) : null
}

/** A file that is nothing but its only stream. */
function singleStreamCounts({ bytes }: AnalyzedFile): MediaCounts {
  return { tracks: [{ id: null, bytes, seconds: null }], seconds: null, codecString: null }
}
