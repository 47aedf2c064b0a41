// In charge of: running ffmpeg and ffprobe: the one place that spawns a process, its cell and its end.
// Not in charge of: what the arguments mean (plan/argv.ts, cell.ts), what an ending means (exit.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { delimiter, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { scrubAddresses } from './command.ts'
import { progressReader, type FfmpegProgress } from './progress.ts'

export { printableCommand } from './command.ts'

export interface Programs {
  ffmpeg: string
  ffprobe: string
}

/** Limits of the process, held by the kernel where `prlimit` exists. 0 = none. */
export interface CellLimits {
  addressSpaceBytes: number
  /** The largest file that may be written. */
  fileBytes: number
  openFiles: number
}
export const defaultLimits: CellLimits = { addressSpaceBytes: 32 * 2 ** 30, fileBytes: 0, openFiles: 256 }

export interface RunOptions {
  /** Directory that the process starts in; the task's own and empty. */
  cwd: string
  signal?: AbortSignal
  onProgress?: (progress: FfmpegProgress) => void
  /** Milliseconds without any change in the progress after which the process is ended. Default 60,000. */
  stallMs?: number
  /** True while a taker waits for something else than ffmpeg, which then stands still through no fault of its own. */
  isHeld?: () => boolean
  limits?: CellLimits
  /**
   * Takers of outputs `pipe:3`, `pipe:4`, …: each reads to the end, and ffmpeg waits while it does not. One that rejects ends
   * ffmpeg, and `runFfmpeg` rejects with its reason.
   */
  takers?: readonly ((stream: Readable) => Promise<void>)[]
}

export interface FfmpegResult {
  /** exit = by itself; aborted = by the signal; stalled = by the watchdog. */
  ended: 'exit' | 'aborted' | 'stalled'
  code: number | null
  signal: NodeJS.Signals | null
  /** The last 64 KiB, without loopback addresses. */
  stderr: string
  /** The last report; null where there was none. */
  progress: FfmpegProgress | null
}

/** ffprobe ended badly. `stderr` is scrubbed; `code` null = killed. */
export class FfprobeError extends Error {
  override name = 'FfprobeError'
  readonly ended: 'exit' | 'aborted' | 'timeout' | 'too_much_output'
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
  constructor(ended: FfprobeError['ended'], code: number | null, signal: string | null, stderr: string) {
    super(`ffprobe: ${ended}${code === null ? '' : ` (code ${code})`}`)
    this.ended = ended
    this.code = code
    this.signal = signal
    this.stderr = stderr
  }
}

/** The first descriptor behind the standard three; a taker's output is `pipe:` and this plus its position. */
export const FIRST_TAKEN = 3
const STDERR_BYTES = 64 * 1024
/** From SIGTERM to SIGKILL. A halted task is gone well within 3 s. */
const GRACE_MS = 1500
const STALL_MS = 60_000
const PROBE_TIMEOUT_MS = 60_000
/** 100 streams with all their fields are far below this. */
const PROBE_OUTPUT_BYTES = 8 * 1024 * 1024

/**
 * Runs ffmpeg to its end and says how it ended; it does not throw on a bad end.
 * Throws where the program cannot be started at all.
 */
export async function runFfmpeg(engine: Programs, args: readonly string[], options: RunOptions): Promise<FfmpegResult> {
  let ended: FfmpegResult['ended'] = 'exit'
  let progress: FfmpegProgress | null = null
  const { takers = [] } = options
  const cell = await open(engine.ffmpeg, args, options, takers.length)
  const stop = (why: 'aborted' | 'stalled') => {
    if (ended === 'exit') ended = why
    cell.kill()
  }

  const stallMs = options.stallMs ?? STALL_MS
  const bark = (): void => {
    if (options.isHeld?.() === true) watchdog = setTimeout(bark, stallMs)
    else stop('stalled')
  }
  let watchdog = setTimeout(bark, stallMs)
  const read = progressReader((report) => {
    const moved =
      progress === null ||
      report.frame !== progress.frame ||
      report.outSeconds !== progress.outSeconds ||
      report.totalBytes !== progress.totalBytes
    progress = report
    if (moved) {
      clearTimeout(watchdog)
      watchdog = setTimeout(bark, stallMs)
    }
    options.onProgress?.(report)
  })
  const decoder = new StringDecoder('utf8')
  cell.child.stdout?.on('data', (chunk: Buffer) => read(decoder.write(chunk)))

  const abort = () => stop('aborted')
  options.signal?.addEventListener('abort', abort, { once: true })
  if (options.signal?.aborted === true) abort()
  const taken = Promise.all(
    takers.map((take, index) =>
      take(cell.child.stdio[FIRST_TAKEN + index] as Readable).catch((error: unknown) => {
        cell.kill()
        throw error
      }),
    ),
  )
  taken.catch(() => undefined) // judged once ffmpeg has ended
  try {
    const { code, signal } = await cell.closed
    await taken.catch((error: unknown) => {
      // A stream that broke off is what an ffmpeg leaves behind that was stopped.
      if (ended === 'exit') throw error
    })
    return { ended, code, signal, stderr: cell.stderr(), progress }
  } finally {
    clearTimeout(watchdog)
    options.signal?.removeEventListener('abort', abort)
  }
}

/** Runs ffprobe and returns what it printed. Throws FfprobeError. */
export async function runFfprobe(
  engine: Programs,
  args: readonly string[],
  options: { cwd: string; signal?: AbortSignal; timeoutMs?: number; limits?: CellLimits },
): Promise<string> {
  let ended: FfprobeError['ended'] = 'exit'
  const cell = await open(engine.ffprobe, args, options)
  const stop = (why: FfprobeError['ended']) => {
    if (ended === 'exit') ended = why
    cell.kill()
  }
  const chunks: Buffer[] = []
  let bytes = 0
  cell.child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > PROBE_OUTPUT_BYTES) stop('too_much_output')
    else chunks.push(chunk)
  })
  const timer = setTimeout(stop, options.timeoutMs ?? PROBE_TIMEOUT_MS, 'timeout')
  const abort = () => stop('aborted')
  options.signal?.addEventListener('abort', abort, { once: true })
  if (options.signal?.aborted === true) abort()
  try {
    const { code, signal } = await cell.closed
    if (ended !== 'exit' || code !== 0) throw new FfprobeError(ended, code, signal, cell.stderr())
    return Buffer.concat(chunks).toString('utf8')
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
  }
}

/**
 * Nothing of ours: no credentials, no proxies, no LD_PRELOAD. GCONV_PATH names no directory: character set modules would be
 * loaded for a name inside a transport stream, and a statically linked ffprobe crashes on the machine's (every .ts, measured).
 */
export function cellEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', LC_ALL: 'C', GCONV_PATH: '/nonexistent' }
}

interface Cell {
  child: ChildProcess
  closed: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  stderr: () => string
  /** SIGTERM to the whole group now, SIGKILL after a grace. */
  kill: () => void
}

async function open(
  program: string,
  args: readonly string[],
  options: { cwd: string; limits?: CellLimits },
  pipes = 0,
): Promise<Cell> {
  const [command, ...words] = await limited(program, args, options.limits ?? defaultLimits)
  const child = spawn(command, words, {
    cwd: options.cwd,
    // Its own process group: ended as a whole, and a Ctrl-C of ours does not reach it first.
    detached: true,
    env: cellEnvironment(),
    // The terminal is never ffmpeg's; stdout carries the progress.
    stdio: ['ignore', 'pipe', 'pipe', ...Array.from({ length: pipes }, () => 'pipe' as const)],
  })
  let tail = Buffer.alloc(0)
  child.stderr!.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_BYTES)
  })
  let killer: NodeJS.Timeout | undefined
  const send = (signal: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, signal)
    } catch {
      // The group is gone already.
    }
  }
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null; signal: NodeJS.Signals | null }>()
  child.once('error', reject)
  child.once('close', (code, signal) => resolve({ code, signal }))
  return {
    child,
    closed: promise.finally(() => {
      clearTimeout(killer)
    }),
    stderr: () => scrubAddresses(tail.toString('utf8')),
    kill: () => {
      send('SIGTERM')
      killer ??= setTimeout(send, GRACE_MS, 'SIGKILL')
    },
  }
}

/**
 * `setpriv … prlimit … program args` where util-linux is installed: what holds before the program's first instruction.
 * Both replace themselves by the next, so the process stays one.
 */
async function limited(program: string, args: readonly string[], limits: CellLimits): Promise<[string, ...string[]]> {
  const [setpriv, prlimit] = await Promise.all([onPath('setpriv'), onPath('prlimit')])
  const flag = (name: string, value: number) => (value > 0 ? [`--${name}=${value}`] : [])
  const [command = program, ...words] = [
    // A transcoder that is killed outright takes ffmpeg with it: nobody would read its output (prctl(2), PR_SET_PDEATHSIG).
    ...(setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL', '--']),
    ...(prlimit === null
      ? []
      : [
          prlimit,
          // No core files: they would hold the customer's media.
          '--core=0',
          ...flag('as', limits.addressSpaceBytes),
          ...flag('fsize', limits.fileBytes),
          ...flag('nofile', limits.openFiles),
          '--',
        ]),
    program,
    ...args,
  ]
  return [command, ...words]
}

/** The absolute path of a program on PATH; null where there is none. */
export async function onPath(name: string, path: string = process.env['PATH'] ?? ''): Promise<string | null> {
  for (const directory of path.split(delimiter)) {
    if (!directory.startsWith('/')) continue
    const candidate = join(directory, name)
    const usable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (usable) return candidate
  }
  return null
}
