// In charge of: the operations of the service as typed functions (docs/client.md). Runs in Node and in browsers.
// Not in charge of: local files (nodeClient.ts), transfers (upload/uploadFile.ts, download/downloadFile.ts), polling
// (followJob.ts), output for people.
import type { Account, IssuedKey, Key, KeyTerms, ReplacedKey, VaultRotation } from '#contract/api/administration.ts'
import type {
  Created,
  JobList,
  JobLog,
  JobRead,
  Preset,
  PresetList,
  Share,
  ShareList,
  UploadList,
  UploadToken,
  PublicEvent,
} from '#contract/api/answers.ts'
import type { Diagnosis } from '#contract/api/diagnosis.ts'
import type { publishedLimits } from '#contract/api/publishedLimits.ts'
import type { Usage, UsageOfAccounts } from '#contract/api/usage.ts'
import { isTransient } from './clientErrors.ts'
import { follow, type FollowOptions } from './followJob.ts'
import {
  readJsonAnswer,
  sendRequest,
  serviceConnection,
  type Credentials,
  type RequestOptions,
  type ServiceConnection,
} from './serviceRequest.ts'
import { sleep } from './sleep.ts'
import type { JobRequest, PresetJob } from './jobRequest.ts'
import { blobSource, isBlob, type UploadSource } from './upload/uploadSource.ts'
import { uploadFile, type Uploaded, type UploadOptions } from './upload/uploadFile.ts'

const MAX_TRIES = 4
const RETRY_DELAY_MS = 500

export interface CreateOptions {
  /** Probe, plan and estimate only; nothing is encoded. Default: false. */
  dryRun?: boolean
  /** Requests with the same key create only one job. Default: a random key. */
  idempotencyKey?: string
}

export interface ListOptions {
  /** 1 to 100. Default: 20, set by the service. */
  limit?: number | string
  /** `next_cursor` of the previous page. Default: the first page. */
  cursor?: string
  /** Jobs: states, separated by commas. Uploads: "receiving" or "ready". Default: all. */
  state?: string
  /** Jobs: number, job_id, part of the source's name or address, or a value of `metadata`. Default: all. */
  search?: string
  /** Jobs: "name:value" pairs of the job's `metadata`; all must match. Default: none. */
  metadata?: readonly string[]
}

export interface UsageOptions {
  /** Such as "2026-11", in UTC. Default: the current month. */
  month?: string | undefined
}

export interface SpendCapTerms {
  /** Per month, in the currency of the price list; null = no cap. */
  spend_cap: number | null
  /** Notified at 80 % and 100 %. Default: none. */
  spend_webhook_url?: string | null
}

/** The content of a preset. */
export interface PresetRequest {
  /** Unique in the account. */
  name: string
  /** Default: none. */
  description?: string
  /** The body of a job without source and credentials. */
  job: PresetJob
}

export interface ShareOptions {
  /** Shown on the page. Default: the source's name. */
  title?: string
  /** At least 60. Default: 30 days, or until the outputs are removed. */
  expires_in_seconds?: number
  /** Viewers must enter it; at least 8 characters. Default: none. */
  password?: string
}

export interface UploadTokenOptions {
  /** Default: the limit of one upload. */
  max_bytes?: number
  /** Default: 1. */
  max_files?: number
  /** 60 to 86400. Default: 3600. */
  expires_in_seconds?: number
  /** For your own records. */
  name?: string
}

export class ServiceClient {
  readonly #service: ServiceConnection

  /**
   * @param address of the service, with or without a slash at its end
   * @param credentials an API key, `{ key }`, or `{ token }` for an upload token, which can do nothing but upload
   * @param signal aborts every request of this client
   */
  constructor(address: string, credentials: Credentials, signal?: AbortSignal) {
    this.#service = serviceConnection(address, credentials, signal)
  }

  /**
   * Uploads a file. @returns the `input` for a job
   * @param name of the upload. Default: the File's own name
   */
  upload(file: Blob | UploadSource, name?: string, options: UploadOptions = {}): Promise<Uploaded> {
    const source = isBlob(file) ? blobSource(file, name) : name === undefined ? file : { ...file, name }
    return uploadFile(this.#service, source, options)
  }

  /**
   * Safe to repeat: all tries have the same Idempotency-Key, so a lost answer does not create a second job.
   * @throws ServiceError with the problems of the body in `details`
   */
  create(job: JobRequest, options: CreateOptions = {}): Promise<Created> {
    const path = `/api/v0/job${options.dryRun === true ? '?dry_run=true' : ''}`
    return this.#createIdempotent<Created>(path, job, options.idempotencyKey)
  }

  /** Creates a new job from the request of an ended one. Safe to repeat, like `create`. */
  retry(id: number): Promise<Created> {
    return this.#createIdempotent(`/api/v0/job/${id}/retry`, {})
  }

  /**
   * Deletes the job, its status and its outputs in the service's own store. @throws ServiceError `job_active` if it has
   * not ended
   */
  async delete(id: number): Promise<void> {
    await sendRequest(this.#service, `/api/v0/job/${id}`, { method: 'DELETE' })
  }

  read(id: number): Promise<JobRead> {
    return this.#requestJson(`/api/v0/job/${id}`)
  }

  /** Polls the job until it has ended. */
  follow(id: number, options: FollowOptions = {}): Promise<JobRead> {
    return follow(this, id, { ...options, signal: options.signal ?? this.#service.signal })
  }

  list(options: ListOptions = {}): Promise<JobList> {
    return this.#requestJson(`/api/v0/job?${queryOf(options)}`)
  }

  /** @throws ServiceError `job_finished` if the job has ended already */
  cancel(id: number): Promise<JobRead> {
    return this.#requestJson(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  }

  /** The events of a job so far. */
  events(id: number): Promise<{ events: PublicEvent[]; job_completed: boolean }> {
    return this.#requestJson(`/api/v0/job/${id}/events`)
  }

  /**
   * The log of the transcoder: each ffmpeg command and its messages. `part`: of a part of a divided job, by its position in
   * `status.chunks.map`.
   */
  log(id: number, part?: number): Promise<JobLog> {
    return this.#requestJson(`/api/v0/job/${id}/log${part === undefined ? '' : `?part=${part}`}`)
  }

  /** A page that plays the job's outputs without a key. @throws ServiceError `not_shareable` */
  share(id: number, options: ShareOptions = {}): Promise<Share> {
    return this.#send('POST', `/api/v0/job/${id}/share`, options)
  }

  shares(id: number): Promise<ShareList> {
    return this.#requestJson(`/api/v0/job/${id}/share`)
  }

  async revokeShare(id: number, shareId: string): Promise<void> {
    await sendRequest(this.#service, `/api/v0/job/${id}/share/${encodeURIComponent(shareId)}`, { method: 'DELETE' })
  }

  /** Built-in presets come first. */
  presets(): Promise<PresetList> {
    return this.#requestJson('/api/v0/presets')
  }

  preset(id: string): Promise<Preset> {
    return this.#requestJson(`/api/v0/presets/${encodeURIComponent(id)}`)
  }

  createPreset(preset: PresetRequest): Promise<Preset> {
    return this.#send('POST', '/api/v0/presets', preset)
  }

  replacePreset(id: string, preset: PresetRequest): Promise<Preset> {
    return this.#send('PUT', `/api/v0/presets/${encodeURIComponent(id)}`, preset)
  }

  async deletePreset(id: string): Promise<void> {
    await sendRequest(this.#service, `/api/v0/presets/${encodeURIComponent(id)}`, { method: 'DELETE' })
  }

  /** Uploads that have not expired, newest first. */
  uploads(options: Pick<ListOptions, 'limit' | 'cursor' | 'state'> = {}): Promise<UploadList> {
    return this.#requestJson(`/uploads?${queryOf(options)}`)
  }

  /** Deletes an upload, complete or still receiving. */
  async deleteUpload(number: number): Promise<void> {
    await sendRequest(this.#service, `/uploads/${number}`, { method: 'DELETE' })
  }

  /** A token with which visitors of your page upload to your account without an API key. */
  createUploadToken(options: UploadTokenOptions = {}): Promise<UploadToken> {
    return this.#send('POST', '/api/v0/uploads/tokens', options)
  }

  limits(): Promise<ReturnType<typeof publishedLimits>> {
    return this.#requestJson('/api/v0/limits')
  }

  /** What the account used in a month, and what it costs. */
  usage(options: UsageOptions = {}): Promise<Usage> {
    return this.#requestJson(`/api/v0/usage?${queryOf({ month: options.month, format: 'json' })}`)
  }

  /** The same of all accounts. Requires a key with the scope "admin". */
  usageOfAccounts(options: UsageOptions = {}): Promise<UsageOfAccounts> {
    return this.#requestJson(`/api/v0/usage/accounts?${queryOf({ month: options.month, format: 'json' })}`)
  }

  /** Usage as CSV (RFC 4180). */
  async usageCsv({ month, allAccounts = false }: UsageOptions & { allAccounts?: boolean } = {}): Promise<string> {
    const path = allAccounts ? '/api/v0/usage/accounts' : '/api/v0/usage'
    return (await sendRequest(this.#service, `${path}?${queryOf({ month, format: 'csv' })}`)).text()
  }

  /** Amount per month in the currency of the price list; null = no cap. Requires a key with the scope "admin". */
  setSpendCap(account: string, cap: SpendCapTerms): Promise<Account> {
    return this.#send('PUT', `/api/v0/accounts/${encodeURIComponent(account)}/spend-cap`, cap)
  }

  /** API keys. Requires a key with the scope "admin". */
  keys(): Promise<{ keys: Key[] }> {
    return this.#requestJson('/api/v0/keys')
  }

  issueKey(
    terms: Partial<Pick<Key, 'account'> & { scopes: readonly string[]; expires_in_seconds: number | null } & KeyTerms>,
  ): Promise<IssuedKey> {
    return this.#send('POST', '/api/v0/keys', terms)
  }

  rotateKey(id: string): Promise<ReplacedKey> {
    return this.#requestJson(`/api/v0/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST' })
  }

  async revokeKey(id: string): Promise<void> {
    await sendRequest(this.#service, `/api/v0/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
  }

  /**
   * Encrypts a batch of secrets again with the newest vault key. Call it with the last answer until `done`. Safe to
   * repeat.
   */
  resealVault({ next, next_key }: Pick<VaultRotation, 'next' | 'next_key'>): Promise<VaultRotation> {
    const place = new URLSearchParams({ after: String(next), after_key: next_key })
    return this.#createIdempotent(`/api/v0/vault/rotate?${place.toString()}`, {})
  }

  /**
   * Makes the service check each of its parts; test data is removed afterwards. Requires a key with the scope "admin".
   */
  diagnose(): Promise<Diagnosis> {
    return this.#requestJson('/api/v0/diagnosis', { method: 'POST' })
  }

  /** Metrics in the text format of Prometheus. Requires a key with the scope "admin". */
  async metrics(): Promise<string> {
    return (await sendRequest(this.#service, '/metrics')).text()
  }

  async #createIdempotent<T>(path: string, body: object, key: string = randomIdempotencyKey()): Promise<T> {
    for (let left = MAX_TRIES - 1; ; left--) {
      try {
        return await this.#send<T>('POST', path, body, { 'idempotency-key': key })
      } catch (error) {
        if (left === 0 || !isTransient(error)) throw error
        await sleep(RETRY_DELAY_MS, this.#service.signal)
      }
    }
  }

  #send<T>(method: string, path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
    const init = { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
    return this.#requestJson<T>(path, init)
  }

  async #requestJson<T>(path: string, init?: RequestOptions): Promise<T> {
    return readJsonAnswer<T>(await sendRequest(this.#service, path, init))
  }
}

/** Browsers have randomUUID only on https and localhost. */
function randomIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function queryOf(options: object): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const pairs = given.flatMap(([name, value]: [string, unknown]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  )
  return new URLSearchParams(pairs).toString()
}
