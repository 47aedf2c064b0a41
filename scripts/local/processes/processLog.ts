// In charge of: one log file for each child process.
// Not in charge of: its content.
import { createWriteStream, mkdirSync, readFileSync, renameSync, statSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'

const ROTATE_BYTES = 20 * 1024 * 1024

export interface LogFile {
  path: string
  stream: WriteStream
}

/** Opens a log for appending. A large one is renamed first and replaces the previously renamed one. */
export function openProcessLog(stateDir: string, name: string): LogFile {
  const directory = join(stateDir, 'logs')
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `${name}.log`)
  try {
    if (statSync(path).size > ROTATE_BYTES) renameSync(path, `${path}.1`)
  } catch {
    // There is no log yet.
  }
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  // A full disk must not end the service; only log lines are lost.
  stream.on('error', () => undefined)
  return { path, stream }
}

/** The last lines of a log, for an error message. */
export function lastLines(path: string, count: number): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n')
  } catch {
    return ''
  }
}
