// In charge of: migrating the local database to the newest version, in its file, before a runtime opens it.
// Not in charge of: the deployed database (npm run cloudflare -- d1 migrations apply DB --remote).
import { createHash, createHmac } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'smol-toml'
import { ROOT } from './localSettings.ts'

/** PRAGMA auto_vacuum (https://sqlite.org/pragma.html#pragma_auto_vacuum) */
const FULL = 1
/** As wrangler creates it: `wrangler d1 migrations` and this function see what the other has applied. */
const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "d1_migrations"(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`

/**
 * Applies each missing migration in a transaction of its own, without a limit of time: a process that is killed meanwhile
 * continues at its next start. No runtime may have the database open.
 *
 * @param step is told each migration before it is applied
 * @throws Error that names the migration and SQLite's reason. Nothing of that migration is applied
 */
export function applyMigrations(
  stateDir: string,
  step: (line: string) => void = () => undefined,
  directory = join(ROOT, 'migrations'),
): void {
  const path = databaseFile(stateDir)
  mkdirSync(join(path, '..'), { recursive: true })
  using database = new DatabaseSync(path)
  // Space of deleted jobs is given back to the disk. A file that has tables takes this mode by VACUUM.
  if (database.prepare('PRAGMA auto_vacuum').get()?.['auto_vacuum'] !== FULL)
    database.exec('PRAGMA auto_vacuum = FULL; VACUUM')
  // As workerd opens it.
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(MIGRATIONS_TABLE)
  const applied = new Set(
    database
      .prepare('SELECT name FROM d1_migrations')
      .all()
      .map(({ name }) => name),
  )
  for (const name of readdirSync(directory).toSorted()) {
    if (!name.endsWith('.sql') || applied.has(name)) continue
    step(`migration ${name} …`)
    try {
      database.exec('BEGIN')
      database.exec(readFileSync(join(directory, name), 'utf8'))
      database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').run(name)
      database.exec('COMMIT')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`Migration ${name} of the database in ${stateDir} failed: ${reason}.`, { cause: error })
    }
  }
}

/** Where miniflare stores the database of wrangler.toml. */
export function databaseFile(stateDir: string): string {
  const config = parse(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')) as { d1_databases: [{ database_id: string }] }
  return objectFile(join(stateDir, 'v3', 'd1'), 'miniflare-D1DatabaseObject', config.d1_databases[0].database_id)
}

/** The file of the Durable Object with that name. workerd derives its id from the namespace and the name. */
function objectFile(directory: string, namespace: string, name: string): string {
  const key = createHash('sha256').update(namespace).digest()
  const half = (bytes: string | Buffer): Buffer => createHmac('sha256', key).update(bytes).digest().subarray(0, 16)
  const id = Buffer.concat([half(name), half(half(name))]).toString('hex')
  return join(directory, namespace, `${id}.sqlite`)
}
