// In charge of: one moment of a service's data, beside the data: copies of all databases, and hard links to the stored
// objects, whose files never change.
// Not in charge of: stopping the runtime (runtimePause.ts), where the data goes then (takeBackup.ts).
import { constants, copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface StoredFile {
  /** Relative to the state directory. */
  path: string
  /** As the database says; null for other files. */
  size: number | null
}

/** Directories of `v3` that need no backup: answers that can be made again. */
const DISPENSABLE = new Set(['cache'])

export class Snapshot {
  readonly #state: string
  readonly #directory: string
  readonly #linked = new Set<string>()

  /** `directory` must be on the file system of `state`. */
  constructor(state: string, directory: string) {
    this.#state = state
    this.#directory = directory
  }

  /** Links the objects that exist. Before the pause, so that few are left to be linked in it. */
  linkObjects(): void {
    for (const path of this.#files().filter(isObject)) {
      if (this.#linked.has(path)) continue
      try {
        linkSync(join(this.#state, path), this.#place(path))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'ENOENT') continue // deleted meanwhile
        if (code === 'EXDEV')
          throw new Error(`${path} is on another file system than ${this.#state}. Stop the service for the backup.`, {
            cause: error,
          })
        throw error
      }
      this.#linked.add(path)
    }
  }

  /** Only while nothing writes. */
  copyDatabases(): void {
    for (const path of this.#files().filter((each) => !isObject(each) && !each.endsWith('-shm')))
      // Where the file system can, the copy shares the blocks.
      copyFileSync(join(this.#state, path), this.#place(path), constants.COPYFILE_FICLONE)
  }

  /**
   * Checks each database, and completes it with its write-ahead log. @returns all files of the snapshot: databases, and
   * the objects that they name
   */
  check(): { files: StoredFile[]; migrations: string[] } {
    const files: StoredFile[] = []
    const migrations: string[] = []
    for (const path of this.#files(this.#directory).filter((each) => !isObject(each))) {
      if (path.endsWith('-wal')) continue
      files.push({ path, size: null })
      if (!path.endsWith('.sqlite')) continue
      using database = new DatabaseSync(join(this.#directory, path))
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      const found = database.prepare('PRAGMA quick_check(1)').get()
      if (found?.['quick_check'] !== 'ok') throw new Error(`${path} is damaged: ${String(found?.['quick_check'])}`)
      const tables = new Set(
        database
          .prepare('SELECT name FROM sqlite_schema')
          .all()
          .map(({ name }) => name),
      )
      if (tables.has('d1_migrations'))
        migrations.push(
          ...database
            .prepare('SELECT name FROM d1_migrations ORDER BY id')
            .all()
            .map((row) => String(row['name'])),
        )
      if (tables.has('_mf_objects')) files.push(...this.#objectsOf(database))
    }
    return { files, migrations }
  }

  /** The files that the database names. Throws if the snapshot lacks one of them. */
  #objectsOf(database: DatabaseSync): StoredFile[] {
    const objects = new Map([...this.#linked].map((path) => [path.split('/').at(-1), path]))
    const named = database.prepare(
      'SELECT blob_id, size FROM _mf_objects WHERE blob_id IS NOT NULL UNION SELECT blob_id, size FROM _mf_multipart_parts',
    )
    return named.all().map((row) => {
      const path = objects.get(String(row['blob_id']))
      if (path === undefined) throw new Error(`The file ${String(row['blob_id'])} of a stored object is missing.`)
      return { path, size: Number(row['size']) }
    })
  }

  /** Paths below `v3`, relative to `root`. */
  #files(root = this.#state): string[] {
    return readdirSync(join(root, 'v3'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !DISPENSABLE.has(entry.name))
      .flatMap(({ name }) => readdirSync(join(root, 'v3', name), { withFileTypes: true, recursive: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  }

  #place(path: string): string {
    const place = join(this.#directory, path)
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    return place
  }
}

const isObject = (path: string): boolean => /^v3\/r2\/[^/]+\/blobs\//.test(path)
