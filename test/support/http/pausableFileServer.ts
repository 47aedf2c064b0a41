// In charge of: a file served over HTTP on the loopback address that can be held back, so that a test decides how far a
// job gets.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoopbackServer } from './loopbackServer.ts'

export class PausableFileServer extends LoopbackServer {
  readonly #path: string
  readonly #size: number
  #heldAt = Number.POSITIVE_INFINITY
  #release: () => void = () => undefined
  #released: Promise<void> = Promise.resolve()
  requests = 0
  /** The file does not exist: 404. */
  missing = false

  private constructor(path: string, size: number) {
    super()
    this.#path = path
    this.#size = size
  }

  static async start(path: string): Promise<PausableFileServer> {
    return new PausableFileServer(path, (await stat(path)).size).listen()
  }

  /** Named here because the declarations of this class are read without those of its base (test/containers). */
  override get host(): string {
    return super.host
  }

  override get url(): string {
    return `${super.url}/clip.mp4`
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

  override async [Symbol.asyncDispose](): Promise<void> {
    this.resume()
    await super[Symbol.asyncDispose]()
  }

  protected override async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++
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
