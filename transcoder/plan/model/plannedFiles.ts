// In charge of: every file that one run writes, in the order of its arguments: the outputs, then the audio files.
// Not in charge of: their content (plan.ts), their paths on disk (transcoder/pipeline/encode.ts).
import type { AudioFilePlan, OutputPlan, Plan } from '#contract/task/plan/plan.ts'

export interface PlannedFile {
  path: string
  contentType: string
  /** Position in `videoProfiles`; null for an audio file. */
  profile: number | null
  container: OutputPlan['container'] | AudioFilePlan['container']
  headerReserveBytes: number | null
  expectedBytes: number
  /** Required duration in seconds; null where the source does not state it. */
  durationSeconds: number | null
  /** The step by which a duration can differ. */
  frameSeconds: number
  /** The file is no output: it is stored for the attempt that copies it into outputs. */
  isIntermediate: boolean
}

export function plannedFiles(plan: Plan): PlannedFile[] {
  return [
    ...plan.outputs.map((output) => ({
      path: output.path,
      contentType: output.contentType,
      profile: output.profile,
      container: output.container,
      headerReserveBytes: output.headerReserveBytes,
      expectedBytes: output.expectedBytes,
      durationSeconds: output.durationSeconds,
      frameSeconds: output.video.frameRate.den / output.video.frameRate.num,
      isIntermediate: false,
    })),
    ...plan.audioFiles.map((file) => ({
      path: file.path,
      contentType: file.contentType,
      profile: null,
      container: file.container,
      headerReserveBytes: null,
      expectedBytes: file.expectedBytes,
      durationSeconds: file.durationSeconds,
      frameSeconds: 0,
      isIntermediate: file.isIntermediate === true,
    })),
  ]
}
