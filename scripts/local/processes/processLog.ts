// In charge of: one log file for each child process, and its rotation while the process runs.
// Not in charge of: its content.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'

export interface LogLimits {
  /** A file that would grow beyond this is renamed. */
  maxBytes: number
  /** Files of one log: the current one and the renamed ones. */
  files: number
}

export interface LogFile {
  path: string
  stream: Writable
}

/** Opens a log for appending: `worker.log`, and the older `worker.log.1`, `worker.log.2`, … */
export function openProcessLog(stateDir: string, name: string, limits: LogLimits): LogFile {
  const directory = join(stateDir, 'logs')
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `${name}.log`)
  return { path, stream: new RotatingLog(path, limits) }
}

/** Lines are written at once and in order. A full disk must not end the service: only log lines are lost. */
class RotatingLog extends Writable {
  readonly #path: string
  readonly #limits: LogLimits
  #file: number | null = null
  #size = 0
  /** The file ends with a whole line. */
  #atLineEnd = true

  constructor(path: string, limits: LogLimits) {
    super({ decodeStrings: true })
    this.#path = path
    this.#limits = limits
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    try {
      this.#open()
      const isFull = this.#size > 0 && this.#size + chunk.length > this.#limits.maxBytes
      // Not within a line, unless it has no end.
      if (isFull && (this.#atLineEnd || this.#size > 2 * this.#limits.maxBytes)) this.#rotate()
      writeSync(this.#open(), chunk)
      this.#size += chunk.length
      this.#atLineEnd = chunk.at(-1) === 0x0a
    } catch {
      // Opened again for the next line.
      this.#close()
    }
    done()
  }

  override _final(done: () => void): void {
    this.#close()
    done()
  }

  #open(): number {
    if (this.#file === null) {
      this.#file = openSync(this.#path, 'a', 0o600)
      this.#size = fstatSync(this.#file).size
      this.#atLineEnd = true
    }
    return this.#file
  }

  #close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #rotate(): void {
    this.#close()
    const { files } = this.#limits
    rmSync(olderPath(this.#path, files - 1), { force: true })
    for (let n = files - 2; n >= 0; n--) {
      try {
        renameSync(olderPath(this.#path, n), olderPath(this.#path, n + 1))
      } catch {
        // This old log does not exist yet.
      }
    }
  }
}

/** 0 = the current file. */
const olderPath = (path: string, n: number): string => (n === 0 ? path : `${path}.${n}`)

/** For a directory that gains a file with each start: only the newest files stay. Their names begin with the time. */
export function keepNewestLogs(directory: string, count: number): void {
  try {
    const names = readdirSync(directory).toSorted()
    for (const name of names.slice(0, Math.max(0, names.length - count))) rmSync(join(directory, name), { force: true })
  } catch {
    // There is no such directory yet.
  }
}

/** The last lines of a log, for an error message. */
export function lastLines(path: string, count: number): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n')
  } catch {
    return ''
  }
}
