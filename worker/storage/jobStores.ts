// In charge of: a job's source and destination: what its stored configuration and its sealed part together name.
// Not in charge of: providers (registry.ts).
import { parseInput } from '#contract/job/paths/inputAddress.ts'
import { givenPaths, markOf, rootsOf } from '#contract/job/paths/outputLocation.ts'
import type { Credentials, JobConfig, JobSecrets } from '#contract/job/jobConfig.ts'
import type { Provider } from '#contract/job/requestSchema.ts'
import { inputProvider, outputProvider } from '#contract/job/jobConfig.ts'
import type { Job } from '../db/jobs.ts'
import { findJobByBackendId } from '../db/jobs.ts'
import { googleAccess, oracleAccess } from './storeCredentials.ts'
import type { HttpAccess } from './http/httpSource.ts'
import type { S3Access, SinkRef, SourceRef } from './registry.ts'
import { openSink, openSource } from './registry.ts'
import { placedSink } from './multiBucketSink.ts'
import type { Sink, Source } from './objectStore.ts'
import { StoreError } from './objectStore.ts'
import { NotSealedForThis, open } from '../secrets/vault.ts'

export const SECRETS_FIELD = 'secrets'

/**
 * Everything of a job's row that says where its credentials and sealed addresses are sent. They open for exactly this, so
 * that nobody who can write to the database can have them sent elsewhere.
 */
export function addressesOf(config: JobConfig): string[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return [
    inputProvider(config),
    config.input,
    outputProvider(config),
    ...givenPaths(config).flatMap(({ field, path }) => [field, path]),
    'logo_url',
    text(config.logo_url),
    'webhook_url',
    text(config.webhook_url),
  ]
}

/** @throws StoreError when the job's credentials are no longer kept, or were given for other addresses than its row names */
export async function secretsOf(env: Env, job: Job): Promise<JobSecrets> {
  if (job.sealed === null) {
    throw new StoreError('forbidden', 'vault', 'open', 'The credentials of this job are no longer stored.')
  }
  const addresses = addressesOf(job.config)
  try {
    return await open<JobSecrets>(env, job.account, job.job_id, SECRETS_FIELD, job.sealed, addresses)
  } catch (error) {
    if (!(error instanceof NotSealedForThis)) throw error
    console.error(JSON.stringify({ level: 'error', msg: 'job was changed in the database', job: job.job_id }))
    throw new StoreError(
      'credentials_invalid',
      'vault',
      'open',
      'The addresses of this job differ from those that its credentials were given for: the record was changed in the database.',
    )
  }
}

/** The public address under which a stored input was accepted: the service may be called by another name today. */
function baseOf(input: string): string {
  return input.replace(/\/uploads\/\d+\/?$/, '')
}

/** Number of the uploaded file that a job reads, or null. */
export function uploadOf(config: JobConfig): number | null {
  const address = parseInput(inputProvider(config), config.input, baseOf(config.input))
  return address.kind === 'upload' ? address.number : null
}

/** @throws StoreError when the input is not of a form that its provider has */
export function sourceRef(account: string, config: JobConfig, secrets: JobSecrets): SourceRef {
  const provider = inputProvider(config)
  const address = parseInput(provider, secrets.addresses.input ?? config.input, baseOf(config.input))
  if (address.kind === 'upload') return { provider: 'file-upload', account, number: address.number }
  if (address.kind === 'http') {
    const { access_key: accessKey = null, secret_key: secretKey = null } = secrets.input
    return { provider: 'http', url: address.url, accessKey, secretKey }
  }
  if (address.kind === 'own') {
    return {
      provider: 'vendor-store',
      account,
      owner: address.account ?? account,
      jobId: address.jobId,
      path: address.path,
    }
  }
  if (address.kind === 's3') {
    return { provider: 'aws', bucket: address.bucket, key: address.key, access: s3Access(secrets.input) }
  }
  if (address.kind === 'gs') {
    return { provider: 'gcloud', bucket: address.bucket, key: address.key, access: googleAccess(secrets.input) }
  }
  if (address.kind === 'oci') {
    const { place, access } = oracleAccess(address, secrets.input)
    return { provider: 'oracle', place, key: address.key, access }
  }
  throw new StoreError('invalid', provider, 'open', 'This kind of input is not available.')
}

/** @throws StoreError */
export async function openSourceOf(env: Env, job: Job): Promise<Source> {
  const secrets = await secretsOf(env, job)
  return openSource(env, sourceRef(job.account, job.config, secrets))
}

/** The address and the credentials of a source by http; null for any other. @throws StoreError */
export async function httpInputOf(env: Env, job: Job): Promise<{ url: string; access: HttpAccess } | null> {
  const ref = sourceRef(job.account, job.config, await secretsOf(env, job))
  if (ref.provider !== 'http') return null
  return { url: ref.url, access: { username: ref.accessKey ?? null, password: ref.secretKey ?? null } }
}

/** The full address of the job's logo; null where it has none. @throws StoreError */
export async function logoAddressOf(env: Env, job: Job): Promise<string | null> {
  const secrets = await secretsOf(env, job)
  return secrets.addresses.logo_url ?? (job.config.logo_url || null)
}

/** Empty members are absent ones. */
function s3Access(credentials: Credentials): S3Access {
  return {
    accessKey: credentials.access_key || '',
    secretKey: credentials.secret_key || '',
    sessionToken: credentials.session_token || null,
    region: credentials.region || null,
    endpoint: credentials.endpoint || null,
  }
}

/** @param n which of the job's roots it is, from 0. @throws StoreError when it is not of a form that its provider has */
function sinkRef(jobId: string, provider: Provider, root: string, n: number, secrets: JobSecrets): SinkRef {
  const bucket = parseInput(provider, `${root}/x`, '')
  if (bucket.kind === 's3') return { provider: 'aws', bucket: bucket.bucket, access: s3Access(secrets.output) }
  if (bucket.kind === 'gs') {
    return { provider: 'gcloud', bucket: bucket.bucket, access: googleAccess(secrets.output) }
  }
  if (bucket.kind === 'oci') return { provider: 'oracle', ...oracleAccess(bucket, secrets.output) }
  if (bucket.kind === 'http') {
    const { access_key: username = null, secret_key: password = null } = secrets.output
    return { provider: 'http', root, jobId, staged: n === 0 ? 'http' : `http-${n}`, access: { username, password } }
  }
  throw new StoreError('invalid', provider, 'open', 'This kind of output is not available.')
}

/** The job's destination; null for a job that is gone, and for a dry run: whatever asks, nothing of it can be written. */
export async function openSinkOf(env: Env, jobId: string, known?: Job): Promise<Sink | null> {
  const job = known ?? (await findJobByBackendId(env.DB, jobId))
  if (!job || job.kind !== 'transcode') return null
  const { config } = job
  // The own store needs no credentials: nothing is unsealed for it.
  const provider = outputProvider(config)
  if (provider === 'vendor-store') return openSink(env, { provider, account: job.account, jobId }, config.cache_control)
  const secrets = await secretsOf(env, job)
  const [first, ...others] = rootsOf(provider, config).map((root, n) => {
    const sink = openSink(env, sinkRef(jobId, provider, root, n, secrets), config.cache_control)
    return [markOf(root), sink] as const
  })
  if (!first) throw new StoreError('invalid', provider, 'open', 'The job names no bucket for its outputs.')
  return placedSink(first[1], new Map(others))
}
