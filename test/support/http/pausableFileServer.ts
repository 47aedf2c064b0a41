// In charge of: a file served over HTTP on the loopback address that can be held back, so that a test decides how far a
// job gets.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export class PausableFileServer {
  readonly #server: Server
  readonly #path: string
  readonly #size: number
  #heldAt = Number.POSITIVE_INFINITY
  #release: () => void = () => undefined
  #released: Promise<void> = Promise.resolve()
  requests = 0
  /** The file does not exist: 404. */
  missing = false

  private constructor(path: string, size: number) {
    this.#path = path
    this.#size = size
    this.#server = createServer((request, response) => {
      this.requests++
      // A reader that was killed breaks the connection; the tests expect that.
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  static async start(path: string): Promise<PausableFileServer> {
    const made = new PausableFileServer(path, (await stat(path)).size)
    made.#server.listen(0, '127.0.0.1')
    await once(made.#server, 'listening')
    return made
  }

  /** `127.0.0.1:<port>`, as ALLOW_PRIVATE_HOSTS names it. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get url(): string {
    return `http://${this.host}/clip.mp4`
  }

  /** Number of answers that are held back now. */
  waitForRequest = 0

  /** No byte after this fraction of the file is sent before `resume`. */
  pauseAt(fraction: number): void {
    this.#heldAt = Math.floor(this.#size * fraction)
    this.#released = new Promise((resolve) => (this.#release = resolve))
  }

  resume(): void {
    this.#heldAt = Number.POSITIVE_INFINITY
    this.#release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.missing) {
      response.writeHead(404).end()
      return
    }
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
    const from = range ? Number(range[1]) : 0
    const to = range?.[2] ? Math.min(Number(range[2]), this.#size - 1) : this.#size - 1
    response.writeHead(range ? 206 : 200, {
      'content-type': 'video/mp4',
      'content-length': to - from + 1,
      'accept-ranges': 'bytes',
      etag: '"clip"',
      ...(range ? { 'content-range': `bytes ${from}-${to}/${this.#size}` } : {}),
    })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    const edge = Math.min(to + 1, Math.max(from, this.#heldAt))
    if (edge > from) await this.#send(response, from, edge - 1)
    if (edge <= to) {
      response.flushHeaders()
      this.waitForRequest += 1
      await this.#released
      this.waitForRequest -= 1
      await this.#send(response, edge, to)
    }
    response.end()
  }

  async #send(response: ServerResponse, start: number, end: number): Promise<void> {
    for await (const chunk of createReadStream(this.#path, { start, end })) {
      if (!response.write(chunk)) await once(response, 'drain')
    }
  }
}
