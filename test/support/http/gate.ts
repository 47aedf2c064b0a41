// In charge of: an address that leads to a server on the loopback address: known before that server runs, for services that
// are told it at their start, and a connection that can be cut or stalled while bytes pass through it.
// Not in charge of: what the server answers.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class Gate implements AsyncDisposable {
  readonly #server: Server
  readonly #lines = new Set<Socket>()
  /** The port that connections lead to. */
  target: number
  /** The fault of the connection that has sent that many bytes: cut once, or nothing more of it passes. */
  fault: { after: number; kind: 'cut' | 'hold' } | null = null
  faults = 0

  private constructor(target: number) {
    this.target = target
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
      let sent = 0
      client.on('data', (bytes) => {
        sent += bytes.length
        if (this.fault === null || sent < this.fault.after) return
        const { kind } = this.fault
        this.fault = null
        this.faults++
        if (kind === 'cut') client.destroy()
        else client.unpipe(server).pause()
      })
    })
  }

  static async open(target = 0): Promise<Gate> {
    const gate = new Gate(target)
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
