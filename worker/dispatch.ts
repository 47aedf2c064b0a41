// In charge of: handing one attempt to one transcoder: a container in production, one of TRANSCODER_URLS locally.
// Not in charge of: when (schedule.ts), what it does (transcoder/).
import type { RunRequest } from '#contract/task.ts'
import { protocolOf } from '#contract/task.ts'
import { settings } from './env.ts'
import type { TaskRow } from './ledger/tasks.ts'
import { attemptToken } from './token.ts'

/** A local transcoder answers at once; it may wait up to 5 s for a cancelled attempt to be gone. */
const LOCAL_TIMEOUT_MS = 10_000

/**
 * Starts an attempt.
 * @returns null when the transcoder accepted it, else why not: every refusal is temporary and never the job's fault
 */
export async function dispatch(env: Env, task: TaskRow): Promise<string | null> {
  if (task.slot === null) return 'no slot'
  const request: RunRequest = {
    protocol: protocolOf(task.kind),
    task_id: task.id,
    attempt: task.attempt,
    token: await attemptToken(env, task.id, task.attempt),
    door: settings(env).doorUrl,
  }
  try {
    const response = await post(env, task.slot, '/run', request, task.job_id)
    if (response.status === 202) return null
    return `the transcoder answered ${response.status}: ${(await response.text()).slice(0, 200)}`
  } catch (error) {
    return `the transcoder could not be reached: ${String(error)}`
  }
}

/** Best effort: the next heartbeat says the same within a second. */
export async function cancelAttempt(env: Env, slot: number | null, task: string, attempt: number): Promise<void> {
  if (slot === null) return
  await post(env, slot, '/cancel', { task_id: task, attempt }, null)
}

/** `job` names the job that the container may be used for; null = whatever it is busy with. */
async function post(env: Env, slot: number, path: string, body: unknown, job: string | null): Promise<Response> {
  const { transcoderUrls } = settings(env)
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  if (transcoderUrls.length === 0) {
    const container = env.TRANSCODER.get(env.TRANSCODER.idFromName(`slot-${slot}`))
    return container.fetch(`http://transcoder${path}`, {
      ...init,
      headers: { ...init.headers, ...(job === null ? {} : { 'x-splicepoint-job': job }) },
    })
  }
  const base = transcoderUrls[slot]
  if (base === undefined) throw new Error(`there is no transcoder ${slot}`)
  return fetch(base + path, {
    ...init,
    headers: {
      ...init.headers,
      ...(env.INTERNAL_TOKEN ? { 'x-splicepoint-internal': env.INTERNAL_TOKEN } : {}),
      ...(env.TRANSCODER_SECRET ? { 'x-splicepoint-transcoder': env.TRANSCODER_SECRET } : {}),
    },
    signal: AbortSignal.timeout(LOCAL_TIMEOUT_MS),
  })
}
