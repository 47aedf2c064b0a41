// In charge of: whether an output lasts as long as the source did.
// Not in charge of: measuring either (probe.ts), the source's own completeness (loopbackServer.ts).
import { TaskError } from '#contract/taskError.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { PlannedFile } from '../plan/model/plannedFiles.ts'

/** The packet that an audio encoder may still owe, or add, at the end: 1536 samples (AC-3) at 32 kHz. */
const AUDIO_PACKET_SECONDS = 0.048

/**
 * Containers whose duration is written down or follows from time stamps. Elementary streams have only an estimate from size and
 * bit rate, which says nothing about one frame.
 */
const EXACT_DURATION_FORMATS = new Set([
  'mov',
  'mp4',
  'matroska',
  'webm',
  'mxf',
  'mpegts',
  'mpeg',
  'avi',
  'asf',
  'wav',
  'w64',
  'gxf',
])

/** I6: within one frame or 0.1 %, whichever is more. `expectedSeconds` null = the source does not say. */
export function requireExpectedDuration(
  output: Pick<PlannedFile, 'path' | 'frameSeconds'>,
  expectedSeconds: number | null,
  measured: Pick<MediaInfo, 'durationSeconds'>,
  sourceFormats: readonly string[],
): void {
  const seconds = measured.durationSeconds
  if (seconds === null || !(seconds > 0))
    throw new TaskError('output_incomplete', `${output.path} has no measurable duration.`)
  if (expectedSeconds === null || !sourceFormats.some((format) => EXACT_DURATION_FORMATS.has(format))) return
  const tolerance = Math.max(output.frameSeconds + AUDIO_PACKET_SECONDS, expectedSeconds * 0.001)
  if (seconds >= expectedSeconds - tolerance) return
  throw new TaskError(
    'output_incomplete',
    `${output.path} lasts ${seconds.toFixed(3)} s instead of ${expectedSeconds.toFixed(3)} s.`,
    {
      details: { path: output.path, expected_seconds: expectedSeconds, measured_seconds: seconds },
    },
  )
}
