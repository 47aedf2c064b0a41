// In charge of: one service on one state directory. The lock is the kernel's, on a file that SQLite has open: it ends with
// the process that holds it, however that ends, and no two can have it.
// Not in charge of: what of an earlier service still runs (processes/orphans.ts).
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface StateLock {
  release: () => void
}

/** SQLite's code for a lock that somebody else holds (https://sqlite.org/rescode.html#busy). */
const SQLITE_BUSY = 5

/** @throws Error with a sentence for people when another service has it */
export async function acquireStateLock(stateDir: string, runDir: string): Promise<StateLock> {
  const database = new DatabaseSync(join(runDir, 'lock.sqlite'), { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new Error(
      `${stateDir} is already in use by ${holder(runDir)}. Stop it, or use another directory for this one (STATE_DIR=… npm start).`,
      { cause: error },
    )
  }
  // For the sentence above only.
  await writeFile(join(runDir, 'pid'), `${process.pid}\n`)
  return { release: () => database.close() }
}

function holder(runDir: string): string {
  try {
    return `process ${Number.parseInt(readFileSync(join(runDir, 'pid'), 'utf8'), 10)}`
  } catch {
    return 'another service that is starting'
  }
}
