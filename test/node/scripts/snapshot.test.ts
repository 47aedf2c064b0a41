// The moment of a backup: what was written before it is there, and nothing that was written after it.
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { Snapshot } from '../../../scripts/backup/snapshot.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const temp = useTempDirectory()

test('rows, objects and small files are those of the moment, whatever changes before and after', async () => {
  const state = temp.file('state')
  const at = (...path: string[]): string => join(state, 'v3', ...path)
  for (const folder of ['d1/D1', 'r2/R2', 'r2/films/blobs', 'do/Monitor']) mkdirSync(at(folder), { recursive: true })
  using jobs = new DatabaseSync(at('d1/D1/a.sqlite'))
  using names = new DatabaseSync(at('r2/R2/b.sqlite'))
  jobs.exec('PRAGMA journal_mode = WAL; CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name)')
  names.exec('PRAGMA journal_mode = WAL; CREATE TABLE _mf_objects (key TEXT PRIMARY KEY, blob_id, size)')
  names.exec('CREATE TABLE _mf_multipart_parts (blob_id, size)')
  const store = (name: string): void => {
    writeFileSync(at('r2/films/blobs', name), name)
    names.prepare('INSERT INTO _mf_objects VALUES (?, ?, ?)').run(name, name, name.length)
    jobs.prepare('INSERT INTO d1_migrations (name) VALUES (?)').run(name)
  }
  const remove = (name: string): void => {
    names.prepare('DELETE FROM _mf_objects WHERE key = ?').run(name)
    rmSync(at('r2/films/blobs', name))
  }
  /** Written long ago, so that it is copied before the moment. */
  const monitor = (name: string, state: string): void => {
    {
      using database = new DatabaseSync(at('do/Monitor', name))
      database.exec(`CREATE TABLE ${state} (x)`)
    }
    utimesSync(at('do/Monitor', name), 1, state.length)
  }
  for (const name of ['same.sqlite', 'changed.sqlite', 'gone.sqlite']) monitor(name, 'earlier')
  for (const name of ['kept', 'deleted']) store(name)

  using snapshot = new Snapshot(state, temp.file('snapshot'))
  snapshot.prepare()
  remove('deleted')
  store('before')
  monitor('changed.sqlite', 'moment')
  rmSync(at('do/Monitor/gone.sqlite'))
  snapshot.take()
  store('after')
  remove('kept')
  monitor('changed.sqlite', 'later')
  await snapshot.complete()

  const { files, migrations } = snapshot.check()
  expect(migrations).toEqual(['kept', 'deleted', 'before'])
  expect(files.map(({ path }) => path.slice('v3/'.length)).toSorted()).toEqual([
    'd1/D1/a.sqlite',
    'do/Monitor/changed.sqlite',
    'do/Monitor/same.sqlite',
    'r2/R2/b.sqlite',
    'r2/films/blobs/before',
    'r2/films/blobs/kept',
  ])
  using changed = new DatabaseSync(temp.file('snapshot/v3/do/Monitor/changed.sqlite'))
  expect(changed.prepare('SELECT name FROM sqlite_schema').all()).toMatchObject([
    { name: 'earlier' },
    { name: 'moment' },
  ])
  expect(readdirSync(temp.file('snapshot/v3/do/Monitor')).toSorted()).toEqual(['changed.sqlite', 'same.sqlite'])
})

test('hundreds of thousands of stored objects', async () => {
  const state = temp.file('many')
  mkdirSync(join(state, 'v3/r2/R2'), { recursive: true })
  mkdirSync(join(state, 'v3/r2/films/blobs'), { recursive: true })
  writeFileSync(join(state, 'v3/r2/films/blobs/a'), 'a')
  const count = 250_000
  {
    using names = new DatabaseSync(join(state, 'v3/r2/R2/b.sqlite'))
    names.exec(`CREATE TABLE _mf_objects (blob_id, size); CREATE TABLE _mf_multipart_parts (blob_id, size);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO _mf_objects SELECT 'a', i FROM n`)
  }
  using snapshot = new Snapshot(state, temp.file('snapshot of many'))
  snapshot.prepare()
  snapshot.take()
  await snapshot.complete()
  expect(snapshot.check().files).toHaveLength(count + 1)
})
