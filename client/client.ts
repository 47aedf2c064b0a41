// In charge of: the operations of the service as functions with types (docs/cli.md).
// Not in charge of: bytes going up and coming down (upload.ts, download.ts), waiting (follow.ts), showing anything.
import { setTimeout as pause } from 'node:timers/promises'
import type {
  Created,
  IssuedKey,
  JobList,
  JobRead,
  Key,
  KeyTerms,
  ReplacedKey,
  Upload,
  UploadList,
  VaultRotation,
} from '#contract/answers.ts'
import type { Diagnosis } from '#contract/diagnosis.ts'
import type { PublicEvent } from '#contract/events.ts'
import type { publishedLimits } from '#contract/limits.ts'
import { NetworkError, ServiceError } from './errors.ts'
import { readAnswer, request, type Init, type Service } from './http.ts'
import { upload, type UploadOptions } from './upload.ts'

const TRIES = 4
const PAUSE_MS = 500

export class Client {
  readonly #service: Service

  /** @param address of the service, with or without a slash at its end */
  constructor(address: string, key: string, signal?: AbortSignal) {
    this.#service = { base: address.replace(/\/+$/, ''), key, signal }
  }

  /** The `input` of a job, for a file of this machine. */
  upload(path: string, name: string, options: UploadOptions = {}): Promise<Upload> {
    return upload(this.#service, path, name, options)
  }

  /**
   * Safe to repeat: all tries have one Idempotency-Key, so that a lost answer makes no second job.
   * @throws ServiceError whose `details` are the problems of the body
   */
  create(body: unknown, options: { dryRun?: boolean; idempotencyKey?: string } = {}): Promise<Created> {
    const path = `/api/v0/job${options.dryRun === true ? '?dry_run=true' : ''}`
    return this.#once<Created>(path, JSON.stringify(body), options.idempotencyKey)
  }

  /** A new job of the same request, once the first one has ended. Safe to repeat, as creation is. */
  retry(id: number): Promise<Created> {
    return this.#once(`/api/v0/job/${id}/retry`, '{}')
  }

  /** The job, its status and its outputs in the service's own store. @throws ServiceError `job_active` before its end */
  async delete(id: number): Promise<void> {
    await request(this.#service, `/api/v0/job/${id}`, { method: 'DELETE' })
  }

  async #once<T>(path: string, body: string, key: string = crypto.randomUUID()): Promise<T> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', 'idempotency-key': key }, body }
    for (let left = TRIES - 1; ; left--) {
      try {
        return await this.#ask<T>(path, init)
      } catch (error) {
        if (left === 0 || !isPassing(error)) throw error
        await pause(PAUSE_MS, null, { signal: this.#service.signal })
      }
    }
  }

  read(id: number): Promise<JobRead> {
    return this.#ask(`/api/v0/job/${id}`)
  }

  list(query: Record<string, string> = {}): Promise<JobList> {
    return this.#ask(`/api/v0/job?${new URLSearchParams(query).toString()}`)
  }

  /** @throws ServiceError `job_finished` when there is nothing left to cancel */
  cancel(id: number): Promise<JobRead> {
    return this.#ask(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  }

  /** Uploads that have not expired, newest first. */
  uploads(query: Record<string, string> = {}): Promise<UploadList> {
    return this.#ask(`/uploads?${new URLSearchParams(query).toString()}`)
  }

  /** Whole, or on its way. */
  async deleteUpload(number: number): Promise<void> {
    await request(this.#service, `/uploads/${number}`, { method: 'DELETE' })
  }

  /** What has happened to a job so far. */
  events(id: number): Promise<{ events: PublicEvent[]; job_completed: boolean }> {
    return this.#ask(`/api/v0/job/${id}/events`)
  }

  limits(): Promise<ReturnType<typeof publishedLimits>> {
    return this.#ask('/api/v0/limits')
  }

  /** Keys: with a key of the scope "admin" only. */
  keys(): Promise<{ keys: Key[] }> {
    return this.#ask('/api/v0/keys')
  }

  issueKey(wish: Partial<Pick<Key, 'account' | 'scopes'> & KeyTerms>): Promise<IssuedKey> {
    const headers = { 'content-type': 'application/json' }
    return this.#ask('/api/v0/keys', { method: 'POST', headers, body: JSON.stringify(wish) })
  }

  rotateKey(id: string): Promise<ReplacedKey> {
    return this.#ask(`/api/v0/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST' })
  }

  async revokeKey(id: string): Promise<void> {
    await request(this.#service, `/api/v0/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
  }

  /** Seals some of what older keys of the ring sealed with its first; again with the last answer until `done`. Safe to repeat. */
  resealVault({ next, next_key }: Pick<VaultRotation, 'next' | 'next_key'>): Promise<VaultRotation> {
    const place = new URLSearchParams({ after: String(next), after_key: next_key })
    return this.#once(`/api/v0/vault/rotate?${place.toString()}`, '{}')
  }

  /** The service looks at each of its parts; what it writes for that it removes. With a key of the scope "admin" only. */
  diagnose(): Promise<Diagnosis> {
    return this.#ask('/api/v0/diagnosis', { method: 'POST' })
  }

  /** In the text format of Prometheus. With a key of the scope "admin" only. */
  async metrics(): Promise<string> {
    return (await request(this.#service, '/metrics')).text()
  }

  async #ask<T>(path: string, init?: Init): Promise<T> {
    return readAnswer<T>(await request(this.#service, path, init))
  }
}

/** Whether asking again may help. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof NetworkError ||
    (error instanceof ServiceError && (error.status >= 500 || error.code === 'rate_limited'))
  )
}
