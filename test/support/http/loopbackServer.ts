// In charge of: an HTTP server of a test on the loopback address, on any free port, and ending it with its connections.
// Not in charge of: what it answers.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

export class LoopbackServer implements AsyncDisposable {
  readonly #server: Server

  /** A request whose answer fails ends with a broken connection: clients that were killed cause that, as tests expect. */
  protected constructor(answer?: Answer) {
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> =>
      answer === undefined ? this.answer(request, response) : answer(request, response)
    this.#server = createServer((request, response) => {
      respond(request, response).catch(() => response.destroy())
    })
  }

  static serve(answer: Answer): Promise<LoopbackServer> {
    return new LoopbackServer(answer).listen()
  }

  /** For servers with a class of their own. */
  protected answer(_request: IncomingMessage, _response: ServerResponse): unknown {
    throw new Error('it answers nothing')
  }

  protected async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** `127.0.0.1:<port>`, as ALLOW_PRIVATE_HOSTS names it. */
  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  get url(): string {
    return `http://${this.host}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await this.#server[Symbol.asyncDispose]()
  }
}
