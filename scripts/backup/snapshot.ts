// In charge of: one moment of a service's data, beside the data: copies of all databases, and hard links to the stored
// objects, whose files never change. Only what changed meanwhile is copied in the moment itself.
// Not in charge of: stopping the runtime (runtimePause.ts), where the data goes then (takeBackup.ts).
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'

export interface StoredFile {
  /** Relative to the state directory. */
  path: string
  /** As the database says; null for other files. */
  size: number | null
}

/** Directories of `v3` that need no backup: answers that can be made again. */
const DISPENSABLE = new Set(['cache'])
/** D1, and the names of the stored objects. Other databases have some kilobytes. */
const isGrowing = (path: string): boolean => /^v3\/(d1|r2)\//.test(path)
/** A file that was written just now may be written again within the resolution of its time. */
const SETTLED_MS = 2_000
/** Rows of objects take the next number, which is that of a deleted row if it was the last one. */
const REUSED_ROWS = 1_000
const PAGES_AT_ONCE = 10_000

export class Snapshot implements Disposable {
  readonly #state: string
  readonly #directory: string
  /** Paths of the objects that are linked, by their names, which are unique. */
  readonly #linked = new Map<string, string>()
  /** What was copied before the moment: what its file was then, by path. */
  readonly #copied = new Map<string, string>()
  readonly #placed = new Set<string>()
  readonly #folders = new Set<string>()
  /** Growing databases as they are in the moment: a reader of a write-ahead log goes on seeing what it saw first. */
  readonly #pinned = new Map<string, DatabaseSync>()
  /** Rows after these are of newer objects. */
  readonly #rowsBefore = new Map<string, Rows>()

  /** `directory` must be on the file system of `state`. */
  constructor(state: string, directory: string) {
    this.#state = state
    this.#directory = directory
  }

  /** Before the moment: whatever need not wait for it. */
  prepare(): void {
    for (const path of this.#databases()) {
      if (!isGrowing(path) || !path.endsWith('.sqlite')) continue
      using database = new DatabaseSync(join(this.#state, path))
      const rows = namesObjects(database) ? lastRows(database) : null
      if (rows !== null) this.#rowsBefore.set(path, rows)
    }
    for (const folder of this.#objectFolders())
      for (const name of readdirSync(join(this.#state, folder))) this.#link(join(folder, name))
    const settled = Date.now() - SETTLED_MS
    const paths = new Set(this.#databases())
    for (const path of paths) {
      if (isGrowing(path) || !path.endsWith('.sqlite') || paths.has(`${path}-wal`)) continue
      const version = this.#version(path)
      if (version === null || version.mtimeMs > settled) continue
      this.#copy(path)
      this.#copied.set(path, version.text)
    }
  }

  /** The moment: only while nothing writes. May be repeated. */
  take(): void {
    this[Symbol.dispose]()
    const paths = this.#databases()
    for (const path of paths) {
      if (path.endsWith('-shm')) continue
      if (isGrowing(path)) this.#pin(path)
      else if (this.#copied.get(path) !== this.#version(path)?.text) this.#copy(path)
    }
    const left = new Set(paths)
    for (const path of this.#placed) if (!left.has(path)) rmSync(this.#place(path), { force: true })
    for (const [path, rows] of this.#rowsBefore) {
      const database = this.#pinned.get(path)
      const names = database === undefined ? [] : newObjects(database, rows)
      for (const folder of this.#objectFolders()) for (const name of names) this.#link(join(folder, name))
    }
  }

  /** After the moment: copies what was only pinned in it. */
  async complete(): Promise<void> {
    for (const [path, database] of this.#pinned) await backup(database, this.#place(path), { rate: PAGES_AT_ONCE })
    this[Symbol.dispose]()
  }

  /**
   * Checks each database, and completes it with its write-ahead log. @returns all files of the snapshot: databases, and
   * the objects that they name
   */
  check(): { files: StoredFile[]; migrations: string[] } {
    const files: StoredFile[] = []
    const migrations: string[] = []
    for (const path of this.#databases(this.#directory)) {
      if (path.endsWith('-wal')) continue
      files.push({ path, size: null })
      if (!path.endsWith('.sqlite')) continue
      using database = new DatabaseSync(join(this.#directory, path))
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      const found = database.prepare('PRAGMA quick_check(1)').get()
      if (found?.['quick_check'] !== 'ok') throw new Error(`${path} is damaged: ${String(found?.['quick_check'])}`)
      if (hasTable(database, 'd1_migrations'))
        migrations.push(
          ...database
            .prepare('SELECT name FROM d1_migrations ORDER BY id')
            .all()
            .map((row) => String(row['name'])),
        )
      // One by one: a call takes some hundred thousand arguments at most.
      if (namesObjects(database)) for (const file of this.#objectsOf(database)) files.push(file)
    }
    return { files, migrations }
  }

  [Symbol.dispose](): void {
    for (const database of this.#pinned.values()) database.close()
    this.#pinned.clear()
  }

  /** The files that the database names. Throws if the snapshot lacks one of them. */
  #objectsOf(database: DatabaseSync): StoredFile[] {
    const named = database.prepare(
      'SELECT blob_id, size FROM _mf_objects WHERE blob_id IS NOT NULL UNION SELECT blob_id, size FROM _mf_multipart_parts',
    )
    return named.all().map((row) => {
      const path = this.#linked.get(String(row['blob_id']))
      if (path === undefined) throw new Error(`The file ${String(row['blob_id'])} of a stored object is missing.`)
      return { path, size: Number(row['size']) }
    })
  }

  /** Files of databases below `v3`, relative to `root`. */
  #databases(root = this.#state): string[] {
    return folders(root, 'v3')
      .filter((path) => !DISPENSABLE.has(basename(path)))
      .flatMap((path) => folders(root, path))
      .flatMap((path) =>
        readdirSync(join(root, path), { withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(path, entry.name)),
      )
  }

  #objectFolders(): string[] {
    return folders(this.#state, 'v3/r2')
      .map((path) => join(path, 'blobs'))
      .filter((path) => existsSync(join(this.#state, path)))
  }

  /** The runtime was stopped anywhere, also while it changes what readers need: then this fails, and another moment does not. */
  #pin(path: string): void {
    if (!path.endsWith('.sqlite')) return
    const database = new DatabaseSync(join(this.#state, path))
    this.#pinned.set(path, database)
    database.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
  }

  #link(path: string): void {
    if (this.#linked.has(basename(path))) return
    try {
      linkSync(join(this.#state, path), this.#place(path))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return // deleted meanwhile
      if (code === 'EXDEV')
        throw new Error(`${path} is on another file system than ${this.#state}. Stop the service for the backup.`, {
          cause: error,
        })
      throw error
    }
    this.#linked.set(basename(path), path)
  }

  #copy(path: string): void {
    try {
      // Where the file system can, the copy shares the blocks.
      copyFileSync(join(this.#state, path), this.#place(path), constants.COPYFILE_FICLONE)
      this.#placed.add(path)
    } catch (error) {
      // Removed meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  #version(path: string): { text: string; mtimeMs: number } | null {
    const found = statSync(join(this.#state, path), { throwIfNoEntry: false })
    return found === undefined ? null : { text: `${found.ino} ${found.size} ${found.mtimeMs}`, mtimeMs: found.mtimeMs }
  }

  #place(path: string): string {
    const place = join(this.#directory, path)
    const folder = dirname(place)
    if (!this.#folders.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folders.add(folder)
    return place
  }
}

/** Of objects, and of the parts of those that came in parts. */
type Rows = [objects: number, parts: number]

function lastRows(database: DatabaseSync): Rows {
  const last = (table: string): number =>
    Number(database.prepare(`SELECT max(rowid) AS last FROM ${table}`).get()?.['last'] ?? 0)
  return [last('_mf_objects'), last('_mf_multipart_parts')]
}

function newObjects(database: DatabaseSync, [objects, parts]: Rows): string[] {
  return database
    .prepare(
      'SELECT blob_id FROM _mf_objects WHERE rowid > ? AND blob_id IS NOT NULL UNION SELECT blob_id FROM _mf_multipart_parts WHERE rowid > ?',
    )
    .all(objects - REUSED_ROWS, parts - REUSED_ROWS)
    .map((row) => String(row['blob_id']))
}

const namesObjects = (database: DatabaseSync): boolean => hasTable(database, '_mf_objects')

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}

function folders(root: string, path: string): string[] {
  if (!existsSync(join(root, path))) return []
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(path, entry.name))
}
