// In charge of: the only public port of the local service: a reverse proxy that forwards requests to the Worker
// unchanged, with backpressure in both directions.
// Not in charge of: allowed addresses and headers (proxyHeaders.ts), error texts (proxyErrors.ts), the runtime
// (workerRuntime.ts).
import {
  createServer,
  request,
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { keepAliveAgent, RetryingAgent } from './runtimeConnections.ts'
import { endAfterRequest } from './earlyResponse.ts'
import { clientAddress, isTrusted, type TrustedProxies } from './clientAddress.ts'
import { forwardedHeaders, isHost, parseRequestTarget, returnedHeaders } from './proxyHeaders.ts'
import { proxyErrors, sendError, sendConnectionError, isSupportedMethod, type ProxyError } from './proxyErrors.ts'

const MAX_HEADER_BYTES = 128 * 1024
const HEADERS_TIMEOUT_MS = 60_000
/** Longer than the time for which clients keep idle connections. */
const KEEP_ALIVE_MS = 75_000
/**
 * How long a request waits for a restarting runtime. Clients would treat an immediate error as more serious than it is.
 */
const RESTART_WAIT_MS = 30_000
const CONNECT_RETRY_MS = 100
/** How long the rest of a body is read and discarded after an early answer. */
const DRAIN_TIMEOUT_MS = 30_000

interface ReverseProxyOptions {
  holdMs?: number
  /** Whose forwarding headers are believed: other clients could set them too. */
  trustedProxies?: TrustedProxies
  /** Asked when the Worker says that it is not available: it does not see why its database cannot be written. */
  isDiskFull?: () => Promise<boolean>
}

export class ReverseProxy {
  readonly #socketPath: string
  readonly #holdMs: number
  readonly #trustedProxies: TrustedProxies
  readonly #isDiskFull: () => Promise<boolean>
  readonly #server: Server
  readonly #agents = { reads: keepAliveAgent(), others: new RetryingAgent() }
  /** The current request of each connection. */
  readonly #busy = new WeakMap<Duplex, ProxiedRequest>()
  readonly #open = new Set<ProxiedRequest>()
  #authority = ''

  constructor(
    socketPath: string,
    { holdMs = RESTART_WAIT_MS, trustedProxies = [], isDiskFull = async () => false }: ReverseProxyOptions = {},
  ) {
    this.#socketPath = socketPath
    this.#holdMs = holdMs
    this.#trustedProxies = trustedProxies
    this.#isDiskFull = isDiskFull
    this.#server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Uploads have no time limit.
      requestTimeout: 0,
      // Node's own 400 answer has no body.
      requireHostHeader: false,
      noDelay: true,
    })
    // A client may close its sending side and still wait for the answer.
    Object.assign(this.#server, { httpAllowHalfOpen: true })
    this.#server.on('request', (incoming, response) => this.#serve(incoming, response))
    this.#server.on('checkExpectation', (incoming, response) => this.#serve(incoming, response))
    this.#server.on('connect', (_incoming, socket) => sendConnectionError(socket, proxyErrors.method))
    this.#server.on('clientError', (error, socket) => this.#refuseBytes(error, socket))
  }

  /** @param wanted port; 0 = any. Resolves with the port; rejects if it is in use. */
  listen(wanted: number, host = '127.0.0.1'): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(wanted, host, () => {
        this.#server.off('error', reject)
        const { port } = this.#server.address() as AddressInfo
        this.#authority = `127.0.0.1:${port}`
        resolve(port)
      })
    })
  }

  /** The requests that have waited longest for an answer, for people: without queries and without names of files. */
  longestWaiting(): string[] {
    const waiting = [...this.#open].filter(({ isAnswered }) => !isAnswered)
    return waiting
      .map(({ description }) => description)
      .filter((each) => !each.startsWith('GET /health '))
      .slice(0, 3)
  }

  /** Running answers are cut off. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    for (const agent of Object.values(this.#agents)) agent.destroy()
    await closed
  }

  #serve(incoming: IncomingMessage, response: ServerResponse): void {
    const target = parseRequestTarget(incoming.url ?? '')
    const hosts = incoming.headersDistinct['host'] ?? []
    // HTTP/1.0 requests may have no Host header.
    const host = target?.host ?? (hosts[0] || (incoming.httpVersion === '1.0' ? this.#authority : ''))
    const refusal = (): ProxyError | null => {
      if (!isSupportedMethod(incoming.method)) return proxyErrors.method
      if (target === null) return proxyErrors.target
      if (hosts.length > 1 || !isHost(host)) return proxyErrors.host
      return target.isRuntimes ? proxyErrors.noAddress : null
    }
    const refused = refusal()
    if (refused !== null || target === null) {
      sendError(response, refused ?? proxyErrors.target)
      drainRequest(incoming)
      return
    }
    const peer = incoming.socket.remoteAddress ?? ''
    const exchange = new ProxiedRequest(incoming, response, {
      agents: this.#agents,
      socketPath: this.#socketPath,
      holdMs: this.#holdMs,
      path: target.path,
      host,
      trustProxy: isTrusted(peer, this.#trustedProxies),
      isDiskFull: this.#isDiskFull,
      client: clientAddress(peer, incoming.rawHeaders, this.#trustedProxies),
    })
    this.#busy.set(incoming.socket, exchange)
    this.#open.add(exchange)
    response.once('close', () => this.#open.delete(exchange))
    exchange.begin()
  }

  /** The received bytes are not HTTP, or an incomplete request. The parser reads nothing more from this connection. */
  #refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
    const refusal = clientErrorResponse(error)
    const busy = this.#busy.get(socket)
    if (busy === undefined || busy.isOver()) sendConnectionError(socket, refusal)
    else busy.abort(() => sendConnectionError(socket, refusal))
  }
}

interface ProxyTarget {
  agents: { reads: Agent; others: Agent }
  socketPath: string
  holdMs: number
  path: string
  host: string
  trustProxy: boolean
  isDiskFull: () => Promise<boolean>
  /** Address of the client, as far as it is known. */
  client: string
}

/** One request and its answer. */
class ProxiedRequest {
  readonly #incoming: IncomingMessage
  readonly #response: ServerResponse
  readonly #way: ProxyTarget
  readonly #began = Date.now()
  readonly #isChunked: boolean
  readonly #hasBody: boolean
  /** Whether the request can be repeated safely. */
  readonly #isRead: boolean
  #repeats = 1
  #knock: NodeJS.Timeout | undefined
  #outgoing: ClientRequest | null = null
  #isBroken = false

  constructor(incoming: IncomingMessage, response: ServerResponse, way: ProxyTarget) {
    this.#incoming = incoming
    this.#response = response
    this.#way = way
    const { headers, method } = incoming
    this.#isChunked = headers['transfer-encoding'] !== undefined
    this.#hasBody = this.#isChunked || Number(headers['content-length'] ?? 0) > 0
    this.#isRead = !this.#hasBody && (method === 'GET' || method === 'HEAD')
  }

  get isAnswered(): boolean {
    return this.#response.headersSent
  }

  get description(): string {
    const { pathname } = new URL(this.#way.path, 'http://local')
    const shown = pathname.split('/').slice(0, /^\/(?:api|task)\//.test(pathname) ? 4 : 2)
    return `${this.#incoming.method} ${shown.join('/')} for ${Math.round((Date.now() - this.#began) / 1000)} s`
  }

  begin(): void {
    this.#response.once('close', () => {
      clearTimeout(this.#knock)
      // The client has closed the connection.
      if (!this.#response.writableFinished) this.#outgoing?.destroy()
    })
    this.#incoming.once('error', () => this.#outgoing?.destroy())
    this.#send()
  }

  isOver(): boolean {
    return this.#response.writableFinished || this.#response.destroyed
  }

  /**
   * Handles broken input. During the body, the Worker's request is aborted and its answer is not forwarded. After a
   * complete body, the error belongs to the next request.
   */
  abort(refuseRest: () => void): void {
    if (this.#incoming.complete) {
      this.#response.once('close', refuseRest)
      return
    }
    this.#isBroken = true
    this.#outgoing?.destroy()
    if (this.#response.headersSent) this.#response.destroy()
    else refuseRest()
  }

  #send(): void {
    const { agents, socketPath, path, host, trustProxy, client } = this.#way
    const { method, rawHeaders, headers } = this.#incoming
    const outgoing = request({
      agent: this.#isRead ? agents.reads : agents.others,
      socketPath,
      method,
      path,
      headers: [
        'Host',
        host,
        ...forwardedHeaders(rawHeaders, trustProxy),
        // As on Cloudflare. A client's own header of this name is not passed on.
        'CF-Connecting-IP',
        client,
        ...lengthOf(method, this.#isChunked, headers['content-length']),
        // Without this header, errors of the Worker are sent as an HTML page with source code.
        'MF-Disable-Pretty-Error',
        'true',
      ],
    })
    this.#outgoing = outgoing
    let isConnected = false
    outgoing.once('socket', (socket) => {
      const connected = (): void => {
        isConnected = true
        // The body is read only after connecting, because consumed bytes cannot be sent again.
        if (this.#hasBody) this.#incoming.pipe(outgoing)
      }
      if (socket.connecting) socket.once('connect', connected)
      else connected()
    })
    outgoing.once('response', (answer) => void this.#answer(answer))
    outgoing.on('error', () => {
      if (this.#isBroken || this.#response.headersSent || this.#response.destroyed) drainRequest(this.#incoming)
      else this.#failed(isConnected)
    })
    // Headers are sent at once: the Worker may refuse the request before the first byte of its body arrives.
    if (this.#hasBody) outgoing.flushHeaders()
    else outgoing.end()
  }

  #failed(wasConnected: boolean): void {
    // A kept-alive connection may be closed just when it is used again, or when the runtime ends.
    const mayRepeat = !wasConnected || (this.#isRead && this.#repeats-- > 0)
    if (mayRepeat && Date.now() - this.#began < this.#way.holdMs) {
      this.#knock = setTimeout(() => this.#send(), wasConnected ? 0 : CONNECT_RETRY_MS)
      return
    }
    sendError(this.#response, proxyErrors.away)
    drainRequest(this.#incoming)
  }

  async #answer(answer: IncomingMessage): Promise<void> {
    const response = this.#response
    const status = answer.statusCode ?? 500
    // /health lists by itself what is missing.
    if (status === 503 && this.#way.path !== '/health' && (await this.#way.isDiskFull().catch(() => false))) {
      answer.resume()
      sendError(response, proxyErrors.full)
      drainRequest(this.#incoming)
      return
    }
    if (this.#isBroken || response.destroyed) {
      answer.destroy()
      return
    }
    // An error of the runtime, with its own texts and stack traces. The Worker's own errors are JSON.
    if (status >= 500 && !/^application\/json/i.test(answer.headers['content-type'] ?? '')) {
      answer.resume()
      sendError(response, status === 500 ? proxyErrors.broken : proxyErrors.away)
      drainRequest(this.#incoming)
      return
    }
    response.writeHead(status, answer.statusMessage ?? '', returnedHeaders(answer.rawHeaders))
    // The body may begin much later than the headers (events). If its first bytes are available already, both are sent
    // together.
    setImmediate(() => {
      if (answer.readableLength === 0 && !answer.complete && !response.destroyed) response.flushHeaders()
    })
    pipeline(answer, response, { end: false })
      .then(
        () => endAfterRequest(response),
        // If the answer breaks off, the connection is destroyed, so that the client notices.
        () => response.destroy(),
      )
      .finally(() => {
        drainRequest(this.#incoming)
        // The answer is complete, so the rest of the request is not needed.
        if (this.#outgoing?.writableFinished === false) this.#outgoing.destroy()
      })
  }
}

/**
 * The body length header for the runtime. A POST, PUT or PATCH without a body gets a length of 0, as clients send it.
 */
function lengthOf(method: string | undefined, isChunked: boolean, length: string | undefined): string[] {
  if (isChunked) return ['Transfer-Encoding', 'chunked']
  const expects = method === 'POST' || method === 'PUT' || method === 'PATCH'
  return expects && length === undefined ? ['Content-Length', '0'] : []
}

/**
 * A client that is still sending reads the answer only if the rest of its request is read. After a timeout it is
 * disconnected.
 */
function drainRequest(incoming: IncomingMessage): void {
  incoming.unpipe()
  incoming.resume()
  if (incoming.complete || incoming.destroyed) return
  const cutOff = setTimeout(() => incoming.socket.destroy(), DRAIN_TIMEOUT_MS)
  cutOff.unref()
  incoming.once('close', () => clearTimeout(cutOff))
}

function clientErrorResponse({ code }: NodeJS.ErrnoException): ProxyError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return proxyErrors.headers
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return proxyErrors.late
    case 'HPE_INVALID_EOF_STATE':
      return proxyErrors.cut
    default:
      return proxyErrors.message
  }
}
