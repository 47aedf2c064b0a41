// In charge of: `webhooks listen`: the webhooks of this account's jobs, sent from this machine to an address that the service cannot
// reach, such as a receiver on a laptop. They have the content and the signature of those that the service sends.
// Not in charge of: the content (contract/api/webhookMessage.ts), webhooks about spend caps.
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListedJob } from '#contract/api/answers.ts'
import { shownState } from '#contract/api/shownStates.ts'
import { webhookEvent, webhookPayload } from '#contract/api/webhookMessage.ts'
import type { Client } from '../../client/nodeClient.ts'
import { UsageError } from '../cliErrors.ts'

const EVERY_MS = 2000
const ANSWER_MS = 15_000
/** The newest jobs are looked at. */
const JOBS = 100

interface ListenOptions {
  say: (text: string) => void
  signal: AbortSignal
  everyMs?: number
}

/** Until the signal aborts. @throws UsageError */
export async function webhooksCommand(
  client: Pick<Client, 'list'>,
  [command, address = '']: readonly string[],
  { say, signal, everyMs = EVERY_MS }: ListenOptions,
): Promise<void> {
  if (command !== 'listen' || !/^https?:\/\//.test(address) || !URL.canParse(address))
    throw new UsageError('Write: splicepoint webhooks listen http://localhost:3000/webhook')
  const secret = randomBytes(32)
  say(`Webhooks of jobs that end from now on are sent to ${address}. Press Ctrl-C to stop.`)
  say(`Their secret: whsec_${secret.toString('base64')}`)
  const ended = (jobs: readonly ListedJob[]) => jobs.filter(({ status }) => status.job_completed)
  const newest = async () => ended((await client.list({ limit: JOBS })).jobs)
  const seen = new Set((await newest()).map(({ job_id: id }) => id))
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal })
    for (const job of (await newest()).toReversed()) {
      if (seen.has(job.job_id)) continue
      seen.add(job.job_id)
      say(await deliver(job, address, secret))
    }
  }
}

/** Once: a receiver that is being written has its next try with the next job. @returns what happened */
async function deliver(job: ListedJob, address: string, secret: Buffer): Promise<string> {
  const { status, _auto_generated_id_: id } = job
  const state = shownState(status)
  const event = state === 'queued' || state === 'running' ? null : webhookEvent(state)
  if (event === null) return `Job ${id} has not ended.`
  const body = webhookPayload(event, {
    id,
    jobId: job.job_id,
    state: state === 'failed' || state === 'cancelled' ? state : 'completed',
    error: status.error,
    outputs: status.outputs,
    retryOf: status.retry_of,
    dryRun: status.dry_run,
    metadata: job.metadata,
    createdAt: Date.parse(status.created_at),
    finishedAt: Date.parse(status.finished_at ?? status.created_at),
  })
  const messageId = `msg_${randomUUID()}`
  const seconds = Math.floor(Date.now() / 1000)
  const mac = createHmac('sha256', secret).update(`${messageId}.${seconds}.${body}`).digest('base64')
  const answer = await fetch(address, {
    method: 'POST',
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS),
    headers: {
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${mac}`,
    },
  }).catch((error: unknown) => error as Error)
  if (answer instanceof Error) return `${event} of job ${id}: ${address} does not answer (${answer.message})`
  await answer.body?.cancel()
  return `${event} of job ${id}: answered with ${answer.status}`
}
