// In charge of: serving a strict in-memory server on a socket of the loopback address.
// Not in charge of: its answers.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { bytesOf } from './s3.ts'
import type { RequestHandler } from './fetchTransport.ts'

export class FakeServer {
  readonly #server: Server
  private constructor(server: Server) {
    this.#server = server
  }

  static async start(handle: RequestHandler): Promise<FakeServer> {
    const server = createServer((request, response) => {
      // A client that was killed breaks the connection; some tests expect that.
      void (async () => {
        const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
        const body = await buffer(request)
        const answer = await handle({ method: request.method ?? '', target: request.url ?? '', headers, body })
        const bytes = bytesOf(answer.body)
        const length = request.method === 'HEAD' ? {} : { 'content-length': String(bytes.length) }
        response.writeHead(answer.status, { ...length, ...answer.headers }).end(bytes)
      })().catch(() => response.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FakeServer(server)
  }

  /** `127.0.0.1:<port>`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}
