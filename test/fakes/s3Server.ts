// In charge of: the strict in-memory S3 on a socket, where a test can delay an operation.
// Not in charge of: what S3 does (s3.ts).
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { FakeS3, type FakeS3Options } from './s3.ts'

export class S3Server extends FakeS3 {
  readonly #server: Server
  /** Delays a request until the promise resolves; drops it if the promise gives false. */
  hold: (line: string, isOpen: () => boolean) => Promise<boolean> | null = () => null
  /** Delays the answer to an executed request until the promise resolves. */
  gate: (line: string, isOpen: () => boolean) => Promise<void> | null = () => null
  /** Called after every request that may have changed something. */
  watch: () => void = () => undefined
  /** Lines of `log` whose answer is delayed. */
  readonly waitForHeldRequest: string[] = []

  private constructor(options: FakeS3Options) {
    super(options)
    this.#server = createServer((request, response) => {
      // A Worker or a transcoder that was killed breaks the connection; some tests expect that.
      this.#serve(request, response).catch(() => response.destroy())
    })
  }

  static async start(manner: FakeS3Options): Promise<S3Server> {
    const made = new S3Server(manner)
    made.#server.listen(0, '127.0.0.1')
    await once(made.#server, 'listening')
    return made
  }

  /** `127.0.0.1:<port>`, as ALLOW_PRIVATE_HOSTS names it. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
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
    const asked = { method, target: request.url ?? '/', headers, body: new Uint8Array(Buffer.concat(chunks)) }
    const isOpen = (): boolean => !request.socket.destroyed
    const held = this.hold(this.requestLine(asked), isOpen)
    if (held !== null && !(await held)) {
      response.destroy()
      return
    }
    const from = this.log.length
    const answer = this.handle(asked)
    if (method !== 'GET' && method !== 'HEAD') this.watch()
    const line = this.log[from]
    const gate = line === undefined ? null : this.gate(line, isOpen)
    if (gate) {
      this.waitForHeldRequest.push(line!)
      await gate
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
