// In charge of: an HTTP server on a free port of the loopback address.
// Not in charge of: its answers.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export class LoopbackServer {
  readonly #server
  constructor(serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
    // A client that was killed breaks the connection; some tests expect that.
    this.#server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** `127.0.0.1:<port>`, as ALLOW_PRIVATE_HOSTS names it. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}
