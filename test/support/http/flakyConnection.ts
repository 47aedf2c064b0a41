// In charge of: a connection to a server that can be cut or stalled while bytes pass through it, as a visitor's
// connection may be.
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'

export class FlakyConnection implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** The fault of the connection that has sent that many bytes: cut once, or nothing more of it passes. */
  fault: { after: number; kind: 'cut' | 'hold' } | null = null
  faults = 0

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port), target.hostname)
      for (const socket of [client, server]) {
        this.#sockets.add(socket)
        socket.on('error', () => socket.destroy())
        socket.on('close', () => {
          this.#sockets.delete(socket)
          client.destroy()
          server.destroy()
        })
      }
      let sent = 0
      client.on('data', (bytes) => {
        sent += bytes.length
        if (this.fault === null || sent < this.fault.after) {
          if (!server.write(bytes)) client.pause()
          return
        }
        const { kind } = this.fault
        this.fault = null
        this.faults++
        client.removeAllListeners('data')
        if (kind === 'cut') client.destroy()
        else client.pause()
      })
      server.on('drain', () => client.resume())
      server.pipe(client)
    })
  }

  static async to(base: string): Promise<FlakyConnection> {
    const line = new FlakyConnection(new URL(base))
    await new Promise<void>((done) => line.#server.listen(0, '127.0.0.1', done))
    return line
  }

  get base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((done) => this.#server.close(done))
  }
}
