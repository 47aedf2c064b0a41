// In charge of: adding warnings of an attempt to those of its job.
// Not in charge of: what they say.
import type { Warning } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import { withRequestField } from '#contract/job/jobConfig.ts'
import { findJobByJobId, updateWarnings } from '../db/jobs.ts'

/** @param obsolete warnings of a plan that was replaced */
export async function addWarnings(
  env: Env,
  jobId: string,
  warnings: Warning[],
  obsolete: Warning[] = [],
): Promise<void> {
  const job = warnings.length + obsolete.length > 0 ? await findJobByJobId(env.DB, jobId) : null
  if (!job) return
  const isObsolete = (warning: Warning) =>
    obsolete.some(({ code, message }) => code === warning.code && message === warning.message)
  const kept = job.warnings.filter((warning) => !isObsolete(warning))
  const told = warnings.map((warning) => withRequestField(job.config, warning))
  const merged = JSON.stringify(mergeWarnings(kept, told))
  if (merged !== JSON.stringify(job.warnings)) await updateWarnings(env.DB, jobId, merged)
}
