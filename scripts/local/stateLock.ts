// In charge of: allowing one service per state directory. The lock is a kernel lock on a file that SQLite has open: it
// ends with the process that holds it, in every case.
// Not in charge of: processes that an earlier service left running (processes/orphans.ts).
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface StateLock {
  release: () => void
}

/** SQLite's code for a lock that is held by another process (https://sqlite.org/rescode.html#busy). */
const SQLITE_BUSY = 5

/** @throws Error with a message for people if another service holds the lock */
export async function acquireStateLock(stateDir: string, runDir: string): Promise<StateLock> {
  const database = new DatabaseSync(join(runDir, 'lock.sqlite'), { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    throw new Error(
      `${stateDir} is already in use by ${holder(runDir)}. Stop it, or use another directory for this one (STATE_DIR=… npm start).`,
      { cause: error },
    )
  }
  // Only used in the message above.
  await writeFile(join(runDir, 'pid'), `${process.pid}\n`)
  return { release: () => database.close() }
}

/** Whether `acquireStateLock` failed because another service holds the lock. */
export function isLockTaken(error: unknown): boolean {
  return error instanceof Error && isBusy(error.cause)
}

/** Whether SQLite reports a lock of another process. */
export const isBusy = (error: unknown): boolean => (error as { errcode?: number } | undefined)?.errcode === SQLITE_BUSY

function holder(runDir: string): string {
  try {
    return `process ${Number.parseInt(readFileSync(join(runDir, 'pid'), 'utf8'), 10)}`
  } catch {
    return 'another service that is starting'
  }
}
