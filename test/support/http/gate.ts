// In charge of: an address that is known before the server behind it runs, for services that are told it at their start.
// Not in charge of: what the server answers.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class Gate implements AsyncDisposable {
  readonly #server: Server
  readonly #lines = new Set<Socket>()
  /** The port that connections lead to. */
  target = 0
  private constructor() {
    this.#server = createServer((client) => {
      const server = connect(this.target, '127.0.0.1')
      this.#lines.add(client)
      client.on('close', () => {
        this.#lines.delete(client)
        server.destroy()
      })
      client.on('error', () => server.destroy())
      server.on('error', () => client.destroy())
      client.pipe(server).pipe(client)
    })
  }

  static async open(): Promise<Gate> {
    const gate = new Gate()
    gate.#server.listen(0, '127.0.0.1')
    await once(gate.#server, 'listening')
    return gate
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Kept-alive connections would lead the next message to the previous server. */
  hangUp(): void {
    for (const line of this.#lines) line.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hangUp()
    await new Promise((done) => this.#server.close(done))
  }
}
