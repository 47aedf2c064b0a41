// In charge of: sending one request to the service: address, credentials, and every failure as one of two errors. Runs
// in Node and in browsers.
// Not in charge of: which requests exist (serviceClient.ts, upload/uploadFile.ts).
import { NetworkError, ServiceError } from './clientErrors.ts'

export interface ServiceConnection {
  /** Address without a trailing slash. */
  base: string
  /** Value of the Authorization header. */
  authorization: string
  /** Aborts running requests. */
  signal?: AbortSignal | undefined
}

/** An API key, or an upload token, which only permits uploads (docs/uploads.md). */
export type Credentials = string | { key: string } | { token: string }

export type RequestOptions = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

export function serviceConnection(address: string, credentials: Credentials, signal?: AbortSignal): ServiceConnection {
  return { base: address.replace(/(?<!\/)\/+$/, ''), authorization: authorizationOf(credentials), signal }
}

function authorizationOf(credentials: Credentials): string {
  if (typeof credentials === 'object' && 'token' in credentials) return `Bearer ${credentials.token}`
  const key = typeof credentials === 'string' ? credentials : credentials.key
  return `Basic ${base64(`${key}:`)}`
}

/** Base64 of the text in UTF-8. */
export function base64(text: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(text)))
}

/**
 * @param path below the service's address, including the query
 * @throws ServiceError for every answer that is not a success; NetworkError if there is no answer
 */
export async function sendRequest(
  service: ServiceConnection,
  path: string,
  init: RequestOptions = {},
): Promise<Response> {
  const { authorization, base } = service
  const response = await fetchOrFail(new URL(base + path), {
    ...init,
    signal: init.signal ?? service.signal ?? null,
    headers: { ...init.headers, authorization },
  })
  if (response.ok) return response
  throw new ServiceError(response.status, await response.text().catch(() => ''))
}

/** Like `fetch`, but the error names the host that could not be reached. @throws NetworkError */
export async function fetchOrFail(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new NetworkError(`${url.origin} cannot be reached: ${describeError(error)}.`, { cause: error })
  }
}

/** undici only says "fetch failed"; the reason is in the error's cause. */
export function describeError(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? (cause?.message || message)
}

/** @throws NetworkError if the body is cut off or is not JSON */
export async function readJsonAnswer<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T
  } catch (error) {
    throw new NetworkError(`The answer of ${new URL(response.url).origin} is not valid JSON, or it is incomplete.`, {
      cause: error,
    })
  }
}
