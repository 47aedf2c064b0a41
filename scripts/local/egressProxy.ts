// In charge of: all outgoing connections of the Worker in local mode. Node resolves the host name, checks every address
// and connects only to those (docs/internals/reliability.md, SSRF guard). Code in workerd can check a name, but cannot pin the
// address.
// Not in charge of: redirects (worker/storage/guardedFetch.ts follows them; each request comes here again).
//
// There are two forms: `createEgressFetcher` for `outboundService: handler`, and `createEgressHandler` for
// `outboundService: { node: handler }`. Prefer the second. With the first, miniflare ignores backpressure, ends an
// interrupted body as if it were complete, and compresses bodies again.
import { timingSafeEqual } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import dns from 'node:dns/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { Agent, Pool } from 'undici'
import type { ConnectionError } from '#contract/errorCodes.ts'
import {
  AddressRefusedError,
  requireAllowedAddress,
  hostWithPort,
  isPublicAddress,
} from '../../worker/storage/addressPolicy.ts'

export interface EgressOptions {
  /** Lower-case `host:port` pairs that may have private addresses. */
  allowPrivateHosts: ReadonlySet<string>
  /** Proves that a request comes from the service itself. */
  internalToken: string
  /**
   * Where the service's own requests may go, even to private addresses. any: transcoders register their addresses, and
   * only those are called with the token.
   */
  internalOrigins: readonly string[] | 'any'
  /** By `host:port`: the place to connect to instead, over http and with unchanged requests. Set by the operator. */
  connectTo?: ReadonlyMap<string, string>
  /** Resolves all addresses of a name. Default: the system's resolver; tests replace it. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>
}

/** The common part of miniflare's Request and the web's Request. */
export interface EgressRequest {
  url: string
  method: string
  headers: Iterable<[string, string]>
  body: unknown
  signal?: AbortSignal | null
}

interface Outgoing {
  url: string
  method: string
  headers: [string, string][]
  body: Readable | null
  signal: AbortSignal | null
}

interface Incoming {
  status: number
  headers: [string, string][]
  body: Readable
}

export const INTERNAL_HEADER = 'x-splicepoint-internal'
const URL_HEADER = 'x-egress-url'
const REFUSED_RESPONSE = { status: 470, header: 'x-egress-refused' }
const FAILED_RESPONSE = { status: 471, header: 'x-egress-failed' }

/** Errors that a retry does not fix, reported to the Worker by error code (contract/errorCodes.ts). */
const connectionErrorPatterns: readonly { cause: ConnectionError; reason: string; test: RegExp }[] = [
  { cause: 'host_not_found', reason: 'does not exist or has no address', test: /^(ENOTFOUND|ENODATA)$/ },
  // OpenSSL's codes for invalid certificates, and Node's code for a certificate of another host.
  {
    cause: 'tls_failed',
    reason: 'has a certificate that is not accepted',
    test: /CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/,
  },
  {
    cause: 'tls_failed',
    reason: 'does not support TLS at that port, or only versions that are not accepted',
    test: /^(EPROTO|ERR_SSL_\w+)$/,
  },
  { cause: 'connection_refused', reason: 'refuses connections', test: /^ECONNREFUSED$/ },
]

const CONNECT_TIMEOUT_MS = 10_000
/**
 * A store may take minutes to complete a large upload. worker/storage/guardedFetch.ts has shorter timeouts where
 * needed.
 */
const HEADERS_TIMEOUT_MS = 300_000
const BODY_TIMEOUT_MS = 120_000

// RFC 9110 §7.6.1 (headers of one connection), and headers that undici or the runtimes set themselves.
const notForwarded =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|mf-.*|cf-.*|x-splicepoint-internal|x-egress-.*)$/i
const notReturned = /^(connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|x-egress-.*)$/i

function makeSend(options: EgressOptions): (request: Outgoing) => Promise<Incoming> {
  const resolve = options.resolve ?? ((hostname: string) => dns.lookup(hostname, { all: true, verbatim: true }))
  const { internalOrigins } = options
  const ownOrigins = internalOrigins === 'any' ? null : new Set(internalOrigins.map((origin) => new URL(origin).origin))
  const policy = { egress: 'pinned', allowPrivateHosts: options.allowPrivateHosts } as const

  async function checkedAddresses(hostname: string, allowed: boolean): Promise<LookupAddress[]> {
    const found = await resolve(hostname)
    // One private address is enough to refuse: a name with both public and private addresses is an attempt to reach the
    // private one.
    if (!allowed && found.some(({ address }) => !isPublicAddress(address))) {
      throw new AddressRefusedError(`${hostname} resolves to an address that is not public.`)
    }
    return found
  }

  /** The socket resolves names only through this function, so it connects only to checked addresses. */
  function pinnedLookup(allowed: boolean): LookupFunction {
    return (hostname, wanted, callback) => {
      void (async () => {
        try {
          const found = await checkedAddresses(hostname, allowed)
          const [first] = found
          if (!first) throw new Error(`${hostname} has no address`)
          if (wanted.all) callback(null, found)
          else callback(null, first.address, first.family)
        } catch (error) {
          callback(error as NodeJS.ErrnoException, '', 0)
        }
      })()
    }
  }

  // A custom Agent ignores HTTP_PROXY and similar variables. A proxy would resolve the name again, without the check.
  const shared = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    // HTTP/1.1 only: header and body handling was tested with it.
    allowH2: false,
  }
  const guarded = new Agent({
    ...shared,
    factory(origin, poolOptions) {
      const allowed = options.allowPrivateHosts.has(hostWithPort(new URL(origin)))
      return new Pool(origin, {
        ...(poolOptions as Pool.Options),
        connect: { timeout: CONNECT_TIMEOUT_MS, lookup: pinnedLookup(allowed) },
      })
    },
  })
  const internal = new Agent({ ...shared, connect: { timeout: CONNECT_TIMEOUT_MS } })

  function isOwn(request: Outgoing, url: URL): boolean {
    const token = request.headers.find(([name]) => name.toLowerCase() === INTERNAL_HEADER)?.[1]
    const isListed = ownOrigins === null ? /^https?:$/.test(url.protocol) : ownOrigins.has(url.origin)
    return token !== undefined && isListed && timingSafeEqualText(token, options.internalToken)
  }

  return async (request) => {
    try {
      const parsed = URL.parse(request.url)
      const own = parsed !== null && isOwn(request, parsed)
      const url = own ? parsed : requireAllowedAddress(request.url, policy)
      const instead = own ? undefined : options.connectTo?.get(hostWithPort(url))
      const headers = request.headers.filter(([name]) => !notForwarded.test(name))
      // A signature covers the original host.
      if (instead !== undefined) headers.push(['host', url.host])
      const answer = await (own || instead !== undefined ? internal : guarded).request({
        origin: instead === undefined ? url.origin : `http://${instead}`,
        path: url.pathname + url.search,
        method: request.method,
        headers: headers.flat(),
        body: request.body,
        signal: request.signal,
        responseHeaders: 'raw',
      })
      const raw = answer.headers as unknown as (string | Buffer)[]
      const returned: [string, string][] = []
      for (let i = 0; i + 1 < raw.length; i += 2) {
        const name = text(raw[i])
        if (!notReturned.test(name)) returned.push([name, text(raw[i + 1])])
      }
      return { status: answer.statusCode, headers: returned, body: answer.body }
    } catch (error) {
      request.body?.destroy()
      return egressErrorResponse(error, URL.parse(request.url)?.host ?? 'The address')
    }
  }
}

/** Header values are bytes; latin1 keeps them (RFC 9110 §5.5). */
function text(value: string | Buffer | undefined): string {
  return typeof value === 'string' ? value : (value?.toString('latin1') ?? '')
}

function timingSafeEqualText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return b !== '' && left.length === right.length && timingSafeEqual(left, right)
}

function egressErrorResponse(error: unknown, host: string): Incoming {
  const refused = causesOf(error).find((cause) => cause instanceof AddressRefusedError)
  const { status, header } = refused ? REFUSED_RESPONSE : FAILED_RESPONSE
  const codes = causesOf(error).flatMap((cause) => (cause as NodeJS.ErrnoException).code ?? [])
  const known = connectionErrorPatterns.flatMap(({ test, ...cause }) =>
    codes.filter((code) => test.test(code)).map((code) => ({ ...cause, code })),
  )
  const { cause, reason, code } = known[0] ?? { cause: '1', reason: 'cannot be reached', code: codes[0] }
  const sentence = refused ? refused.message : `${host} ${reason}${code ? ` (${code})` : ''}.`
  return {
    status,
    headers: [
      [header, refused ? '1' : cause],
      ['content-type', 'text/plain; charset=utf-8'],
    ],
    body: Readable.from([Buffer.from(sentence)]),
  }
}

function causesOf(error: unknown): Error[] {
  const found: Error[] = []
  for (let cause = error; cause instanceof Error && found.length < 5; cause = cause.cause) {
    found.push(cause)
    if (cause instanceof AggregateError) found.push(...cause.errors.filter((one) => one instanceof Error))
  }
  return found
}

/** RFC 9110 §6.4.1: responses without a body, whatever their headers say. */
function hasNoBody(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304
}

/** For `outboundService: createEgressFetcher(…)`. */
export function createEgressFetcher(options: EgressOptions): (request: EgressRequest) => Promise<Response> {
  const send = makeSend(options)
  return async (request) => {
    const { status, headers, body } = await send({
      url: request.url,
      method: request.method,
      headers: [...request.headers],
      body: request.body ? Readable.fromWeb(request.body as NodeReadableStream) : null,
      signal: request.signal ?? null,
    })
    if (hasNoBody(request.method, status)) {
      body.on('error', () => undefined).resume()
      return new Response(null, { status, headers })
    }
    return new Response(Readable.toWeb(body), { status, headers })
  }
}

/**
 * For `outboundService: { node: createEgressHandler(…) }`. A forwarded request has lost its scheme, so
 * worker/storage/guardedFetch.ts sends the full address in a header. Without the header only the service's own requests
 * are allowed, over http.
 */
export function createEgressHandler(
  options: EgressOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const send = makeSend(options)
  const { internalOrigins } = options
  const internalHosts = new Set(internalOrigins === 'any' ? [] : internalOrigins.map((origin) => new URL(origin).host))
  return async (request, response) => {
    const stop = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) stop.abort()
    })
    const named = request.headers[URL_HEADER]
    const host = request.headers.host ?? ''
    const method = request.method ?? 'GET'
    const body = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
    const answer =
      typeof named === 'string' || internalHosts.has(host)
        ? await send({
            url: typeof named === 'string' ? named : `http://${host}${request.url}`,
            method,
            headers: headerPairs(request.rawHeaders),
            body: body ? request : null,
            signal: stop.signal,
          })
        : egressErrorResponse(
            new AddressRefusedError('Requests to addresses that a client named go through the guard only.'),
            host,
          )
    response.writeHead(answer.status, answer.headers.flat())
    if (hasNoBody(method, answer.status)) {
      answer.body.on('error', () => undefined).resume()
      response.end()
      return
    }
    // pipeline destroys the socket if the upstream breaks off, so that the reader notices.
    await pipeline(answer.body, response).catch(() => undefined)
  }
}

function headerPairs(raw: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) found.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return found
}
