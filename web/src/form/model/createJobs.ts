// In charge of: creating the jobs that the form describes, one for each source: at once if it can be read, otherwise
// when its upload is complete.
// Not in charge of: validating the body (validate.ts).
import { createJob } from '../../api/api.ts'
import { navigate } from '../../parts/router.tsx'
import { planJob, remove } from '../../transfers/store.ts'
import { withInput, type FormBody } from './formBody.ts'
import type { Source } from './sources.ts'

/** One job for all sources, which are stored. */
export async function createJoinedJob(sources: readonly Source[], body: FormBody, once: string): Promise<void> {
  const { _auto_generated_id_: id } = await createJob(body, false, once)
  for (const { transfer } of sources) if (transfer) remove(transfer.id)
  navigate(`/jobs/${id}`)
}

/** @param once idempotency key: sent twice, the request makes one job */
export async function createJobs(sources: readonly Source[], body: FormBody, once: string): Promise<void> {
  const [only] = sources
  if (sources.length === 1 && only?.input != null) {
    const { _auto_generated_id_: id } = await createJob(withInput(body, only.input), false, once)
    if (only.transfer) remove(only.transfer.id)
    navigate(`/jobs/${id}`)
    return
  }
  for (const [index, { input, transfer }] of sources.entries()) {
    // An upload in progress continues in the tray, which shows its job as well.
    if (transfer) planJob(transfer.id, withInput(body, null))
    else if (input !== null) await createJob(withInput(body, input), false, `${once}-${index}`)
  }
  navigate('/')
}
