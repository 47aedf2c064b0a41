// In charge of: bringing the local database to the newest migration.
// Not in charge of: the deployed one (npx wrangler d1 migrations apply DB --remote).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './settings.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 120_000

/**
 * wrangler takes two seconds to find that there is nothing to do, so what was applied is noted beside the database. The
 * note is believed only while the database is there; /health, which looks for the tables, is asked after every start.
 */
export async function migrate(stateDir: string, env: Record<string, string>): Promise<void> {
  const note = join(stateDir, 'migrated')
  const wanted = await fingerprint()
  const noted = await readFile(note, 'utf8').catch(() => '')
  if (noted === wanted && existsSync(join(stateDir, 'v3', 'd1'))) return
  const wrangler = join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin', 'wrangler.js')
  const args = [wrangler, 'd1', 'migrations', 'apply', 'DB', '--local', '--persist-to', stateDir]
  try {
    await run(process.execPath, args, { cwd: ROOT, env, timeout: TIMEOUT_MS })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`The database could not be brought up to date.\n${stdout}${stderr}`.trim(), { cause: error })
  }
  await writeFile(note, wanted)
}

async function fingerprint(): Promise<string> {
  const directory = join(ROOT, 'migrations')
  const hash = createHash('sha256')
  for (const name of (await readdir(directory)).toSorted()) {
    if (name.endsWith('.sql')) hash.update(`${name}\0${await readFile(join(directory, name), 'utf8')}\0`)
  }
  return hash.digest('hex')
}
