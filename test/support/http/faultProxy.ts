// In charge of: an HTTP proxy on real sockets in front of any server (a file server, an S3 store) that spoils the requests
// that a test picks: resets, refusals, silence, wrong lengths, changed tags, answers that get lost.
// Not in charge of: expectations, nor what is behind it.
import { once } from 'node:events'
import { createServer, request as ask } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Fault =
  /** The connection is reset once that many bytes of the body went through; `up` = the request's, `down` = the answer's. */
  | { kind: 'reset'; afterBytes: number; way: 'up' | 'down' }
  /** Answered here; the server behind never hears of it. */
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: string }
  /** Nothing more comes after that many bytes of the answer, until `FaultProxy.release`. */
  | { kind: 'stall'; afterBytes: number }
  /** The answer ends cleanly after that many bytes: without its length, or with `announced` as Content-Length. */
  | { kind: 'short'; afterBytes: number; announced?: number }
  /** The answer with other headers; null removes one. */
  | { kind: 'headers'; set: Record<string, string | null> }
  /** The server does what was asked, and nobody hears of it. */
  | { kind: 'lost answer' }

export interface Call {
  method: string
  /** Path with its query. */
  url: string
  headers: IncomingMessage['headers']
  /** The how-manieth request of this method, from 1. */
  n: number
}

export class FaultProxy {
  readonly calls: Call[] = []
  /** Which fault a request meets; null = none. May be replaced while running. */
  chooseFault: (call: Call) => Fault | null
  readonly #server: Server
  readonly #upstream: () => string
  readonly #counts = new Map<string, number>()
  #release: () => void = () => undefined
  readonly #released = new Promise<void>((resolve) => (this.#release = resolve))

  private constructor(upstream: () => string, choose: FaultProxy['chooseFault']) {
    this.#upstream = upstream
    this.chooseFault = choose
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => response.destroy())
    })
  }

  /** `upstream` = `http://host:port` of the server behind, or a function for one that is not up yet. */
  static async start(
    upstream: string | (() => string),
    choose: FaultProxy['chooseFault'] = () => null,
  ): Promise<FaultProxy> {
    const made = new FaultProxy(typeof upstream === 'string' ? () => upstream : upstream, choose)
    made.#server.listen(0, '127.0.0.1')
    await once(made.#server, 'listening')
    return made
  }

  /** `127.0.0.1:<port>`, as ALLOW_PRIVATE_HOSTS names it. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get url(): string {
    return `http://${this.host}`
  }

  /** Lets go of what is stalled: those connections end. */
  releaseAll(): void {
    this.#release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.releaseAll()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET'
    const n = (this.#counts.get(method) ?? 0) + 1
    this.#counts.set(method, n)
    const call = { method, url: request.url ?? '/', headers: request.headers, n }
    this.calls.push(call)
    const fault = this.chooseFault(call)
    if (fault?.kind === 'status') {
      // Read to the end: an answer in the middle of a body would reach the client as a broken connection, at times.
      for await (const _chunk of request) void _chunk
      response.writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers }).end(fault.body ?? '')
      return
    }
    // Signatures cover the host that the client named, so it is passed on as it came.
    const onward = ask(this.#upstream() + call.url, { method, headers: { ...request.headers } })
    const answered = once(onward, 'response') as Promise<[IncomingMessage]>
    answered.catch(() => undefined)
    let up = 0
    for await (const chunk of request) {
      up += (chunk as Buffer).length
      if (fault?.kind === 'reset' && fault.way === 'up' && up > fault.afterBytes) {
        onward.destroy()
        request.socket.resetAndDestroy()
        return
      }
      if (!onward.write(chunk)) await once(onward, 'drain')
    }
    onward.end()
    const [answer] = await answered
    if (fault?.kind === 'lost answer') {
      for await (const _chunk of answer) void _chunk
      request.socket.resetAndDestroy()
      return
    }
    await this.#answer(answer, response, fault)
  }

  async #answer(answer: IncomingMessage, response: ServerResponse, fault: Fault | null): Promise<void> {
    const headers: OutgoingHttpHeaders = { ...answer.headers }
    if (fault?.kind === 'short') {
      delete headers['content-length']
      if (fault.announced !== undefined) headers['content-length'] = String(fault.announced)
    }
    for (const [name, value] of Object.entries(fault?.kind === 'headers' ? fault.set : {})) {
      if (value === null) delete headers[name]
      else headers[name] = value
    }
    response.writeHead(answer.statusCode ?? 502, headers)
    response.flushHeaders()
    const limit =
      fault?.kind === 'short' || fault?.kind === 'stall' || (fault?.kind === 'reset' && fault.way === 'down')
        ? fault.afterBytes
        : Number.POSITIVE_INFINITY
    let down = 0
    for await (const chunk of answer) {
      const bytes = chunk as Buffer
      const part = bytes.subarray(0, Math.max(0, limit - down))
      down += bytes.length
      if (part.length > 0 && !response.write(part)) await once(response, 'drain')
      if (down < limit) continue
      answer.destroy()
      if (fault?.kind === 'stall') await this.#released
      // What is buffered must be on its way, or the fault would come earlier than the test says.
      if (fault?.kind === 'short' && (fault.announced === undefined || fault.announced <= limit)) response.end()
      else response.write('', () => response.socket?.resetAndDestroy())
      return
    }
    response.end()
  }
}
