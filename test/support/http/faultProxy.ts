// In charge of: an HTTP proxy on real sockets in front of any server (a file server, an S3 store) that injects faults
// into the requests that a test picks: resets, error answers, stalls, wrong lengths, changed headers, lost answers.
// Not in charge of: expectations, and the server behind the proxy.
import { once } from 'node:events'
import { request as ask } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LoopbackServer } from './loopbackServer.ts'

export type Fault =
  /** The connection is reset after that many bytes of the body; `up` = of the request, `down` = of the answer. */
  | { kind: 'reset'; afterBytes: number; way: 'up' | 'down' }
  /** Answered by the proxy; the request does not reach the server. */
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: string }
  /** Nothing more is sent after that many bytes of the answer, until `FaultProxy.releaseAll`. */
  | { kind: 'stall'; afterBytes: number }
  /** The answer ends cleanly after that many bytes: without Content-Length, or with `announced` as Content-Length. */
  | { kind: 'short'; afterBytes: number; announced?: number }
  /** The answer with other headers; null removes one. */
  | { kind: 'headers'; set: Record<string, string | null> }
  /** The server executes the request, but its answer is dropped. */
  | { kind: 'lost answer' }

export interface Call {
  method: string
  /** Path with its query. */
  url: string
  headers: IncomingMessage['headers']
  /** Counts the requests of this method, from 1. */
  n: number
}

export class FaultProxy extends LoopbackServer {
  readonly calls: Call[] = []
  /** The fault for a request; null = none. May be replaced while the proxy runs. */
  chooseFault: (call: Call) => Fault | null
  readonly #upstream: () => string
  readonly #counts = new Map<string, number>()
  #release: () => void = () => undefined
  readonly #released = new Promise<void>((resolve) => (this.#release = resolve))

  private constructor(upstream: () => string, choose: FaultProxy['chooseFault']) {
    super()
    this.#upstream = upstream
    this.chooseFault = choose
  }

  /** `upstream` = `http://host:port` of the server, or a function if the server is not up yet. */
  static start(upstream: string | (() => string), choose: FaultProxy['chooseFault'] = () => null): Promise<FaultProxy> {
    return new FaultProxy(typeof upstream === 'string' ? () => upstream : upstream, choose).listen()
  }

  /** Ends the stalled connections. */
  releaseAll(): void {
    this.#release()
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.releaseAll()
    await super[Symbol.asyncDispose]()
  }

  protected override async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET'
    const n = (this.#counts.get(method) ?? 0) + 1
    this.#counts.set(method, n)
    const call = { method, url: request.url ?? '/', headers: request.headers, n }
    this.calls.push(call)
    const fault = this.chooseFault(call)
    if (fault?.kind === 'status') {
      // Read to the end: an answer sent in the middle of a request body sometimes reaches the client as a broken
      // connection.
      for await (const _chunk of request) void _chunk
      response.writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers }).end(fault.body ?? '')
      return
    }
    // Signatures cover the Host header that the client sent, so it is passed on unchanged.
    const onward = ask(this.#upstream() + call.url, { method, headers: { ...request.headers } })
    const answered = once(onward, 'response') as Promise<[IncomingMessage]>
    answered.catch(() => undefined)
    // Reported by `answered`; behind the beginning of the answer nobody else listens.
    onward.on('error', () => undefined)
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
      // Buffered bytes must be sent first; otherwise the fault would come earlier than the test asks.
      if (fault?.kind === 'short' && (fault.announced === undefined || fault.announced <= limit)) response.end()
      else response.write('', () => response.socket?.resetAndDestroy())
      return
    }
    response.end()
  }
}
