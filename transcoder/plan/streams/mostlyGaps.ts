// In charge of: the warning that a source is much longer than what it holds.
// Not in charge of: gaps that are found while a source is decoded (analysis/damage).
import type { Warning } from '#contract/errors.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'

/** The index alone of one frame per second and of its sound takes more. */
const LEAST_BYTES_PER_SECOND = 10
const SHORT_SECONDS = 60

/** `media`: the whole source. */
export function warnMostlyGaps({ sizeBytes: bytes, durationSeconds: seconds }: MediaInfo): Warning[] {
  if (bytes === null || seconds === null || seconds < SHORT_SECONDS || bytes >= seconds * LEAST_BYTES_PER_SECOND)
    return []
  return [
    {
      code: 'source_mostly_gaps',
      message: `The source has ${bytes} bytes for ${Math.round(seconds)} s: almost all of the outputs repeats a frame or is silent. If the source is not as long as that, its time stamps are wrong.`,
    },
  ]
}
