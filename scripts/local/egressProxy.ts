// In charge of: every connection that the Worker makes in local mode: Node resolves the name, checks every address that it
// has and connects to exactly those (reliability.md, SSRF guard); code in workerd can check a name, but not pin an address.
// Not in charge of: redirects (worker/storage/guardedFetch.ts follows them by hand, each through here again).
//
// Two doors to the same thing: `createEgress` for `outboundService: handler`, and `createEgressHandler` for
// `outboundService: { node: handler }`. Prefer the second: behind the first, miniflare writes bodies without waiting for
// the reader (no backpressure), ends a body that broke off as if it were complete, and compresses anew what is compressed.
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
  /** Lower-case `host:port` pairs that may be private. */
  allowPrivateHosts: ReadonlySet<string>
  /** Proves that a request is the service's own. */
  internalToken: string
  /** Where the service's own requests may go, whatever their address. */
  internalOrigins: readonly string[]
  /** By `host:port`: another place to which requests for it go, over http and as they are, by the will of who runs this. */
  connectTo?: ReadonlyMap<string, string>
  /** All addresses of a name; the system's resolver unless a test brings its own. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>
}

/** What both doors know of a request; miniflare's Request and the web's both fit. */
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

/** What no further try mends, told to the Worker by the names of its errors (contract/errors.ts). */
const connectionErrorPatterns: readonly { cause: ConnectionError; why: string; test: RegExp }[] = [
  { cause: 'host_not_found', why: 'does not exist or has no address', test: /^(ENOTFOUND|ENODATA)$/ },
  // OpenSSL's names for what is wrong with a certificate, and Node's for another host's.
  {
    cause: 'tls_failed',
    why: 'has a certificate that is not accepted',
    test: /CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/,
  },
  {
    cause: 'tls_failed',
    why: 'does not support TLS at that port, or only versions that are not accepted',
    test: /^(EPROTO|ERR_SSL_\w+)$/,
  },
  { cause: 'connection_refused', why: 'refuses connections', test: /^ECONNREFUSED$/ },
]

const CONNECT_TIMEOUT_MS = 10_000
/** A store may take minutes to complete a large upload; transport.ts has the shorter wait where one is due. */
const HEADERS_TIMEOUT_MS = 300_000
const BODY_TIMEOUT_MS = 120_000

// RFC 9110 §7.6.1 (one connection only), and what undici or the runtimes in between set by themselves.
const notForwarded =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|mf-.*|cf-.*|x-splicepoint-internal|x-egress-.*)$/i
const notReturned = /^(connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|x-egress-.*)$/i

function makeSend(options: EgressOptions): (request: Outgoing) => Promise<Incoming> {
  const resolve = options.resolve ?? ((hostname: string) => dns.lookup(hostname, { all: true, verbatim: true }))
  const internalOrigins = new Set(options.internalOrigins.map((origin) => new URL(origin).origin))
  const policy = { egress: 'pinned', allowPrivateHosts: options.allowPrivateHosts } as const

  async function checkedAddresses(hostname: string, allowed: boolean): Promise<LookupAddress[]> {
    const found = await resolve(hostname)
    // Any, not all: whoever mixes a public and a private address under one name is after the private one.
    if (!allowed && found.some(({ address }) => !isPublicAddress(address))) {
      throw new AddressRefusedError(`${hostname} resolves to an address that is not public.`)
    }
    return found
  }

  /** The socket asks this and nothing else for addresses, so what was checked is what is connected to. */
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

  // An Agent of one's own ignores HTTP_PROXY and the like: a proxy would resolve the name a second time.
  const shared = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    // HTTP/1.1 only: what is promised about headers and bodies here was tried with that.
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
    return token !== undefined && internalOrigins.has(url.origin) && timingSafeEqualText(token, options.internalToken)
  }

  return async (request) => {
    try {
      const parsed = URL.parse(request.url)
      const own = parsed !== null && isOwn(request, parsed)
      const url = own ? parsed : requireAllowedAddress(request.url, policy)
      const instead = own ? undefined : options.connectTo?.get(hostWithPort(url))
      const headers = request.headers.filter(([name]) => !notForwarded.test(name))
      // A signature covers the host that was named.
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
  const { cause, why, code } = known[0] ?? { cause: '1', why: 'cannot be reached', code: codes[0] }
  const sentence = refused ? refused.message : `${host} ${why}${code ? ` (${code})` : ''}.`
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

/** RFC 9110 §6.4.1: answers that have no body, whatever their headers say. */
function hasNoBody(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304
}

/** For `outboundService: createEgress(…)`. */
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
 * For `outboundService: { node: createEgressHandler(…) }`. A forwarded request has lost its scheme, so transport.ts names
 * the whole address in a header; without it only the service's own requests pass, which go over http.
 */
export function createEgressHandler(
  options: EgressOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const send = makeSend(options)
  const internalHosts = new Set(options.internalOrigins.map((origin) => new URL(origin).host))
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
    // pipeline destroys the socket when the upstream breaks off, so that the reader sees it too.
    await pipeline(answer.body, response).catch(() => undefined)
  }
}

function headerPairs(raw: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) found.push([raw[i] ?? '', raw[i + 1] ?? ''])
  return found
}
