// In charge of: adding warnings of an attempt to those of its job, also while other parts of the job add theirs.
// Not in charge of: what they say.
import type { Warning } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import { withRequestField } from '#contract/job/jobConfig.ts'
import { findJobByJobId, updateWarnings } from '../db/jobs.ts'

/** How often a write that another part overtook is repeated. Then the warnings are lost, not the attempt. */
const TRIES = 20

/** @param obsolete warnings of a plan that was replaced */
export async function addWarnings(
  env: Env,
  jobId: string,
  warnings: Warning[],
  obsolete: Warning[] = [],
): Promise<void> {
  if (warnings.length + obsolete.length === 0) return
  const isObsolete = (warning: Warning) =>
    obsolete.some(({ code, message }) => code === warning.code && message === warning.message)
  for (let tries = 0; tries < TRIES; tries++) {
    const job = await findJobByJobId(env.DB, jobId)
    if (!job || job.finished_at !== null) return
    const kept = job.warnings.filter((warning) => !isObsolete(warning))
    const told = warnings.map((warning) => withRequestField(job.config, warning))
    const before = JSON.stringify(job.warnings)
    const merged = JSON.stringify(mergeWarnings(kept, told))
    if (merged === before) return
    if (await updateWarnings(env.DB, jobId, before, merged)) return
  }
}
