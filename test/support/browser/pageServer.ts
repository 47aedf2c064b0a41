// In charge of: serving the page with hls.js, Shaka Player and dash.js that browsers open.
// Not in charge of: browsers, what is played.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const require = createRequire(import.meta.url)
const packageDirectory = (name: string): string => {
  const main = require.resolve(name)
  return main.slice(0, main.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length)
}
const files: Record<string, { path: () => string; type: string }> = {
  '/': { path: () => join(import.meta.dirname, 'page.html'), type: 'text/html' },
  '/page.js': { path: () => join(import.meta.dirname, 'page.js'), type: 'text/javascript' },
  '/hls.js': { path: () => join(packageDirectory('hls.js'), 'dist/hls.js'), type: 'text/javascript' },
  '/shaka.js': {
    path: () => join(packageDirectory('shaka-player'), 'dist/shaka-player.compiled.js'),
    type: 'text/javascript',
  },
  '/dash.js': {
    path: () => join(packageDirectory('dashjs'), 'dist/modern/umd/dash.all.min.js'),
    type: 'text/javascript',
  },
  '/mss.js': {
    path: () => join(packageDirectory('dashjs'), 'dist/modern/umd/dash.mss.min.js'),
    type: 'text/javascript',
  },
}

export interface PlayerPageServer extends AsyncDisposable {
  address: string
}

export async function servePlayerPage(): Promise<PlayerPageServer> {
  const server = createServer((request, response) => {
    const file = files[request.url ?? '']
    if (file === undefined) return void response.writeHead(404).end()
    readFile(file.path()).then(
      (bytes) => response.writeHead(200, { 'content-type': file.type }).end(bytes),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
