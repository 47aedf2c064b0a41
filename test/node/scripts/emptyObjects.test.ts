// Which files of Durable Objects are removed beside a runtime. That its real ones are among them:
// ../service/recovery/backup.test.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { removeEmptyObjects } from '../../../scripts/local/emptyObjects.ts'
import { openStateDirectory } from '../../../scripts/local/stateDirectory.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const temp = useTempDirectory()

test('empty files go; those that are open, new, or have anything stay', async () => {
  const state = await openStateDirectory(temp.file('state'))
  const directory = join(state.path, 'v3/do/splicepoint-JobMonitor')
  mkdirSync(directory, { recursive: true })
  let count = 0
  /** A file as workerd makes one. `killed`: with the log that a killed one leaves. */
  const object = (rows: number, killed = false): string => {
    const name = `${String(++count).padStart(64, '0')}.sqlite`
    const path = killed ? temp.file(name) : join(directory, name)
    using database = new DatabaseSync(path)
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB)')
    database.exec('CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID')
    for (let row = 0; row < rows; row++) database.prepare('INSERT INTO _cf_KV VALUES (?, ?)').run(String(row), 'life')
    for (const file of killed ? [path, `${path}-wal`] : []) cpSync(file, join(directory, file.split('/').at(-1)!))
    return join(directory, name)
  }
  const gone = [object(0), object(0, true)]
  const kept = [object(1), object(1, true)]
  const open = object(0)
  const runtime = spawn(process.execPath, [
    '-e',
    `require('fs').openSync('${open}'); console.log(); setInterval(() => 0, 1e6)`,
  ])
  try {
    await once(runtime.stdout, 'data')
    expect(await removeEmptyObjects(state, runtime.pid!, new Map(), 3_600_000)).toEqual({ removed: 0, pausedMs: 0 })
    expect((await removeEmptyObjects(state, runtime.pid!, new Map(), 0)).removed).toBe(2)
    for (const path of gone) expect(readdirSync(directory).join()).not.toContain(path.split('/').at(-1))
    for (const path of [...kept, open]) expect(existsSync(path)).toBe(true)
    using survivor = new DatabaseSync(kept[1]!)
    expect(survivor.prepare('SELECT value FROM _cf_KV').all()).toMatchObject([{ value: 'life' }])
  } finally {
    runtime.kill('SIGKILL')
  }
})
