// In charge of: an attempt's log for the owner of the job: the transcoder's messages and every program that it ran,
// limited in size and without secrets, addresses or paths of this machine.
// Not in charge of: sending it (attemptReports.ts), the operator's log (log.ts), which gets the same lines.
import { basename } from 'node:path'
import { MAX_LOG_BYTES, type AttemptLog } from '#contract/task/reportSchemas.ts'
import { printableCommand } from '../ffmpeg/printableCommand.ts'
import type { FfmpegPrograms, RunEnd, RunStart } from '../ffmpeg/run.ts'
import type { Log, LogFields } from '../log.ts'

type Line = AttemptLog['lines'][number]

interface ProgramRun {
  purpose: string
  command: string
  startedAt: number
  end: { seconds: number; code: number | null } | null
}

/** Longest command that is stored: a ladder of sixteen renditions has some 30,000 characters. */
const MAX_COMMAND_CHARS = 48_000
const MAX_MESSAGE_CHARS = 4000
/** Length of the ffmpeg output that is stored after a failure. */
const STDERR_TAIL_BYTES = 2000
/** The limits of the schema (contract/task/reportSchemas.ts). */
const MAX_COMMANDS = 400
const MAX_LINES = 4000
/** Commands take at most two thirds of the log; lines take the rest. */
const COMMANDS_BYTES = Math.floor((MAX_LOG_BYTES * 2) / 3)
/** What JSON adds around the lists. */
const FRAME_BYTES = 1024
/** The most lines held in memory: a source with thousands of segments needs as many runs of ffmpeg to join it. */
const MAX_BUFFERED = 2 * MAX_LINES

export class JobLog {
  engine: string | null = null
  /** Secrets that are removed from every message. */
  readonly #hidden: readonly string[]
  /** The attempt's own directory: paths below it are shown relative to it. */
  directory: string | null = null
  readonly #runs: ProgramRun[] = []
  readonly #lines: Line[] = []
  readonly #now: () => number
  #changes = 0

  constructor(hidden: readonly string[], now = () => performance.now()) {
    this.#hidden = hidden
    this.#now = now
  }

  /** How many entries were added. */
  get changes(): number {
    return this.#changes
  }

  /** Returns the same programs; every run of them is recorded here and reported to `onStart`. */
  instrument<P extends FfmpegPrograms>(programs: P, onStart: (purpose: string) => void): P {
    return {
      ...programs,
      onRun: (start: RunStart) => {
        const end = this.#begin(start)
        onStart(start.purpose)
        return end
      },
    }
  }

  #begin({ program, args, purpose }: RunStart): (end: RunEnd) => void {
    const run: ProgramRun = {
      purpose,
      command: this.#clean(printableCommand(basename(program), withoutAllowlists(args))).slice(0, MAX_COMMAND_CHARS),
      startedAt: this.#now(),
      end: null,
    }
    pushBounded(this.#runs, run)
    this.#changes += 1
    return ({ code, stderr }) => {
      this.#changes += 1
      run.end = { seconds: (this.#now() - run.startedAt) / 1000, code }
      if (code !== 0 && stderr !== '') this.#add('warn', `${purpose}: ${stderr.slice(-STDERR_TAIL_BYTES).trim()}`)
    }
  }

  /** A log that writes to `log` and to this one. */
  tee(log: Log): Log {
    const line = (level: Line['level']) => (message: string, fields?: LogFields) => {
      log[level](message, fields)
      this.#add(level, [message, ...Object.entries(fields ?? {}).flatMap(formatField)].join(' '))
    }
    // Fields that every line has are for the operator: the owner knows the job and the attempt.
    return {
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      with: (fields) => this.tee(log.with(fields)),
    }
  }

  #add(level: Line['level'], message: string): void {
    this.#changes += 1
    const text = this.#clean(message).slice(0, MAX_MESSAGE_CHARS)
    pushBounded(this.#lines, { time: new Date().toISOString(), level, message: text })
  }

  /** The log as it is now: a command that is still running has no exit code, and its duration so far. */
  snapshot(): AttemptLog {
    const commands = this.#runs.map(({ purpose, command, startedAt, end }) => ({
      purpose,
      command,
      seconds: end?.seconds ?? (this.#now() - startedAt) / 1000,
      exit_code: end?.code ?? null,
    }))
    const includedCommands = takeWithin(commands, MAX_COMMANDS, COMMANDS_BYTES)
    const left = MAX_LOG_BYTES - FRAME_BYTES - bytesOf(includedCommands)
    return { engine: this.engine, commands: includedCommands, lines: takeWithin(this.#lines, MAX_LINES, left) }
  }

  #clean(text: string): string {
    let clean = text
    for (const secret of this.#hidden) if (secret.length >= 6) clean = clean.replaceAll(secret, '***')
    if (this.directory !== null) clean = clean.replaceAll(`${this.directory}/`, '')
    return (
      clean
        .replaceAll(/\b(?!file:|http:\/\/loopback\/\*\*\*)[a-z][a-z0-9+.-]{0,30}:\/\/[^\s'"<>]*/gi, '[address]')
        // Absolute paths of at least two segments, at positions where a path can begin.
        .replaceAll(/(?<=^|[\s'"=:(])\/(?:[^\s'"/:)]+\/)+[^\s'":)]*/g, '[path]')
    )
  }
}

/** Some thousand characters each, the same in every command: lists of what a hostile source may make ffmpeg open. */
const LISTS = new Set(['-protocol_whitelist', '-format_whitelist', '-codec_whitelist'])

function withoutAllowlists(args: readonly string[]): string[] {
  return args.filter((word, index) => !LISTS.has(word) && !LISTS.has(args[index - 1] ?? ''))
}

/** Limits the number of entries in memory: the older entries after the first half are dropped. */
function pushBounded<T>(list: T[], entry: T): void {
  if (list.length >= MAX_BUFFERED) list.splice(MAX_BUFFERED / 2, 1)
  list.push(entry)
}

function formatField([name, value]: [string, LogFields[string]]): string[] {
  // Commands are listed separately.
  return name === 'command' || value === undefined || value === null || value === '' ? [] : [`${name}=${String(value)}`]
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** As many entries as fit: if the list is too long, half from its beginning and half from its end. */
function takeWithin<T>(list: readonly T[], most: number, bytes: number): T[] {
  const first: T[] = []
  const last: T[] = []
  let left = bytes
  for (let low = 0, high = list.length - 1; low <= high && first.length + last.length < most;) {
    const fromStart = first.length <= last.length
    const entry = list[fromStart ? low++ : high--]!
    left -= bytesOf(entry) + 1
    if (left < 0) break
    if (fromStart) first.push(entry)
    else last.push(entry)
  }
  return [...first, ...last.toReversed()]
}
