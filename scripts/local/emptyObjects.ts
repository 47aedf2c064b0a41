// In charge of: removing the files of Durable Objects that store nothing any more. Each job, each part of one, each webhook
// and each upload has a file; workerd empties it when its object has ended (deleteAll), and leaves it for ever.
// Not in charge of: what is stored, and for how long (worker/).
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncOptions } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { whilePaused } from './processes/runtimePause.ts'
import type { StateDirectory } from './stateDirectory.ts'

/** A file that was written in the last minute is probably in use. */
const SETTLED_MS = 60_000
/** In one pause, which thus takes some milliseconds. */
const BATCH = 1000
/** The process that removes files also answers requests: if it is not its turn, the next time is soon enough. */
const LIMITS = { turnMs: 0, stopMs: 200 }

interface Candidate {
  path: string
  writtenMs: number
  /** It has a write-ahead log: the runtime uses it, or was killed. */
  hasLog: boolean
}

/** Files by what was found in them, so that the file of a job that waits is not read each time. */
export type KnownObjects = Map<string, number>

/**
 * Removes at most 1,000 files, in a pause of the runtime: none that it has open, and none that has changed since it was read.
 *
 * @param known is changed
 * @returns how many were removed, and for how many milliseconds the service did not answer
 */
export async function removeEmptyObjects(
  { path: stateDir, runDir }: StateDirectory,
  runtime: number,
  known: KnownObjects,
  settledMs = SETTLED_MS,
): Promise<{ removed: number; pausedMs: number }> {
  const candidates = await findCandidates(join(stateDir, 'v3', 'do'), known, settledMs)
  if (candidates.length === 0) return { removed: 0, pausedMs: 0 }
  let removed = 0
  const pausedMs = whilePaused(runDir, runtime, LIMITS, () => {
    const open = openFiles(runtime)
    for (const file of candidates) {
      if (open.has(file.path) || writtenMs(file) !== file.writtenMs) continue
      // Opening it puts its log into it.
      if (file.hasLog && !isEmpty(file.path)) continue
      rmSync(file.path)
      removed++
    }
  })
  return { removed, pausedMs }
}

async function findCandidates(directory: string, known: KnownObjects, settledMs: number): Promise<Candidate[]> {
  const found: Candidate[] = []
  const seen = new Set<string>()
  for (const namespace of await readdir(directory).catch(() => [])) {
    const names = new Set(await readdir(join(directory, namespace)))
    for (const name of names) {
      if (!/^[0-9a-f]{64}\.sqlite$/.test(name)) continue
      const [path, hasLog] = [join(directory, namespace, name), names.has(`${name}-wal`)]
      seen.add(path)
      if (found.length === BATCH) continue
      const written = await stat(hasLog ? `${path}-wal` : path).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      )
      if (written === null || written === known.get(path) || Date.now() - written < settledMs) continue
      // Without a lock and without files beside it. If the runtime opens it meanwhile, the answer is not used.
      if (hasLog || isEmpty(new URL(`${pathToFileURL(path).href}?immutable=1`), { readOnly: true }))
        found.push({ path, writtenMs: written, hasLog })
      else known.set(path, written)
    }
  }
  for (const path of known.keys()) if (!seen.has(path)) known.delete(path)
  return found
}

/** What workerd has left in an empty one is a table of its own. A file that cannot be read is not empty. */
function isEmpty(path: string | URL, options: DatabaseSyncOptions = {}): boolean {
  try {
    using database = new DatabaseSync(path, options)
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> '_cf_METADATA'")
      .all()
    return tables.every(({ name }) => database.prepare(`SELECT 1 FROM "${String(name)}" LIMIT 1`).get() === undefined)
  } catch {
    return false
  }
}

function writtenMs({ path, hasLog }: Candidate): number | undefined {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  return (hasLog ? log : log === undefined ? statSync(path, { throwIfNoEntry: false }) : undefined)?.mtimeMs
}

function openFiles(pid: number): Set<string> {
  const directory = `/proc/${pid}/fd`
  return new Set(
    readdirSync(directory).flatMap((name) => {
      try {
        return [readlinkSync(join(directory, name))]
      } catch {
        return [] // closed meanwhile
      }
    }),
  )
}
