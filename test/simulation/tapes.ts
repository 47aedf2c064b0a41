// In charge of: handing tapes of the simulation, which runs in Node, to tests that run in workerd (vitest.config.ts binds it).
// Not in charge of: what is on them (databaseModel.ts).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Response } from 'miniflare'

/** `?seeds=15`: as many tapes, each a line of JSON. A run that found a violation breaks off. */
export function tapes(request: { url: string }): Response {
  const seeds = new URL(request.url).searchParams.get('seeds') ?? '1'
  const main = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [main, '--tapes', '--seeds', seeds], { stdio: ['ignore', 'pipe', 'inherit'] })
  return new Response(Readable.toWeb(child.stdout))
}
