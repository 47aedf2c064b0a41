// In charge of: migrating the local database to the newest version.
// Not in charge of: the deployed database (npm run cloudflare -- d1 migrations apply DB --remote).
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { waitForGroupExit, signalGroup } from './processes/processGroup.ts'
import { ROOT } from './localSettings.ts'

const TIMEOUT_MS = 120_000
const KILL_MS = 5_000

/**
 * wrangler needs two seconds even if there is nothing to do, so a note with the applied migrations is stored next to
 * the database. It is used only while the database exists; the check of /health after every start also looks for the
 * tables. Resolves or rejects only after all processes have ended. The signal aborts it.
 */
export async function applyMigrations(
  stateDir: string,
  env: Record<string, string>,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const note = join(stateDir, 'migrated')
  const wanted = await fingerprint()
  const noted = await readFile(note, 'utf8').catch(() => '')
  if (noted === wanted && existsSync(join(stateDir, 'v3', 'd1'))) return
  const wrangler = join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin', 'wrangler.js')
  const args = [wrangler, 'd1', 'migrations', 'apply', 'DB', '--local', '--persist-to', stateDir]
  const { succeeded, output } = await run(args, env, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]))
  if (!succeeded) throw new Error(`The database could not be migrated.\n${output}`.trim())
  await writeFile(note, wanted)
}

async function run(args: string[], env: Record<string, string>, signal: AbortSignal) {
  signal.throwIfAborted()
  // wrangler starts child processes. Only as a process group can they all be ended.
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const end = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
  }
  signal.addEventListener('abort', end, { once: true })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  signal.removeEventListener('abort', end)
  end()
  if (child.pid !== undefined) await waitForGroupExit(child.pid, KILL_MS)
  return { succeeded: code === 0, output }
}

async function fingerprint(): Promise<string> {
  const directory = join(ROOT, 'migrations')
  const hash = createHash('sha256')
  for (const name of (await readdir(directory)).toSorted()) {
    if (name.endsWith('.sql')) hash.update(`${name}\0${await readFile(join(directory, name), 'utf8')}\0`)
  }
  return hash.digest('hex')
}
