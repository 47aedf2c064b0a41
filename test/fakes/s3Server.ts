// In charge of: the strict in-memory S3 on a socket, where a test can delay an operation.
// Not in charge of: what S3 does (s3.ts).
import { createReadStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { LoopbackServer } from '../support/http/loopbackServer.ts'
import { FakeS3, type FakeS3Options } from './s3.ts'

export class S3Server extends FakeS3 {
  #server!: LoopbackServer
  /** Delays a request until the promise resolves; drops it if the promise gives false. */
  holdRequest: (line: string, isOpen: () => boolean) => Promise<boolean> | null = () => null
  /** Delays the answer to an executed request until the promise resolves. */
  holdAnswer: (line: string, isOpen: () => boolean) => Promise<void> | null = () => null
  /** Called after every request that may have changed something. */
  onWrite: () => void = () => undefined
  /** Lines of `log` whose answer is delayed. */
  readonly heldAnswers: string[] = []

  static async start(options: FakeS3Options): Promise<S3Server> {
    const made = new S3Server(options)
    made.#server = await LoopbackServer.serve((request, response) => made.#serve(request, response))
    return made
  }

  /** `127.0.0.1:<port>`, as ALLOW_PRIVATE_HOSTS names it. */
  get host(): string {
    return this.#server.host
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET'
    const headers = new Map(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    )
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    // As S3: every body needs Content-Length; chunked bodies are refused.
    if (method === 'PUT' && !headers.has('content-length')) {
      response.writeHead(411).end('<Error><Code>MissingContentLength</Code></Error>')
      return
    }
    const received = { method, target: request.url ?? '/', headers, body: new Uint8Array(Buffer.concat(chunks)) }
    const isOpen = (): boolean => !request.socket.destroyed
    const requestHeld = this.holdRequest(this.requestLine(received), isOpen)
    if (requestHeld !== null && !(await requestHeld)) {
      response.destroy()
      return
    }
    const from = this.log.length
    const answer = this.handle(received)
    if (method !== 'GET' && method !== 'HEAD') this.onWrite()
    const line = this.log[from]
    const answerHeld = line === undefined ? null : this.holdAnswer(line, isOpen)
    if (answerHeld) {
      this.heldAnswers.push(line!)
      await answerHeld
    }
    if (typeof answer.body === 'object' && 'file' in answer.body) {
      const { file, first, last } = answer.body
      response.writeHead(answer.status, { 'content-length': last - first + 1, ...answer.headers })
      // Readers may close the connection when they have what they need.
      await pipeline(createReadStream(file, { start: first, end: last }), response).catch(() => undefined)
      return
    }
    const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
    response.writeHead(answer.status, { 'content-length': body.length, ...answer.headers })
    response.end(method === 'HEAD' ? undefined : body)
  }
}
