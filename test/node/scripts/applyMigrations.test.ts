// Migrations of the local database without wrangler. That the runtime opens the result, every test of a service shows.
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { applyMigrations, databaseFile } from '../../../scripts/local/applyMigrations.ts'
import { runProgram } from '../../support/runProgram.ts'
import { ROOT } from '../../support/service.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const temp = useTempDirectory()

test('wrangler finds the database and sees every migration as applied', async () => {
  applyMigrations(temp.file('whole'))
  const args = ['d1', 'migrations', 'list', 'DB', '--local', '--persist-to', temp.file('whole')]
  const { code, stdout, stderr } = await runProgram(join(ROOT, 'node_modules/.bin/wrangler'), args, {
    cwd: ROOT,
    env: { CI: '1', WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: temp.file('logs') },
  })
  expect({ code, output: stdout + stderr }).toEqual({
    code: 0,
    output: expect.stringContaining('No migrations to apply') as string,
  })
})

test('each migration is applied once and whole; one that fails is named with the reason alone, and can be repaired', () => {
  const [state, directory, steps] = [temp.file('state'), temp.file('migrations'), [] as string[]]
  const migrate = (): void => applyMigrations(state, (line) => steps.push(line), directory)
  mkdirSync(directory)
  const write = (name: string, sql: string): void => writeFileSync(join(directory, name), sql)
  write('0001_a.sql', 'CREATE TABLE a (x); -- ;')
  migrate()
  write('0002_b.sql', 'CREATE TABLE b (x); INSERT INTO missing VALUES (1);')
  expect(migrate).toThrow(`Migration 0002_b.sql of the database in ${state} failed: no such table: missing.`)
  write('0002_b.sql', 'CREATE TABLE b (x);')
  migrate()
  migrate()
  expect(steps).toEqual(['0001_a', '0002_b', '0002_b'].map((name) => `migration ${name}.sql …`))
  using database = new DatabaseSync(databaseFile(state))
  expect(database.prepare('SELECT id, name FROM d1_migrations').all()).toMatchObject([
    { name: '0001_a.sql' },
    { name: '0002_b.sql' },
  ])
})

test('a database gives back the space of what is deleted, also one that wrangler made', () => {
  const [state, directory] = [temp.file('older'), temp.file('none')]
  mkdirSync(directory)
  mkdirSync(join(databaseFile(state), '..'), { recursive: true })
  {
    using made = new DatabaseSync(databaseFile(state))
    made.exec(
      "PRAGMA journal_mode = WAL; CREATE TABLE jobs (config TEXT); INSERT INTO jobs VALUES (printf('%1000000d', 1))",
    )
  }
  applyMigrations(state, undefined, directory)
  {
    using used = new DatabaseSync(databaseFile(state))
    used.exec('DELETE FROM jobs')
  }
  expect(statSync(databaseFile(state)).size).toBeLessThan(50_000)
})
