// In charge of: the end of a dry run at the task API: stores the estimate with the job and ends the job as succeeded.
// Not in charge of: who may call (taskRoutes.ts), whether the state allows it (contract/task/lifecycle.ts), the
// estimate's content (contract/task/dryRunEstimate.ts).
import type { Context } from 'hono'
import { mergeWarnings } from '#contract/job/findings.ts'
import { estimatePostSchema, MAX_ESTIMATE_BYTES } from '#contract/task/protocol.ts'
import { readJson } from '../http/jsonBody.ts'
import { applyEvent } from '../scheduler/applyEvent.ts'
import { findJobByJobId } from '../db/jobs.ts'
import { RequestError } from '../http/requestError.ts'
import type { TaskEnv } from './taskContext.ts'
import { parseMessage } from './parseMessage.ts'

/** The body holds the estimate and the warnings of up to 200 outputs. */
const MAX_BODY_BYTES = 2 * MAX_ESTIMATE_BYTES

/** `POST /task/:id/estimate`. Idempotent: the attempt that ended the dry run gets the same answer again. */
export async function finishDryRun(c: Context<TaskEnv>): Promise<Response> {
  const { attempt, task: id, jobId } = c.var
  const { value } = await readJson(c as never, MAX_BODY_BYTES)
  const { warnings, progress, estimate: found } = parseMessage(estimatePostSchema, value)
  const estimate = JSON.stringify(found)
  if (estimate.length > MAX_ESTIMATE_BYTES)
    throw new RequestError('too_large', 'The estimate is too large to be stored.')
  const job = await findJobByJobId(c.env.DB, jobId)
  const result = await applyEvent(
    c.env,
    { id, jobId },
    { type: 'planned', attempt },
    {
      estimate,
      progress: JSON.stringify({ ...progress, attempt }),
      warnings: JSON.stringify(mergeWarnings(job?.warnings ?? [], warnings)),
    },
  )
  if (!result.ok && result.refusal !== 'same') {
    throw new RequestError(
      'stale_attempt',
      'Another attempt is current, the job has ended, or it is not a dry run: stop.',
    )
  }
  return c.json({ state: 'completed' })
}
