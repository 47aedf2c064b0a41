// In charge of: serving one file on loopback with range requests, like a web server.
import { createReadStream, statSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'

export interface BenchFileServer {
  /** host:port */
  host: string
  /** Serves this file from now on. @returns its address */
  serve: (path: string) => string
  bytesSent: () => number
  close: () => Promise<void>
}

export async function serveFile(): Promise<BenchFileServer> {
  let file: { path: string; size: number } | null = null
  let sent = 0
  const server = createServer((request, response) => {
    if (file === null || request.url !== '/large.mov') {
      response.writeHead(404).end()
      return
    }
    const { path, size } = file
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
    const first = Number(range?.[1] ?? 0)
    const last = Math.min(size - 1, range?.[2] ? Number(range[2]) : size - 1)
    if (first > last) {
      response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
      return
    }
    response.writeHead(range ? 206 : 200, {
      'content-type': 'video/quicktime',
      'content-length': String(last - first + 1),
      'accept-ranges': 'bytes',
      etag: `"${size}"`,
      ...(range ? { 'content-range': `bytes ${first}-${last}/${size}` } : {}),
    })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    const body = createReadStream(path, { start: first, end: last, highWaterMark: 256 * 1024 })
    body.on('data', (chunk) => (sent += chunk.length))
    // Readers close the connection early when they have what they need.
    void pipeline(body, response).catch(() => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    serve: (path) => {
      file = { path, size: statSync(path).size }
      return `http://${host}/large.mov`
    },
    bytesSent: () => sent,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
