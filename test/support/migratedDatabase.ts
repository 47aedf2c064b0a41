// In charge of: giving a new service a database that is migrated already. Its migrations are the larger part of a start,
// 3 s of 5 on an idle machine; they run once for all tests, and again only after a change of them or of wrangler.
// Not in charge of: proving that they work (tests that start scripts/start.ts themselves begin without a database).
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { applyMigrations } from '../../scripts/local/applyMigrations.ts'
import { ROOT } from '../../scripts/local/localSettings.ts'

const CACHE = join(ROOT, 'node_modules/.cache/splicepoint-tests')

/** Of what the database is made of. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(ROOT, 'package-lock.json')))
  for (const name of (await readdir(join(ROOT, 'migrations'))).toSorted()) {
    hash.update(`${name}\0`).update(await readFile(join(ROOT, 'migrations', name)))
  }
  return hash.digest('hex').slice(0, 16)
}

/** @returns the state directory with the database, which no service may use itself */
async function migratedState(): Promise<string> {
  const made = join(CACHE, `migrated-${await fingerprint()}`)
  if (existsSync(made)) return made
  await mkdir(CACHE, { recursive: true })
  const part = await mkdtemp(join(CACHE, 'part-'))
  await applyMigrations(part, {
    ...(process.env as Record<string, string>),
    CI: '1',
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    WRANGLER_LOG_PATH: join(part, 'logs'),
  })
  // Several test files may make one at the same moment: the first one stays.
  await rename(part, made).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    await rm(part, { recursive: true, force: true })
  })
  return made
}

/** Puts the database into a state directory in which no service has run yet. */
export async function copyMigratedDatabase(stateDir: string): Promise<void> {
  const made = await migratedState()
  await mkdir(join(stateDir, 'v3'), { recursive: true, mode: 0o700 })
  await cp(join(made, 'v3/d1'), join(stateDir, 'v3/d1'), { recursive: true })
  await cp(join(made, 'migrated'), join(stateDir, 'migrated'))
}
