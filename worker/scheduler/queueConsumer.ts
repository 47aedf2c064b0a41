// In charge of: the queue's consumer. It starts the attempt that a message names and acknowledges the message at
// hand-off, not after the encode.
// Not in charge of: what a failed start means (contract/task/lifecycle.ts).
import { log } from '../log.ts'
import { START_LEASE_MS } from './transitionTask.ts'
import { isProbe, acknowledgeProbe, type ProbeMessage } from './queueProbe.ts'
import { dispatchAttempt } from './dispatch.ts'
import { applyEvent, taskMonitor } from './applyEvent.ts'
import { findTask } from '../db/tasks.ts'
import type { StartMessage } from './assignSlots.ts'

/** A message is repeated only when D1 cannot be read. Delayed, because local retries would come without a pause. */
const RETRY_SECONDS = 5

export async function consumeQueue(batch: MessageBatch<StartMessage | ProbeMessage>, env: Env): Promise<void> {
  await Promise.all(
    batch.messages.map(async (message) => {
      try {
        await (isProbe(message.body) ? acknowledgeProbe(env, message.body) : startAttempt(env, message.body))
        message.ack()
      } catch (error) {
        log.error('start failed', { ...message.body, error: String(error) })
        message.retry({ delaySeconds: RETRY_SECONDS })
      }
    }),
  )
}

async function startAttempt(env: Env, { task: id, attempt }: StartMessage): Promise<void> {
  const task = await findTask(env.DB, id)
  // Repeated, late or outdated messages end here (I11).
  if (!task || task.state !== 'starting' || task.attempt !== attempt) return
  const { job_id: jobId, account, job } = task
  await taskMonitor(env, id).attemptStarting({ job, jobId, account, task: id, attempt }, START_LEASE_MS)
  const refusal = await dispatchAttempt(env, task)
  if (refusal === null) return
  log.info('start failed', { job: jobId, task: id, attempt, slot: task.slot, ...refusal })
  await applyEvent(env, { id, jobId }, { type: 'start_failed', attempt, reason: refusal.reason })
}
