// In charge of: passing tapes of the simulation, which runs in Node, to tests that run in workerd (vitest.config.ts
// binds it).
// Not in charge of: their content (databaseModel.ts).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Response } from 'miniflare'

/** `?seeds=15`: that many tapes, each a line of JSON. Throws if a run finds a violation. */
export function tapes(request: { url: string }): Response {
  const seeds = new URL(request.url).searchParams.get('seeds') ?? '1'
  const main = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [main, '--tapes', '--seeds', seeds], { stdio: ['ignore', 'pipe', 'inherit'] })
  return new Response(Readable.toWeb(child.stdout))
}
