// In charge of: what a repeated job is made of: the first one's configuration with its sealed part, or with what the
// request brings anew.
// Not in charge of: putting it into the ledger (createJob.ts), the first job, which stays as it ended (I2).
import type { JobConfig, JobSecrets } from '#contract/job/jobConfig.ts'
import { retry } from '#contract/api/requestBodies.ts'
import type { Warning } from '#contract/errors.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { isRedacted } from '#contract/job/redact.ts'
import type { KeyHook } from '../webhooks/webhookAddress.ts'
import { withHook } from '../webhooks/webhookAddress.ts'
import type { Job } from '../db/jobs.ts'
import { invalidBody, RequestError } from '../http/requestError.ts'
import { problemsOf } from '../http/validationErrors.ts'
import { secretsOf } from '../storage/jobStores.ts'
import { StoreError } from '../storage/objectStore.ts'

const text = { expects: 'a string, or left out' }
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
  hookOfKey: boolean
}

/** @throws RequestError 409 `job_active`, `job_finished` or `credentials_expired`; 400 for a body that is not valid */
export async function repetitionOf(
  env: Env,
  job: Job,
  body: unknown,
  { baseUrl, hook }: { baseUrl: string; hook: KeyHook | null },
): Promise<Repetition> {
  if (job.finished_at === null) {
    throw new RequestError('job_active', 'The job has not ended yet. Cancel it first, or wait.')
  }
  // What succeeded is not overwritten by a slip: the same request as a new job does it on purpose.
  if (job.state === 'completed') {
    throw new RequestError(
      'job_finished',
      'The job has completed, so there is nothing to retry. Create a new job instead.',
    )
  }
  const parsed = retry.safeParse(body)
  if (!parsed.success) {
    throw invalidBody(problemsOf(parsed.error.issues, body, expectations))
  }
  const brought = withoutNull(parsed.data)
  const { config } = job
  const kept = job.sealed === null ? null : await keptOf(env, job)
  // Addresses with a query are kept sealed, with the credentials.
  const full = { ...kept?.addresses, ...brought }
  const hookOfKey = job.webhook === 2 && brought.webhook_url === undefined
  const lost = ADDRESSES.filter((name) => isRedacted(config[name]) && full[name] === undefined)
  if (kept && lost.length === 0 && Object.keys(brought).length === 0) {
    return { config, secrets: kept, warnings: [], hookOfKey }
  }
  // The caller never had the address of a key, and is not asked for it.
  const renewed = hookOfKey && lost.includes('webhook_url')
  const asked = lost.find((name) => name !== 'webhook_url' || !renewed)
  const credentials = brought.cloud_credentials ?? (kept ? { input: kept.input, output: kept.output } : null)
  if (!credentials || asked !== undefined) {
    const field = asked ?? 'cloud_credentials'
    const why = kept
      ? `The full address of ${field} is no longer stored.`
      : 'The job ended more than 72 hours ago, so its credentials are no longer stored.'
    throw new RequestError('credentials_expired', `${why} Send ${field} with the retry.`, { field })
  }
  const addresses = Object.fromEntries(
    ADDRESSES.flatMap((name) => (full[name] === undefined ? [] : [[name, full[name]]])),
  )
  const { webhook_url: _lost, ...rest } = config
  const first = renewed ? rest : config
  const checked = validateJob({ ...first, ...addresses, cloud_credentials: credentials }, { baseUrl })
  if (!checked.ok) throw invalidBody(checked.problems)
  if (!renewed) return { ...checked, hookOfKey }
  return hook === null
    ? { ...checked, warnings: [...checked.warnings, noHook], hookOfKey: false }
    : withHook(env, job.account, hook, checked)
}

/** Decision "numbers and strings": `null` = absent. */
function withoutNull<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], null> } {
  const entries = Object.entries(given).filter(([, value]) => value !== null)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same members without those that are null
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], null> }
}

/** @throws RequestError where they were given for other addresses than the row names by now */
async function keptOf(env: Env, job: Job): Promise<JobSecrets> {
  try {
    return await secretsOf(env, job)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const message = `${error.message} Create a new job instead.`
    throw new RequestError('credentials_expired', message, { field: 'cloud_credentials' })
  }
}

const noHook: Warning = {
  code: 'webhook_left_out',
  field: 'webhook_url',
  message:
    'The original job used the webhook_url of its API key, and the key of this request has none: no webhook will be sent for this job.',
}
