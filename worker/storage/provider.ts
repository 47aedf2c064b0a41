// In charge of: the interface of a store provider: what it is given, and what it must open.
// Not in charge of: the list of providers (registry.ts), their addresses and credentials in a request
// (contract/job/stores/).
import type { Credentials } from '#contract/job/jobConfig.ts'
import { StoreError, type Sink, type Source } from './objectStore.ts'

/** What a job's source is opened with. */
export interface SourceRequest<Address> {
  account: string
  address: Address
  credentials: Partial<Credentials>
}

/** What one root of a job's outputs is opened with. */
export interface SinkRequest<Address> {
  account: string
  jobId: string
  /** null = the store has no roots: its output paths are always relative. */
  root: Root<Address> | null
  credentials: Partial<Credentials>
  /** The Cache-Control value that the job sets for all of its objects. */
  cacheControl?: string | undefined
}

interface Root<Address> {
  /** `s3://bucket`, `https://host:port` */
  text: string
  /** Its key is not used. */
  address: Address
  /** Index among the job's roots, from 0. */
  index: number
}

export interface StoreProvider<Address> {
  /** @throws StoreError */
  openSource(env: Env, request: SourceRequest<Address>): Source | Promise<Source>
  /** null = the store is read-only for jobs. @throws StoreError */
  openSink: ((env: Env, request: SinkRequest<Address>) => Sink) | null
}

/** @throws StoreError `invalid` if the job names no root */
export function requireRoot<Address>({ root }: SinkRequest<Address>, provider: string): Root<Address> {
  if (root) return root
  throw new StoreError('invalid', provider, 'open', 'The job has no bucket for its outputs.')
}

/** The key in a job's sealed credentials. @throws StoreError `credentials_invalid` */
export function requireKey<Key>(key: Key | null, provider: string): Key {
  if (key === null) throw noKey(provider)
  return key
}

export function noKey(provider: string): StoreError {
  return new StoreError('credentials_invalid', provider, 'open', `The credentials contain no key for ${provider}.`)
}
