// In charge of: serving a directory over HTTP with ranges, as a plain web server does, so that players can read damaged
// copies.
// Not in charge of: undamaged outputs, which the service serves.
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { LoopbackServer } from './loopbackServer.ts'

const TYPES: Record<string, string> = {
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mpd': 'application/dash+xml',
  '.mp4': 'video/mp4',
  '.m4s': 'video/iso.segment',
  '.ts': 'video/mp2t',
  '.vtt': 'text/vtt',
}

async function send(response: ServerResponse, file: string, range: string | undefined): Promise<void> {
  const bytes = await readFile(file)
  const headers = {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'accept-ranges': 'bytes',
    'access-control-allow-origin': '*',
  }
  const asked = /^bytes=(\d+)-(\d*)$/.exec(range ?? '')
  if (asked === null) return void response.writeHead(200, headers).end(bytes)
  const from = Number(asked[1])
  const to = asked[2] === '' ? bytes.length - 1 : Math.min(Number(asked[2]), bytes.length - 1)
  const part = { ...headers, 'content-range': `bytes ${from}-${to}/${bytes.length}` }
  response.writeHead(206, part).end(bytes.subarray(from, to + 1))
}

export interface DirectoryServer extends AsyncDisposable {
  url: (path: string) => string
}

export async function serveDirectory(directory: string): Promise<DirectoryServer> {
  const server = await LoopbackServer.serve((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://served').pathname))
    return send(response, join(directory, path), request.headers.range).catch(() =>
      response.writeHead(404, { 'access-control-allow-origin': '*' }).end(),
    )
  })
  return {
    url: (path) => `${server.url}/${path.split('/').map(encodeURIComponent).join('/')}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
