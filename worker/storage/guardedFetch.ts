// In charge of: every outgoing request to an address from a client. It checks the address and each redirect, removes
// credentials on cross-origin redirects, and limits the wait for an answer.
// Not in charge of: DNS and pinning the IP address (scripts/local/egressProxy.ts locally, the platform on Cloudflare);
// the time that a body takes.
import { isConnectionError, type ConnectionError } from '#contract/errorCodes.ts'
import { settings } from '../env.ts'
import { AddressRefusedError, requireAllowedAddress } from './addressPolicy.ts'
import { readBoundedText } from './boundedBody.ts'
import { StoreError } from './objectStore.ts'

/** The part of `fetch` that providers use; tests replace it with a server of their own. */
export type FetchFunction = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface GuardedFetchOptions {
  /** Maximum number of redirects followed (3); null = none, and the redirect itself is returned. */
  maxRedirects?: number | null
  /** Timeout for the status line and headers, per hop, in milliseconds (30,000). */
  headersTimeoutMs?: number
  /** Used in errors. */
  provider?: string
  operation?: string
  /** Replaced only in tests. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Answers of the local egress proxy in place of an upstream; see scripts/local/egressProxy.ts. */
const egressErrorResponses = [
  { status: 470, header: 'x-egress-refused', code: 'address_refused' },
  { status: 471, header: 'x-egress-failed', code: 'unreachable' },
] as const

/** Cloudflare's answers in place of an upstream (documentation, "5xx errors"). No other server uses these numbers. */
const platformErrorStatuses: Readonly<Record<number, { cause: ConnectionError; reason: string }>> = {
  521: { cause: 'connection_refused', reason: 'refuses connections' },
  525: { cause: 'tls_failed', reason: 'fails at the TLS handshake' },
  526: { cause: 'tls_failed', reason: 'has a certificate that is not accepted' },
  530: { cause: 'host_not_found', reason: 'does not exist or has no address' },
}
/** 530 stands for all errors from 1000 on; 1016 means a name without an address. */
const NO_ADDRESS = /\b1016\b/
const MAX_PAGE_BYTES = 16 * 1024

/** Null if the upstream itself has answered. Otherwise the body is consumed. */
async function platformErrorOf(response: Response): Promise<{ cause: ConnectionError; reason: string } | null> {
  const found = platformErrorStatuses[response.status]
  if (found === undefined) return null
  if (response.status !== 530) {
    await response.body?.cancel()
    return found
  }
  const page = await readBoundedText(response.clone(), MAX_PAGE_BYTES).catch(() => null)
  if (!NO_ADDRESS.test(page ?? '')) return null
  await response.body?.cancel()
  return found
}

// Credentials for one origin must not be sent to another.
const credentialHeaders = ['authorization', 'cookie', 'proxy-authorization', 'x-amz-security-token']
// Internal headers: a caller that forwards headers must not be able to set them.
const internalHeaders = ['x-splicepoint-internal', 'x-egress-url']

const redirects = new Set([301, 302, 303, 307, 308])

/** @throws StoreError `address_refused`, `unreachable`, or `invalid` for a redirect that cannot be followed */
export async function guardedFetch(
  env: Env,
  address: string | URL,
  init: RequestInit = {},
  options: GuardedFetchOptions = {},
): Promise<Response> {
  const { maxRedirects = 3, headersTimeoutMs = 30_000, provider = 'http', operation = 'fetch' } = options
  const send = options.fetch ?? fetch
  const policy = settings(env)
  const fail = (code: 'address_refused' | 'unreachable' | 'invalid' | ConnectionError, message: string): StoreError =>
    new StoreError(code, provider, operation, message)
  const check = (target: string | URL): URL => {
    try {
      return requireAllowedAddress(target, policy)
    } catch (error) {
      throw error instanceof AddressRefusedError ? fail('address_refused', error.message) : error
    }
  }

  let url = check(address)
  const headers = new Headers(init.headers)
  for (const name of internalHeaders) headers.delete(name)

  // A source is read without caches. For a write, the runtime would send this as `Cache-Control: no-cache`, which S3
  // stores with the object and returns to every reader.
  const reads = ['GET', 'HEAD'].includes(init.method?.toUpperCase() ?? 'GET')
  const caching: RequestInit = reads ? { cache: 'no-store' } : {}

  for (let hop = 0; ; hop++) {
    // In this mode Node connects in place of workerd. It needs the scheme, which a forwarded request does not carry.
    if (policy.egress === 'pinned') headers.set('x-egress-url', url.href)
    const response = await fetchWithTimeout(send, url, { ...caching, ...init, headers, redirect: 'manual' })
    const location = redirects.has(response.status) ? response.headers.get('location') : null
    if (location === null || maxRedirects === null) return response
    await response.body?.cancel()
    if (hop >= maxRedirects) throw fail('address_refused', `${url.host} redirects more than ${maxRedirects} times.`)
    // RFC 9110 §15.4: only a safe method may be redirected automatically. A streamed body could not be sent again
    // anyway.
    if (!reads) {
      throw fail(
        'invalid',
        `${url.host} answers ${init.method ?? 'GET'} with a redirect; use the final address instead.`,
      )
    }
    const next = check(URL.parse(location, url) ?? location)
    if (url.protocol === 'https:' && next.protocol === 'http:') {
      throw fail('address_refused', `${url.host} redirects from https to http.`)
    }
    if (next.origin !== url.origin) for (const name of credentialHeaders) headers.delete(name)
    url = next
  }

  async function fetchWithTimeout(call: typeof send, target: URL, request: RequestInit): Promise<Response> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), headersTimeoutMs)
    const signal = request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal
    let response: Response
    try {
      response = await call(target.href, { ...request, signal })
    } catch {
      // An abort by the caller is not an error of the server.
      request.signal?.throwIfAborted()
      const why = late.signal.aborted ? `did not answer within ${headersTimeoutMs / 1000} seconds` : 'cannot be reached'
      throw new StoreError('unreachable', provider, operation, `${target.host} ${why}.`)
    } finally {
      clearTimeout(timer)
    }
    if (policy.egress === 'pinned') {
      const answer = egressErrorResponses.find(
        ({ status, header }) => response.status === status && response.headers.has(header),
      )
      if (!answer) return response
      const cause = response.headers.get(answer.header) ?? ''
      // An answer to HEAD has no body.
      const sentence = (await response.text()).slice(0, 300) || `${target.host} cannot be reached.`
      throw fail(isConnectionError(cause) ? cause : answer.code, sentence)
    }
    const found = await platformErrorOf(response)
    if (found === null) return response
    const sentence = `${target.host} ${found.reason} (${response.status}).`
    throw new StoreError(found.cause, provider, operation, sentence, response.status)
  }
}

/** A transport with the settings of one environment, for the providers. */
export function guardedTransport(env: Env, options: GuardedFetchOptions = {}): FetchFunction {
  return (url, init) => guardedFetch(env, url, init, options)
}

/** A store may need minutes to complete a large upload. */
const STORE_ANSWER_MS = 240_000

/**
 * For stores with signed requests: returns redirects instead of following them, because a signature covers the host.
 */
export function storeTransport(env: Env, provider: string): FetchFunction {
  return guardedTransport(env, { provider, maxRedirects: null, headersTimeoutMs: STORE_ANSWER_MS })
}
