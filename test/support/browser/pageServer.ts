// In charge of: serving the page with hls.js, Shaka Player and dash.js that browsers open.
// Not in charge of: browsers, what is played.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { LoopbackServer } from '../http/loopbackServer.ts'

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

/** Its `url` is the page. */
export function servePlayerPage(): Promise<LoopbackServer> {
  return LoopbackServer.serve(async (request, response) => {
    const file = files[request.url ?? '']
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': file.type }).end(await readFile(file.path()))
  })
}
