// In charge of: opening a job's source and destination from its stored configuration and its sealed credentials.
// Not in charge of: providers (registry.ts).
import { captionField } from '#contract/job/captions.ts'
import {
  inputCredentials,
  jobInputs,
  outputProvider,
  type AddressKey,
  type JobConfig,
  type JobInput,
  type JobSecrets,
} from '#contract/job/jobConfig.ts'
import { log } from '../log.ts'
import { bucketPrefix, listOutputPaths, outputLocations } from '#contract/job/paths/outputLocation.ts'
import { schemeOf } from '#contract/job/paths/inputAddress.ts'
import { parseCaptionAddress } from '#contract/job/paths/captionAddress.ts'
import { parseInput, parseRoot, rulesOf, type AddressOf, type Provider } from '#contract/job/stores/registry.ts'
import { findJobByJobId, type Job } from '../db/jobs.ts'
import type { HttpCredentials } from './http/httpSource.ts'
import { httpAccessOf } from './http/provider.ts'
import { openSink, openSource } from './registry.ts'
import { multiBucketSink } from './multiBucketSink.ts'
import { StoreError, type Sink, type Source } from './objectStore.ts'
import { WrongBindingError, unseal } from '../secrets/vault.ts'

export const SECRETS_FIELD = 'secrets'

/**
 * All parts of a job's row that decide where its credentials and sealed addresses are sent. They can be unsealed only
 * with exactly these values, so that a write to the database cannot redirect them.
 */
export function boundAddresses(config: JobConfig): string[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const inputs = jobInputs(config)
  return [
    // Their number, so that addresses cannot move from one list into the next.
    ...(config.inputs === undefined ? [] : ['inputs', String(inputs.length)]),
    ...inputs.flatMap(({ provider, address }) => [provider, address]),
    outputProvider(config),
    ...listOutputPaths(config).flatMap(({ field, path }) => [field, path]),
    'logo_url',
    text(config.logo_url),
    'webhook_url',
    text(config.webhook_url),
    ...(config.captions ?? []).flatMap(({ input }, index) => [captionField(index), input]),
  ]
}

/** Every address whose host the client chooses, in full, with the field that names it. */
export function clientAddresses(config: JobConfig, secrets: JobSecrets): { field: string; address: string }[] {
  const full = (key: AddressKey, stored: string | null | undefined) => secrets.addresses[key] ?? stored ?? ''
  const inputs = jobInputs(config)
  const providers = inputs.map(({ provider }) => provider)
  // Several sources may have the same ones.
  const stores = new Map([
    ...inputs.map((input, index) => [input.credentialsField, inputCredentials(secrets, index)] as const),
    ['cloud_credentials.output', secrets.output] as const,
  ])
  return [
    ...inputs.map(({ provider, key, field, address }) => ({
      field,
      address: provider === 'http' ? full(key, address) : '',
    })),
    ...(config.captions ?? []).map(({ input }, index) => {
      const field = captionField(index)
      const found = parseCaptionAddress(providers, full(field, input), null)
      return { field, address: !('message' in found) && found.address.kind === 'http' ? found.address.url : '' }
    }),
    ...(['logo_url', 'webhook_url'] as const).map((field) => ({ field, address: full(field, config[field]) })),
    ...listOutputPaths(config).map(({ field, path }) => ({
      field,
      address: outputProvider(config) === 'http' && schemeOf(path) !== null ? path : '',
    })),
    ...[...stores].map(([field, { cloud_provider: provider, endpoint }]) => ({
      field: `${field}.endpoint`,
      address: provider === 'aws' ? (endpoint ?? '') : '',
    })),
  ].filter(({ address }) => address !== '')
}

/** @throws StoreError when the credentials were deleted, or were sealed for other addresses than the row now has */
export async function openJobSecrets(env: Env, job: Job): Promise<JobSecrets> {
  if (job.sealed === null) {
    throw new StoreError('forbidden', 'vault', 'open', 'The credentials of this job are no longer stored.')
  }
  const addresses = boundAddresses(job.config)
  try {
    return await unseal<JobSecrets>(env, job.account, job.job_id, SECRETS_FIELD, job.sealed, addresses)
  } catch (error) {
    if (!(error instanceof WrongBindingError)) throw error
    log.error('job was changed in the database', { job: job.job_id })
    throw new StoreError(
      'credentials_invalid',
      'vault',
      'open',
      'The addresses of this job differ from those that its credentials were given for: the record was changed in the database.',
    )
  }
}

/** The uploaded files among the job's captions, with their fields. */
export function uploadedCaptions(config: JobConfig): { field: string; number: number }[] {
  const providers = jobInputs(config).map(({ provider }) => provider)
  return (config.captions ?? []).flatMap(({ input }, index) => {
    const found = parseCaptionAddress(providers, input, null)
    return 'message' in found || found.address.kind !== 'upload'
      ? []
      : [{ field: captionField(index), number: found.address.number }]
  })
}

/**
 * A caption file of the job; null if it has none with this index. The credentials of a source are sent only to its own
 * provider, and those of an http server only to that server.
 * @throws StoreError
 */
export async function openCaptionSource(env: Env, job: Job, index: number): Promise<Source | null> {
  const stored = job.config.captions?.[index]?.input
  if (stored === undefined) return null
  const secrets = await openJobSecrets(env, job)
  const inputs = jobInputs(job.config)
  const text = secrets.addresses[captionField(index)] ?? stored
  const found = parseCaptionAddress(
    inputs.map(({ provider }) => provider),
    text,
    null,
  )
  if ('message' in found) throw new StoreError('invalid', 'captions', 'open', 'This kind of address is not available.')
  const { provider, address } = found
  const own = inputs.findIndex(
    (input) => input.provider === provider && (address.kind !== 'http' || hasOriginOf(input, address.url)),
  )
  const credentials = own === -1 ? {} : inputCredentials(secrets, own)
  return openSource(env, provider, { account: job.account, address, credentials })
}

function hasOriginOf({ address }: JobInput, url: string): boolean {
  const [own, other] = [URL.parse(address), URL.parse(url)]
  return own !== null && other !== null && own.origin === other.origin
}

/** Number of the uploaded file that is a source of a job, or null. */
export function uploadNumberOf({ provider, address: text }: JobInput): number | null {
  const address = parseInput(provider, text, null)
  return address.kind === 'upload' ? address.number : null
}

/** @throws StoreError when the input is not in a format of its provider */
function sourceAddress({ provider, key, address: stored }: JobInput, { addresses }: JobSecrets): AddressOf<Provider> {
  const address = parseInput(provider, addresses[key] ?? stored, null)
  if (address.kind !== 'invalid') return address
  throw new StoreError('invalid', provider, 'open', 'This kind of input is not available.')
}

/** Opens the source `index` of a job with its own credentials. @throws StoreError */
export async function openJobSource(env: Env, job: Job, index = 0): Promise<Source> {
  const input = jobInputs(job.config)[index]
  if (!input) throw new StoreError('not_found', 'vault', 'open', 'The job has no such source.')
  const secrets = await openJobSecrets(env, job)
  const address = sourceAddress(input, secrets)
  const credentials = inputCredentials(secrets, index)
  return openSource(env, input.provider, { account: job.account, address, credentials })
}

/** The address and the credentials of an http source; null for any other, and for several. @throws StoreError */
export async function httpSourceOf(env: Env, job: Job): Promise<{ url: string; access: HttpCredentials } | null> {
  const [input, ...others] = jobInputs(job.config)
  if (!input || others.length > 0) return null
  const secrets = await openJobSecrets(env, job)
  const address = sourceAddress(input, secrets)
  return address.kind === 'http' ? { url: address.url, access: httpAccessOf(inputCredentials(secrets, 0)) } : null
}

/** The full address of the job's logo; null if it has none. @throws StoreError */
export async function logoUrlOf(env: Env, job: Job): Promise<string | null> {
  const secrets = await openJobSecrets(env, job)
  return secrets.addresses.logo_url ?? (job.config.logo_url || null)
}

/** The job's destination; null for a missing job and for a dry run, which write nothing. */
export async function openJobSink(env: Env, jobId: string, known?: Job): Promise<Sink | null> {
  const job = known ?? (await findJobByJobId(env.DB, jobId))
  if (!job || job.kind !== 'transcode') return null
  const { account, config } = job
  const provider = outputProvider(config)
  const common = { account, jobId, cacheControl: config.cache_control }
  // Nothing is unsealed for a store that needs no credentials.
  if (rulesOf(provider).members.length === 0) return openSink(env, provider, { ...common, root: null, credentials: {} })
  const { output: credentials } = await openJobSecrets(env, job)
  const [first, ...others] = outputLocations(provider, config).roots.map((text, index) => {
    const root = { text, index, address: rootAddress(provider, text) }
    return [bucketPrefix(text), openSink(env, provider, { ...common, root, credentials })] as const
  })
  if (!first) throw new StoreError('invalid', provider, 'open', 'The job has no bucket for its outputs.')
  return multiBucketSink(first[1], new Map(others))
}

/** @throws StoreError when the root is not in a format of its provider */
function rootAddress(provider: Provider, root: string): AddressOf<Provider> {
  const address = parseRoot(provider, root)
  if (address.kind !== 'invalid') return address
  throw new StoreError('invalid', provider, 'open', 'This kind of output is not available.')
}
