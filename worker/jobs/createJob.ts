// In charge of: creating a validated job in D1 exactly once: its row, its task and its idempotency key, in one batch.
// Not in charge of: validation (contract/job/validateJob.ts), the answer (jobRoutes.ts).
import { jobInputs, type JobConfig, type JobSecrets } from '#contract/job/jobConfig.ts'
import type { Problem, Warning } from '#contract/errors.ts'
import type { TaskKind } from '#contract/task/lifecycle.ts'
import {
  decodeWarnings,
  findIdempotency,
  findJobByJobId,
  insertIdempotency,
  insertJob,
  insertMetadata,
  insertTask,
} from '../db/jobs.ts'
import { settings } from '../env.ts'
import { findUpload, markUploadsUsed } from '../db/uploads.ts'
import { countInIsolate } from '../metrics/isolateCounts.ts'
import { spendingLimit } from '../usage/spendingLimit.ts'
import { addressProblem } from '../storage/addressPolicy.ts'
import { validationFailed, notFound, RequestError } from '../http/requestError.ts'
import { displayInputName, searchTextOf } from '../db/searchText.ts'
import { hmacSign } from '../secrets/hmac.ts'
import {
  boundAddresses,
  clientAddresses,
  SECRETS_FIELD,
  uploadedCaptions,
  uploadNumberOf,
} from '../storage/jobStores.ts'
import { seal } from '../secrets/vault.ts'
import { mapConcurrent } from '../util/mapConcurrent.ts'

/** Reads of the database at the same time. */
const CONCURRENT_READS = 6

/** An accepted job reaches a terminal state within this time (I1). */
const DEADLINE_MS = 24 * 3600_000
/** The same for an unlisted dry run, and how long it is kept after its end: nobody may be left who deletes it. */
export const UNLISTED_MS = 10 * 60_000
/** For each second of `deadline_seconds`: when half of the time is over, the job comes first in its account. */
const HURRY_MS = 500

export interface NewJobRequest {
  account: string
  kind: TaskKind
  /** A dry run that is in no list, and is deleted soon after its end. */
  isUnlisted: boolean
  config: JobConfig
  secrets: JobSecrets
  warnings: Warning[]
  /** Whether the job has the webhook_url of its API key. */
  usesKeyWebhook: boolean
  /** Priority of its API key: higher starts first. */
  priority: number
  /** Public id of the job that is retried. */
  retryOf: number | null
  /** `request` must be equal when the idempotency key is used again. */
  idempotency: { key: string; request: string } | null
}

export interface CreatedJobRecord {
  id: number
  jobId: string
  kind: TaskKind
  config: JobConfig
  warnings: Warning[]
  createdAt: number
  inputName: string
  retryOf: number | null
  /** The idempotency key was used before; no new job was created. */
  isReplay: boolean
}

/**
 * @throws RequestError 400 for a missing upload or an address that may not be reached, 402 once the account's spend cap is
 * reached, 409 for an idempotency key that was used for another request
 */
export async function createJob(env: Env, request: NewJobRequest): Promise<CreatedJobRecord> {
  const { account, config, kind, secrets, warnings, retryOf } = request
  const now = Date.now()
  const uploads = await mapConcurrent(jobInputs(config), CONCURRENT_READS, async (input) => {
    const number = uploadNumberOf(input)
    const upload = number === null ? null : await findUpload(env.DB, account, number, now)
    return { upload, problem: number === null || upload ? null : uploadNotFound(number, input.field) }
  })
  // Checks that need D1 or the deployment's settings, which the contract does not know.
  const egress = settings(env)
  const problems = [
    ...uploads.flatMap(({ problem }) => problem ?? []),
    ...(await missingCaptions(env, account, config, now)),
    ...clientAddresses(config, secrets).flatMap(({ field, address }) => addressProblem(address, egress, field) ?? []),
  ]
  if (problems.length > 0) {
    const first = await findReplayedJob(env, request)
    if (first) return first
    throw validationFailed(problems)
  }
  // Dry runs cost nothing.
  const spending =
    kind === 'plan'
      ? null
      : await spendingLimit(env, account).catch(async (refusal: unknown) => {
          const first = await findReplayedJob(env, request)
          if (first) return first
          countRefusal(env, 'spend_cap')
          throw refusal
        })
  if (spending !== null && 'jobId' in spending) return spending
  const upload = uploads[0]?.upload
  const jobId = crypto.randomUUID()
  const inputName = displayInputName(config, upload?.name ?? null)
  const job = {
    jobId,
    account,
    config: JSON.stringify(config),
    // Sealed again for a retried job too: sealed credentials are bound to one job and its addresses.
    sealed: await seal(env, account, jobId, SECRETS_FIELD, secrets, boundAddresses(config)),
    warnings: JSON.stringify(warnings),
    priority: request.priority,
    now,
    deadlineAt: now + (request.isUnlisted ? UNLISTED_MS : DEADLINE_MS),
    isUnlisted: request.isUnlisted,
    // A dry run takes seconds, and is of no use to the job that it asks for.
    hurryAt: kind === 'plan' || config.deadline_seconds === undefined ? null : now + config.deadline_seconds * HURRY_MS,
    retryOf,
    webhook: config.webhook_url ? (request.usesKeyWebhook ? ('key' as const) : ('job' as const)) : null,
    inputName,
    searchText: searchTextOf(config, inputName),
    maxActive: settings(env).maxActiveJobs,
    maxAffordable: spending?.maxUnfinished ?? null,
  }
  const key = request.idempotency?.key ?? null
  const statements = [insertJob(env.DB, job, key), insertTask(env.DB, job, `${jobId}-0`, kind)]
  const used = uploads.flatMap(({ upload: row }) => row?.number ?? [])
  if (used.length > 0 && !request.isUnlisted) statements.push(markUploadsUsed(env.DB, used, jobId))
  if (config.metadata) statements.push(insertMetadata(env.DB, jobId, config.metadata))
  if (request.idempotency) {
    statements.unshift(insertIdempotency(env.DB, job, request.idempotency.key, await requestFingerprint(env, request)))
  }
  const results = await env.DB.batch<{ id: number }>(statements)
  const inserted = results[key === null ? 0 : 1]?.results[0]
  if (inserted)
    return { id: inserted.id, jobId, kind, config, warnings, createdAt: now, inputName, retryOf, isReplay: false }
  const first = await findReplayedJob(env, request)
  // Neither the key nor the job was inserted: both INSERTs have the same condition.
  if (first) return first
  const refusal = await spending?.refusal()
  countRefusal(env, refusal ? 'spend_cap' : 'active_jobs')
  throw refusal ?? tooManyJobs()
}

function countRefusal(env: Env, reason: 'spend_cap' | 'active_jobs'): void {
  countInIsolate(env, 'refusals', (totals) => totals.add('jobs_refused_total', { reason }))
}

function uploadNotFound(number: number, field: string): Problem {
  const message = `There is no uploaded file ${number}. Upload it first: POST /uploads returns its number.`
  return { code: 'upload_not_found', field, message }
}

async function missingCaptions(env: Env, account: string, config: JobConfig, now: number): Promise<Problem[]> {
  const found = await mapConcurrent(uploadedCaptions(config), CONCURRENT_READS, async ({ field, number }) =>
    (await findUpload(env.DB, account, number, now)) ? [] : [uploadNotFound(number, field)],
  )
  return found.flat()
}

/** What distinguishes requests with the same body: a dry run, a retry and a new job are different requests. */
type IdempotentRequest = Pick<NewJobRequest, 'account' | 'kind' | 'retryOf' | 'idempotency'>

/** An HMAC, because the body contains secrets and the fingerprint is stored. */
function requestFingerprint(env: Env, { kind, retryOf, idempotency }: IdempotentRequest): Promise<string> {
  const label = kind === 'plan' ? 'idempotency of a dry run' : 'idempotency'
  return hmacSign(env, retryOf === null ? label : `${label}, retry of ${retryOf}`, idempotency?.request ?? '')
}

/**
 * The job that the same key created before: same request, same answer (I10). Called before any check whose result may
 * have changed since, such as stored credentials and uploads.
 * @returns null when the key is new, or there is none
 * @throws RequestError 409 for a key that was used with another body or kind of request
 */
export async function findReplayedJob(env: Env, request: IdempotentRequest): Promise<CreatedJobRecord | null> {
  if (request.idempotency === null) return null
  const first = await findIdempotency(env.DB, request.account, request.idempotency.key)
  if (!first) return null
  if (first.fingerprint !== (await requestFingerprint(env, request))) {
    throw new RequestError(
      'idempotency_conflict',
      'This Idempotency-Key was already used with a different body or a different dry_run.',
      { field: 'Idempotency-Key' },
    )
  }
  const job = await findJobByJobId(env.DB, first.job_id)
  // Deleted since then: the key still creates no second job.
  if (!job || job.deleted_at !== null) throw notFound()
  const { config } = job
  return {
    id: job.id,
    jobId: job.job_id,
    kind: job.kind,
    config,
    warnings: decodeWarnings(first.warnings),
    createdAt: job.created_at,
    inputName: job.input_name ?? displayInputName(config, null),
    retryOf: job.retry_of,
    isReplay: true,
  }
}

export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (/^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw new RequestError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    field: 'Idempotency-Key',
  })
}

function tooManyJobs(): RequestError {
  return new RequestError('quota_exceeded', 'This account has reached its maximum number of active jobs.', {
    headers: { 'retry-after': '30' },
  })
}
