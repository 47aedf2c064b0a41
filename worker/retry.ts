// In charge of: what a repeated job is made of: the first one's configuration with its sealed part, or with what the
// request brings anew.
// Not in charge of: putting it into the ledger (creation.ts), the first job, which stays as it ended (I2).
import * as z from 'zod/mini'
import type { Warning } from '#contract/errors.ts'
import type { JobConfig, JobSecrets } from '#contract/job.ts'
import { validateJob } from '#contract/job.ts'
import { isRedacted } from '#contract/redact.ts'
import type { JobWithTask } from './ledger/jobs.ts'
import { invalidBody, RequestError } from './problems.ts'
import { problemsOf } from './refusal.ts'
import { secretsOf } from './sink.ts'

const address = z.optional(z.string())

/** Everything that the service does not keep in clear may be brought anew; the rest of a job is repeated as it is. */
const retryBody = z.strictObject({
  cloud_credentials: z.optional(z.record(z.string(), z.unknown())),
  input: address,
  logo_url: address,
  webhook_url: address,
})

const text = { expects: 'a text, or be left out' }
const expectations = {
  cloud_credentials: { expects: 'an object with the member input and, if you like, output', hidden: true },
  input: text,
  logo_url: text,
  webhook_url: text,
}

const ADDRESSES = ['input', 'logo_url', 'webhook_url'] as const

export interface Repetition {
  config: JobConfig
  secrets: JobSecrets
  warnings: Warning[]
}

/** @throws RequestError 409 `job_active`, `job_finished` or `credentials_expired`; 400 for a body that is not valid */
export async function repetitionOf(env: Env, job: JobWithTask, body: unknown, baseUrl: string): Promise<Repetition> {
  if (job.finished_at === null) {
    throw new RequestError('job_active', 'The job has not ended yet. Cancel it first, or wait.')
  }
  // What succeeded is not overwritten by a slip: the same request as a new job does it on purpose.
  if (job.state === 'completed') {
    throw new RequestError(
      'job_finished',
      'The job is completed: there is nothing to repeat. Create a new job instead.',
    )
  }
  const parsed = retryBody.safeParse(body)
  if (!parsed.success) {
    throw invalidBody(problemsOf(parsed.error.issues, body, expectations))
  }
  const brought = parsed.data
  const config = JSON.parse(job.config) as JobConfig
  const kept = job.sealed === null ? null : await secretsOf(env, job)
  if (kept && Object.keys(brought).length === 0) return { config, secrets: kept, warnings: [] }

  const credentials = brought.cloud_credentials ?? (kept ? { input: kept.input, output: kept.output } : null)
  // Addresses with a query are kept sealed, with the credentials.
  const full = { ...kept?.addresses, ...brought }
  const lost = kept ? undefined : ADDRESSES.find((name) => isRedacted(config[name]) && full[name] === undefined)
  if (!credentials || lost !== undefined) {
    throw new RequestError(
      'credentials_expired',
      `The job ended more than 72 hours ago, so its credentials are no longer kept. Send ${lost ?? 'cloud_credentials'} with the retry.`,
      { field: lost ?? 'cloud_credentials' },
    )
  }
  const addresses = Object.fromEntries(
    ADDRESSES.flatMap((name) => (full[name] === undefined ? [] : [[name, full[name]]])),
  )
  const checked = validateJob({ ...config, ...addresses, cloud_credentials: credentials }, { baseUrl })
  if (!checked.ok) throw invalidBody(checked.problems)
  return checked
}
