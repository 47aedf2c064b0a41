// In charge of: a web site on the loopback address: files to read, with or without ranges, and paths to PUT to. It
// records the requests.
// Not in charge of: faults (faultProxy.ts), expectations.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoopbackServer } from './loopbackServer.ts'

export interface WebSiteOptions {
  /** False: Range is ignored. */
  ranges?: boolean
  /** False: answers are chunked, without a length. */
  lengths?: boolean
  /** `name:password` of every request; others get 401. */
  basic?: string
  /** Methods answered with 405. */
  without?: readonly string[]
}

export class WebSite extends LoopbackServer {
  readonly files = new Map<string, Buffer>()
  readonly types = new Map<string, string>()
  /** Path → where it redirects. */
  readonly redirects = new Map<string, string>()
  readonly requests: { method: string; path: string; headers: IncomingMessage['headers']; bytes: number }[] = []
  manner: WebSiteOptions

  private constructor(manner: WebSiteOptions) {
    super()
    this.manner = manner
  }

  static start(manner: WebSiteOptions = {}): Promise<WebSite> {
    return new WebSite(manner).listen()
  }

  protected override async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET'
    const path = decodeURIComponent((request.url ?? '/').replace(/\?.*$/s, ''))
    const entry = { method, path, headers: request.headers, bytes: 0 }
    this.requests.push(entry)
    const chunks: Buffer[] = []
    for await (const chunk of request) {
      entry.bytes += (chunk as Buffer).length
      chunks.push(chunk as Buffer)
    }
    const end = (status: number, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-length': '0', ...headers }).end()
    }
    const { basic, without = [] } = this.manner
    if (basic !== undefined && request.headers.authorization !== `Basic ${Buffer.from(basic).toString('base64')}`) {
      return end(401, { 'www-authenticate': 'Basic' })
    }
    if (without.includes(method)) return end(405)
    const target = this.redirects.get(path)
    if (target !== undefined) return end(302, { location: target })
    if (method === 'PUT') {
      this.files.set(path, Buffer.concat(chunks))
      this.types.set(path, request.headers['content-type'] ?? '')
      return end(201)
    }
    const file = this.files.get(path)
    if (file === undefined) return end(404)
    if (method === 'DELETE') {
      this.files.delete(path)
      return end(204)
    }
    this.#read(request, response, file, this.types.get(path) ?? 'application/octet-stream')
  }

  #read(request: IncomingMessage, response: ServerResponse, file: Buffer, type: string): void {
    const { ranges = true, lengths = true } = this.manner
    const range = ranges ? /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') : null
    const from = range ? Number(range[1]) : 0
    const to = range?.[2] ? Math.min(Number(range[2]), file.length - 1) : file.length - 1
    if (range && from > to) {
      response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end()
      return
    }
    response.writeHead(range ? 206 : 200, {
      'content-type': type,
      ...(lengths ? { 'content-length': to - from + 1 } : {}),
      ...(ranges ? { 'accept-ranges': 'bytes' } : {}),
      ...(range ? { 'content-range': `bytes ${from}-${to}/${file.length}` } : {}),
    })
    if (request.method === 'HEAD') response.end()
    else response.end(file.subarray(from, to + 1))
  }
}
