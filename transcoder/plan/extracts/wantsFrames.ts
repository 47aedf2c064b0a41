// In charge of: whether a job makes files of single frames.
import type { JobSpec } from '#contract/job/jobSpec.ts'

export function wantsFrames({ stills, animatedPreview }: Pick<JobSpec, 'stills' | 'animatedPreview'>): boolean {
  return stills.length > 0 || animatedPreview !== null
}
