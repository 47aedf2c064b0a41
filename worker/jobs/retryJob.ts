// In charge of: building a retried job from the first one's configuration and sealed credentials, or from credentials
// and addresses in the request.
// Not in charge of: creating it (createJob.ts), the first job, which stays as it ended (I2).
import type { JobConfig, JobSecrets } from '#contract/job/jobConfig.ts'
import { retry } from '#contract/api/requestBodies.ts'
import type { Warning } from '#contract/errors.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { captionField } from '#contract/job/captions.ts'
import { isRedacted } from '#contract/job/redact.ts'
import type { KeyWebhook } from '../db/apiKeys.ts'
import { withKeyWebhook } from '../webhooks/webhookAddress.ts'
import type { Job } from '../db/jobs.ts'
import { validationFailed, RequestError } from '../http/requestError.ts'
import { parseFields } from '../http/validationErrors.ts'
import { openJobSecrets } from '../storage/jobStores.ts'
import { StoreError } from '../storage/objectStore.ts'

const text = { expects: 'a string, or left out' }
const expectations = {
  cloud_credentials: { expects: 'an object with the member input and, optionally output', hidden: true },
  input: text,
  inputs: { expects: 'a list with an object {"input": …} or null for each element of inputs, or left out' },
  logo_url: text,
  webhook_url: text,
  captions: { expects: 'the list of captions of the job, with full addresses, or left out', hidden: true },
}

/** Addresses that are stored redacted if they have a query. */
const ADDRESSES = ['input', 'logo_url', 'webhook_url'] as const

export interface RetriedJob {
  config: JobConfig
  secrets: JobSecrets
  warnings: Warning[]
  usesKeyWebhook: boolean
}

/** @throws RequestError 409 `job_active`, `job_finished` or `credentials_expired`; 400 for a body that is not valid */
export async function buildRetry(
  env: Env,
  job: Job,
  body: unknown,
  { baseUrl, hook }: { baseUrl: string; hook: KeyWebhook | null },
): Promise<RetriedJob> {
  if (job.finished_at === null) {
    throw new RequestError('job_active', 'The job has not ended yet. Cancel it first, or wait.')
  }
  // Prevents overwriting successful outputs by mistake. The same request as a new job is still possible.
  if (job.state === 'completed') {
    throw new RequestError(
      'job_finished',
      'The job has completed, so there is nothing to retry. Create a new job instead.',
    )
  }
  const { inputs: sent, captions: sentCaptions, ...overrides } = withoutNull(parseFields(retry, body, expectations))
  const { config } = job
  requireSameInputs(config, { input: overrides.input, inputs: sent })
  const storedSecrets = job.sealed === null ? null : await readStoredSecrets(env, job)
  // Addresses with a query are sealed together with the credentials.
  const full = { ...storedSecrets?.addresses, ...overrides }
  const pieces = config.inputs?.map((piece, index) => ({
    field: `inputs[${index}].input`,
    fields: piece,
    address: sent?.[index]?.input ?? storedSecrets?.addresses[`inputs[${index}]`],
  }))
  const captions = config.captions?.map((caption, index) => ({
    field: 'captions',
    fields: caption,
    address: storedSecrets?.addresses[captionField(index)],
  }))
  const usesKeyWebhook = job.webhook === 2 && overrides.webhook_url === undefined
  const lost: string[] = [
    ...ADDRESSES.filter((name) => isRedacted(config[name]) && full[name] === undefined),
    ...[...(pieces ?? []), ...(sentCaptions === undefined ? (captions ?? []) : [])].flatMap(
      ({ field, fields, address }) => (isRedacted(fields.input) && address === undefined ? [field] : []),
    ),
  ]
  const isUnchanged = Object.keys(overrides).length === 0 && sent === undefined && sentCaptions === undefined
  if (storedSecrets && lost.length === 0 && isUnchanged) {
    return { config, secrets: storedSecrets, warnings: [], usesKeyWebhook }
  }
  // A client never has the webhook address of its API key, so it is not asked to send it.
  const takesKeyWebhook = usesKeyWebhook && lost.includes('webhook_url')
  const asked = lost.find((name) => name !== 'webhook_url' || !takesKeyWebhook)
  const credentials =
    overrides.cloud_credentials ??
    (storedSecrets
      ? {
          ...(storedSecrets.input === undefined ? {} : { input: storedSecrets.input }),
          ...(storedSecrets.inputs === undefined ? {} : { inputs: storedSecrets.inputs }),
          output: storedSecrets.output,
        }
      : null)
  if (!credentials || asked !== undefined) {
    const field = asked ?? 'cloud_credentials'
    const why = storedSecrets
      ? `The full address of ${field} is no longer stored.`
      : 'The job ended more than 72 hours ago, so its credentials are no longer stored.'
    throw new RequestError('credentials_expired', `${why} Send ${field} with the retry.`, { field })
  }
  const addresses = Object.fromEntries(
    ADDRESSES.flatMap((name) => (full[name] === undefined ? [] : [[name, full[name]]])),
  )
  const { webhook_url: _lost, ...rest } = config
  const first = takesKeyWebhook ? rest : config
  const complete = <F extends { input: string }>(list: { fields: F; address: string | undefined }[] | undefined) =>
    list?.map(({ fields, address }) => ({ ...fields, input: address ?? fields.input }))
  const inputs = complete(pieces)
  const captionList = sentCaptions ?? complete(captions)
  const request = {
    ...first,
    ...addresses,
    ...(inputs === undefined ? {} : { inputs }),
    ...(captionList === undefined ? {} : { captions: captionList }),
    cloud_credentials: credentials,
  }
  const checked = validateJob(request, { baseUrl })
  if (!checked.ok) throw validationFailed(checked.problems)
  if (!takesKeyWebhook) return { ...checked, usesKeyWebhook }
  return hook === null
    ? { ...checked, warnings: [...checked.warnings, noWebhookWarning], usesKeyWebhook: false }
    : withKeyWebhook(env, job.account, hook, checked)
}

/** A retry may repeat addresses, and cannot turn one source into several or change their number. */
function requireSameInputs(
  { inputs }: JobConfig,
  sent: { input: string | undefined; inputs: unknown[] | undefined },
): void {
  const refuse = (field: string, message: string) => new RequestError('invalid_request', message, { field })
  if (sent.input !== undefined && inputs !== undefined)
    throw refuse('input', 'The job has inputs, not input. Send inputs with an element for each of them.')
  if (sent.inputs === undefined || sent.inputs.length === inputs?.length) return
  throw refuse(
    'inputs',
    inputs === undefined
      ? 'The job has input, not inputs.'
      : `inputs must have ${inputs.length} elements, like those of the job; null keeps an address.`,
  )
}

/** Decision "numbers and strings": `null` means the same as a missing field. */
function withoutNull<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], null> } {
  const entries = Object.entries(given).filter(([, value]) => value !== null)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same members without those that are null
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], null> }
}

/** @throws RequestError if the credentials were sealed for other addresses than the row now has */
async function readStoredSecrets(env: Env, job: Job): Promise<JobSecrets> {
  try {
    return await openJobSecrets(env, job)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const message = `${error.message} Create a new job instead.`
    throw new RequestError('credentials_expired', message, { field: 'cloud_credentials' })
  }
}

const noWebhookWarning: Warning = {
  code: 'webhook_left_out',
  field: 'webhook_url',
  message:
    'The original job used the webhook_url of its API key, and the key of this request has none: no webhook will be sent for this job.',
}
