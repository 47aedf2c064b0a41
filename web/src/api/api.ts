// In charge of: calling the public API: requests with the key, answers as values, error answers as ApiError.
// Not in charge of: following a job (jobWatch.ts), sending files (../transfers/upload.ts).
import type { IssuedKey, Key } from '#contract/api/administration.ts'
import type {
  Created,
  JobList,
  JobRead,
  ListedUpload,
  Preset,
  PresetList,
  UploadList,
  PublicEvent,
} from '#contract/api/answers.ts'
import type { Problem } from '#contract/errors.ts'
import { currentKey, signOut } from './session.ts'

/** What a page shows of an error. */
export interface Failure {
  code: string
  message: string
  /** What to do. */
  advice?: string
  /** Address of the page about the code. */
  docs?: string
}

/** An answer other than success; `code` "offline" = no answer arrived. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly failure: Failure
  readonly problems: Problem[]
  constructor(status: number, failure: Failure, problems: Problem[] = []) {
    super(failure.message)
    this.status = status
    this.failure = failure
    this.problems = problems
  }
}

export function asError(error: unknown): Failure {
  return error instanceof ApiError
    ? error.failure
    : { code: 'internal', message: error instanceof Error ? error.message : String(error) }
}

/** No answer arrived. */
export function offline(message: string): ApiError {
  const advice = 'Check your connection and that the service is running. This page continues by itself.'
  return new ApiError(0, { code: 'offline', message, advice })
}

/** RFC 7617: the user name is the key, in UTF-8; the password is ignored. */
export function authorization(key: string): string {
  const bytes = new TextEncoder().encode(`${key}:`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

/** Whether a repeated request would fail the same way: true if the service rejected the request. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429

interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  /** The request goes on if the page is closed. */
  keepalive?: boolean
  /** Used instead of the session's key. */
  key?: string
}

/** Returns the answer, success or not. @throws ApiError if no answer arrives */
export async function send(path: string, ask: Ask = {}): Promise<Response> {
  const key = ask.key ?? currentKey() ?? ''
  try {
    return await fetch(path, {
      method: ask.method ?? 'GET',
      // The key is in our own header: the browser must not add its own login or ask for one.
      credentials: 'omit',
      cache: 'no-store',
      headers: {
        authorization: authorization(key),
        ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...ask.headers,
      },
      ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
      ...(ask.signal ? { signal: ask.signal } : {}),
      ...(ask.keepalive === true ? { keepalive: true } : {}),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw offline('The service does not respond.')
  }
}

export async function request<T>(path: string, ask: Ask = {}): Promise<T> {
  const response = await send(path, ask)
  if (!response.ok) throw toApiError(response.status, await response.text(), ask.key === undefined)
  return (response.status === 204 ? undefined : await response.json()) as T
}

interface ErrorBody {
  error?: Partial<Failure> & { details?: unknown }
}

/** An error answer as a value; a key that is no longer accepted ends the session. */
export function toApiError(status: number, text: string, ofSession: boolean): ApiError {
  let error: ErrorBody['error']
  try {
    error = (JSON.parse(text) as ErrorBody).error
  } catch {
    // Not an answer of the service: a proxy's page, or nothing.
  }
  if (status === 401 && ofSession && currentKey() !== null) {
    signOut('Your API key is no longer valid. Sign in again.')
  }
  const { code = 'internal', message = `The service responded with status ${status} and no message.` } = error ?? {}
  const problems = Array.isArray(error?.details) ? (error.details as Problem[]) : []
  return new ApiError(status, { ...error, code, message }, problems)
}

/** The parameters of GET /api/v0/job, in camel case. */
export interface ListQuery {
  cursor?: string | null
  /** A number, the start of a job_id, or a part of the source's name or address. */
  search?: string
  /** Comma-separated, with the API's names. */
  state?: string
  /** "name:value" of a job's own metadata. */
  metadata?: string
  /** ISO 8601. */
  createdFrom?: string
  createdTo?: string
  /** How many jobs are queued and running. */
  counts?: boolean
  limit?: number
}

export function listJobs(query: ListQuery, signal?: AbortSignal): Promise<JobList> {
  const search = new URLSearchParams({ limit: String(query.limit ?? 25) })
  if (query.cursor) search.set('cursor', query.cursor)
  if (query.search) search.set('search', query.search)
  if (query.state) search.set('state', query.state)
  if (query.metadata) search.set('metadata', query.metadata)
  if (query.createdFrom) search.set('created_from', query.createdFrom)
  if (query.createdTo) search.set('created_to', query.createdTo)
  if (query.counts === true) search.set('counts', 'true')
  return request<JobList>(`/api/v0/job?${search}`, signal ? { signal } : {})
}

export const readJob = (id: number, signal?: AbortSignal): Promise<JobRead> =>
  request<JobRead>(`/api/v0/job/${id}`, signal ? { signal } : {})

export const cancelJob = (id: number): Promise<JobRead> =>
  request<JobRead>(`/api/v0/job/${id}/cancel`, { method: 'POST' })

/** Creates a new job from the same request. */
export const retryJob = (id: number, once: string): Promise<Created> =>
  request<Created>(`/api/v0/job/${id}/retry`, { method: 'POST', headers: { 'idempotency-key': once } })

export const deleteJob = (id: number): Promise<void> => request(`/api/v0/job/${id}`, { method: 'DELETE' })

/** The same, also while the page is being closed. */
export const deleteJobAtLast = (id: number): Promise<void> =>
  request(`/api/v0/job/${id}`, { method: 'DELETE', keepalive: true })

export const readEvents = async (id: number, signal: AbortSignal): Promise<PublicEvent[]> =>
  (await request<{ events: PublicEvent[] }>(`/api/v0/job/${id}/events`, { signal })).events

/** The event stream of a job, starting after the given event; it is a stream only if its status is 200. */
export const openEvents = (id: number, after: number, signal: AbortSignal): Promise<Response> =>
  send(`/api/v0/job/${id}/events`, {
    signal,
    headers: { accept: 'text/event-stream', 'last-event-id': String(after) },
  })

/** The service's presets come first. */
export const listPresets = async (): Promise<Preset[]> => (await request<PresetList>('/api/v0/presets')).presets

export type NewPreset = Pick<Preset, 'name' | 'description' | 'job'>

export const createPreset = (body: NewPreset): Promise<Preset> => request('/api/v0/presets', { method: 'POST', body })

export const changePreset = (id: string, body: NewPreset): Promise<Preset> =>
  request(`/api/v0/presets/${encodeURIComponent(id)}`, { method: 'PUT', body })

export const deletePreset = (id: string): Promise<void> =>
  request(`/api/v0/presets/${encodeURIComponent(id)}`, { method: 'DELETE' })

/** `once` is the same for every attempt to send one request, so that a lost answer does not lead to a second job. */
export function createJob(body: unknown, dryRun: boolean, once: string): Promise<Created> {
  return request<Created>(`/api/v0/job${dryRun ? '?dry_run=unlisted' : ''}`, {
    method: 'POST',
    body,
    headers: { 'idempotency-key': once },
  })
}

export function listUploads(
  query: { cursor?: string; state?: ListedUpload['state']; search?: string },
  signal?: AbortSignal,
) {
  const search = new URLSearchParams({ limit: '50', ...query })
  return request<UploadList>(`/uploads?${search}`, signal ? { signal } : {})
}

/** A complete upload or one in progress. */
export const deleteUpload = (number: number): Promise<void> => request(`/uploads/${number}`, { method: 'DELETE' })

/** Whether the key may use jobs; a key that only manages keys may not. @throws ApiError if the key is unknown */
export async function checkKey(key: string): Promise<'jobs' | 'admin'> {
  try {
    await request<JobList>('/api/v0/job?limit=1', { key })
    return 'jobs'
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return 'admin'
    throw error
  }
}

export const listKeys = async (): Promise<Key[]> => (await request<{ keys: Key[] }>('/api/v0/keys')).keys

/** The service validates the body, here and below. */
export const createKey = (wish: unknown): Promise<IssuedKey> => request('/api/v0/keys', { method: 'POST', body: wish })

export const changeKey = (id: string, change: unknown): Promise<Key> =>
  request(`/api/v0/keys/${id}`, { method: 'PATCH', body: change })

export const revokeKey = (id: string): Promise<void> => request(`/api/v0/keys/${id}`, { method: 'DELETE' })

export const readLimits = (): Promise<Record<string, unknown>> => request('/api/v0/limits')
