// In charge of: how a kind of store is opened for a job: what it is given, and what it must be able to do.
// Not in charge of: which stores there are (registry.ts), their addresses and credentials in a request (contract/stores).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { StoreKeyResult } from '#contract/job/storeKeys/storeKey.ts'
import type { Sink, Source } from './objectStore.ts'
import { StoreError } from './objectStore.ts'

/** What a job's source is opened with. */
export interface SourceRequest<Address> {
  account: string
  address: Address
  credentials: Partial<Credentials>
}

/** What one of the roots of a job's outputs is opened with. */
export interface SinkRequest<Address> {
  account: string
  jobId: string
  /** null = the store has no roots: its outputs have relative paths alone. */
  root: Root<Address> | null
  credentials: Partial<Credentials>
  /** The Cache-Control that the job wants all of its objects to have. */
  cacheControl?: string | undefined
}

interface Root<Address> {
  /** `s3://bucket`, `https://host:port` */
  text: string
  /** Its key means nothing. */
  address: Address
  /** Which of the job's roots it is, from 0. */
  index: number
}

export interface StoreProvider<Address> {
  /** @throws StoreError */
  openSource(env: Env, request: SourceRequest<Address>): Source | Promise<Source>
  /** null = nothing can be written there. @throws StoreError */
  openSink: ((env: Env, request: SinkRequest<Address>) => Sink) | null
}

/** @throws StoreError `invalid` where the job names no root */
export function requireRoot<Address>({ root }: SinkRequest<Address>, provider: string): Root<Address> {
  if (root) return root
  throw new StoreError('invalid', provider, 'open', 'The job names no bucket for its outputs.')
}

/**
 * The key in a job's sealed credentials, which were judged when it was accepted; an older version of the service may have been laxer.
 * @throws StoreError `credentials_invalid`
 */
export function keyOf<Signer>(
  read: StoreKeyResult<Signer>,
  provider: string,
): Extract<StoreKeyResult<Signer>, { ok: true }>['key'] {
  if (!read.ok) throw noKey(provider)
  return read.key
}

export function noKey(provider: string): StoreError {
  return new StoreError('credentials_invalid', provider, 'open', `The credentials hold no key for ${provider}.`)
}
