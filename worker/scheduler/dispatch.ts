// In charge of: handing an attempt to a transcoder: a container in production, one of TRANSCODER_URLS, or one that registered
// itself.
// Not in charge of: when (assignSlots.ts), containers (containerInstance.ts), what a transcoder does (transcoder/).
import { SERVICE_UNREACHABLE, TASK_PROTOCOL, type RunRequest } from '#contract/task/protocol.ts'
import { settings } from '../env.ts'
import type { StartRefusal } from './containerInstance.ts'
import { findJobByJobId } from '../db/jobs.ts'
import type { TaskRow } from '../db/tasks.ts'
import { createAttemptToken } from '../secrets/attemptToken.ts'
import { taskApiUrl } from '../transcoders/taskApiUrl.ts'
import { markUnreachable } from '../db/transcoders.ts'
import { postToTranscoder, transcoderUrl } from '../transcoders/transcoderRequest.ts'

/** A local transcoder answers at once, but may first wait up to 5 s for the end of a cancelled attempt. */
const LOCAL_TIMEOUT_MS = 10_000
/**
 * From the start of a container until it has accepted the attempt, in milliseconds. A cold start takes 1 to 3 s, but
 * some never end although the platform says that the container runs: the first one is given up early, but not so early
 * that a busy machine misses it. The next ones have more time, for example while a new image is pulled. Less than
 * START_LEASE_MS (transitionTask.ts).
 */
const FIRST_START_MS = 15_000
const NEXT_START_MS = 25_000
/** How much longer a Durable Object may take to answer. */
const ANSWER_MS = 3000

/**
 * Starts an attempt.
 * @returns null when the transcoder accepted it, else the reason. Every refusal is temporary and not caused by the job
 */
export async function dispatchAttempt(env: Env, task: TaskRow): Promise<StartRefusal | null> {
  const { slot } = task
  if (slot === null) return { reason: 'refused', detail: 'the task has no slot' }
  const job = await findJobByJobId(env.DB, task.job_id)
  if (!job) return { reason: 'refused', detail: 'its job no longer exists' }
  const address = taskApiUrl(env)
  if (address === null) return { reason: 'service_unreachable', detail: 'TASK_API_URL is not set' }
  const request: RunRequest = {
    protocol: TASK_PROTOCOL,
    task_id: task.id,
    attempt: task.attempt,
    token: await createAttemptToken(env, task.id, task.attempt),
    task_api_url: address,
  }
  try {
    if (usesContainers(env)) {
      const serving = { jobId: task.job_id, task: task.id, attempt: task.attempt }
      const startMs = task.starts_failed === 0 ? FIRST_START_MS : NEXT_START_MS
      const late = { reason: 'no_answer', detail: 'its Durable Object did not answer in time' } as const
      return await Promise.race([
        containerOf(env, slot).run(serving, request, startMs),
        scheduler.wait(startMs + ANSWER_MS).then(() => late),
      ])
    }
    return await startAt(env, slot, await transcoderUrl(env, slot), request)
  } catch (error) {
    return { reason: 'no_answer', detail: String(error) }
  }
}

async function startAt(env: Env, slot: number, url: string, request: RunRequest): Promise<StartRefusal | null> {
  let detail: string
  try {
    const response = await postToTranscoder(env, url, '/run', request, LOCAL_TIMEOUT_MS)
    if (response.status === 202) return null
    const text = (await response.text()).slice(0, 200)
    // Written by the local egress, in place of an answer.
    if (!response.headers.has('x-egress-failed'))
      return {
        reason: text.includes(`"${SERVICE_UNREACHABLE}"`) ? 'service_unreachable' : 'refused',
        detail: `it answered ${response.status}: ${text}`,
      }
    detail = text
  } catch (error) {
    detail = String(error)
  }
  await markUnreachable(env.DB, slot, url, `The service could not start an attempt at ${url}: ${detail}`)
  return { reason: 'no_answer', detail }
}

/** Best effort: the reply to the next heartbeat, within a second, also tells the attempt to stop. */
export async function cancelAttempt(env: Env, slot: number | null, task: string, attempt: number): Promise<void> {
  if (slot === null) return
  if (usesContainers(env)) await containerOf(env, slot).cancel(task, attempt)
  else
    await postToTranscoder(env, await transcoderUrl(env, slot), '/cancel', { task_id: task, attempt }, LOCAL_TIMEOUT_MS)
}

function usesContainers(env: Env): boolean {
  return settings(env).transcoders === 'containers'
}

function containerOf(env: Env, slot: number) {
  return env.TRANSCODER.get(env.TRANSCODER.idFromName(`slot-${slot}`))
}
