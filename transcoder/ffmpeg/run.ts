// In charge of: running ffmpeg and ffprobe: the one place that spawns a process, its watchdogs and its end.
// Not in charge of: what the arguments mean (plan/argv/ffmpegArgs.ts, inputAllowlist.ts), its cell (sandbox.ts), what an ending means (exit.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { redactAddresses } from './printableCommand.ts'
import { EngineError } from './engineError.ts'
import {
  minimalSandbox,
  sandboxEnvironment,
  sandboxedCommand,
  defaultLimits,
  killUserProcesses,
  createOutputFiles,
  type Sandbox,
  type SandboxLimits,
} from './sandbox.ts'
import { progressReader, type FfmpegProgress } from './progressReader.ts'

export { printableCommand } from './printableCommand.ts'

export interface FfmpegPrograms {
  ffmpeg: string
  ffprobe: string
  /** What this machine permits (sandboxProbe.ts); else what can be had without a look at it. */
  cell?: Sandbox
  /** Told of every run as it begins; what it returns is told of the end. */
  onRun?: (start: RunStart) => (end: RunEnd) => void
}

export interface RunStart {
  program: string
  args: readonly string[]
  /** For people: "encode". */
  purpose: string
}

export interface RunEnd {
  /** null = ended by a signal. */
  code: number | null
  /** The last 64 KiB, without loopback addresses. */
  stderr: string
}

export interface RunOptions {
  /** Directory that the process starts in; the task's own and empty. */
  cwd: string
  /** Told of each line of stderr, without its end; false = it is not kept for `stderr`. */
  onLine?: (line: string) => boolean
  /** What it is run for, in a few words for people. Default: the program's name. */
  purpose?: string
  signal?: AbortSignal
  onProgress?: (progress: FfmpegProgress) => void
  /** Milliseconds without any change in the progress after which the process is ended. Default 60,000. */
  stallMs?: number
  /** True while a taker waits for something else than ffmpeg, which then stands still through no fault of its own. */
  isHeld?: () => boolean
  /** Files that it writes. Nothing else can be created where the cell has a user of its own; none = it writes no file. */
  creates?: readonly string[]
  limits?: Partial<SandboxLimits>
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
  /** It ran for long enough to have used up the processor time that it had. */
  mayLackCpu: boolean
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
export const FIRST_PIPE_FD = 3
const STDERR_BYTES = 64 * 1024
/** From SIGTERM to SIGKILL. A halted task is gone well within 3 s. */
const GRACE_MS = 1500
const STALL_MS = 60_000
const PROBE_TIMEOUT_MS = 60_000
const PROBE_CORES = 4
/** The kernel counts in whole seconds, and what other threads are just using. */
const CPU_ROUNDING_SECONDS = 2
/** From SIGKILL to letting go of pipes that a process outside of the group holds. */
const PIPE_CLOSE_MS = 1000
/** 100 streams with all their fields are far below this. */
const PROBE_OUTPUT_BYTES = 8 * 1024 * 1024

/**
 * Runs ffmpeg to its end and says how it ended; it does not throw on a bad end.
 * Throws where the program cannot be started at all.
 */
export async function runFfmpeg(
  engine: FfmpegPrograms,
  args: readonly string[],
  options: RunOptions,
): Promise<FfmpegResult> {
  let ended: FfmpegResult['ended'] = 'exit'
  let progress: FfmpegProgress | null = null
  const { takers = [] } = options
  const cell = await spawnProcess(engine, engine.ffmpeg, args, options, takers.length)
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
      take(cell.child.stdio[FIRST_PIPE_FD + index] as Readable).catch((error: unknown) => {
        cell.kill()
        throw error
      }),
    ),
  )
  taken.catch(() => undefined) // judged once ffmpeg has ended
  try {
    const { code, signal } = await cell.closed
    if (ended === 'exit') cell.requireOwnEnd(signal)
    await taken.catch((error: unknown) => {
      // A stream that broke off is what an ffmpeg leaves behind that was stopped.
      if (ended === 'exit') throw error
    })
    return { ended, code, signal, stderr: cell.stderr(), progress, mayLackCpu: cell.mayLackCpu() }
  } finally {
    clearTimeout(watchdog)
    options.signal?.removeEventListener('abort', abort)
  }
}

/** Runs ffprobe and returns what it printed. Throws FfprobeError; EngineError where it was killed from outside. */
export async function runFfprobe(
  engine: FfmpegPrograms,
  args: readonly string[],
  options: {
    cwd: string
    purpose?: string
    signal?: AbortSignal
    timeoutMs?: number
    limits?: Partial<SandboxLimits>
  },
): Promise<string> {
  let ended: FfprobeError['ended'] = 'exit'
  const timeoutMs = options.timeoutMs ?? PROBE_TIMEOUT_MS
  // Some of its decoders have threads.
  const limits = { cpuSeconds: (timeoutMs / 1000) * PROBE_CORES, ...options.limits }
  const cell = await spawnProcess(engine, engine.ffprobe, args, { ...options, limits })
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
  const timer = setTimeout(stop, timeoutMs, 'timeout')
  const abort = () => stop('aborted')
  options.signal?.addEventListener('abort', abort, { once: true })
  if (options.signal?.aborted === true) abort()
  try {
    const { code, signal } = await cell.closed
    if (ended === 'exit') cell.requireOwnEnd(signal)
    if (ended !== 'exit' || code !== 0) throw new FfprobeError(ended, code, signal, cell.stderr())
    return Buffer.concat(chunks).toString('utf8')
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
  }
}

interface RunningProcess {
  child: ChildProcess
  closed: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  stderr: () => string
  /** SIGTERM to the whole group now, SIGKILL after a grace. */
  kill: () => void
  /** False where so little time has passed that all cores together cannot have used up the processor time. */
  mayLackCpu: () => boolean
  /** @throws EngineError when a SIGKILL ended it that was not ours. */
  requireOwnEnd: (signal: NodeJS.Signals | null) => void
}

/** A transcoder works on one attempt at a time: these are its own. */
const running = new Set<ChildProcess>()

async function spawnProcess(
  engine: FfmpegPrograms,
  program: string,
  args: readonly string[],
  options: Pick<RunOptions, 'cwd' | 'purpose' | 'creates' | 'limits' | 'onLine'>,
  pipes = 0,
): Promise<RunningProcess> {
  const cell = engine.cell ?? (await minimalSandbox())
  const { creates = [], cwd } = options
  const limits = { ...defaultLimits, ...(creates.length === 0 ? { fileBytes: 0 } : {}), ...options.limits }
  await createOutputFiles(creates, cell.user)
  const [command, ...words] = sandboxedCommand(cell, program, args, { limits, cwd })
  const child = spawn(command, words, {
    cwd,
    // Its own process group: ended as a whole, and a Ctrl-C of ours does not reach it first.
    detached: true,
    env: sandboxEnvironment(),
    // The terminal is never ffmpeg's; stdout carries the progress.
    stdio: ['ignore', 'pipe', 'pipe', ...Array.from({ length: pipes }, () => 'pipe' as const)],
  })
  running.add(child)
  const began = performance.now()
  const told = engine.onRun?.({ program, args, purpose: options.purpose ?? basename(program) })
  let tail = Buffer.alloc(0)
  const keep = (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_BYTES)
  }
  const { onLine } = options
  const lines =
    onLine === undefined ? null : lineReader((line) => void (onLine(line) && keep(Buffer.from(`${line}\n`))))
  child.stderr!.on('data', (chunk: Buffer) => {
    if (lines === null) keep(chunk)
    else lines.push(chunk)
  })
  let killer: NodeJS.Timeout | undefined
  let isKilledByUs = false
  const send = (signal: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(-child.pid, signal)
    } catch {
      // The group is gone already.
    }
  }
  // ffmpeg has no children: what is left behind it would hold its pipes open for as long as it likes.
  const clearUp = () => send('SIGKILL')
  const finish = () => {
    isKilledByUs = true
    clearUp()
    // All that runs as this user: not while another program of the attempt's runs beside it.
    if (running.size === 1) void killUserProcesses(cell.user)
    killer = setTimeout(() => {
      for (const stream of child.stdio) stream?.destroy()
    }, PIPE_CLOSE_MS)
  }
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null; signal: NodeJS.Signals | null }>()
  child.once('error', (error) => {
    running.delete(child)
    reject(error)
  })
  child.once('exit', clearUp)
  let isClosed = false
  const stderr = () => redactAddresses(tail.toString('utf8'))
  child.once('close', (code, signal) => {
    isClosed = true
    running.delete(child)
    lines?.end()
    told?.({ code, stderr: stderr() })
    resolve({ code, signal })
  })
  return {
    child,
    closed: promise.finally(() => {
      clearTimeout(killer)
    }),
    stderr,
    mayLackCpu: () => {
      const seconds = (performance.now() - began) / 1000
      return limits.cpuSeconds > 0 && seconds * availableParallelism() >= limits.cpuSeconds - CPU_ROUNDING_SECONDS
    },
    kill: () => {
      // Whoever is told of a failure afterwards would end what runs as the same user by then.
      if (isClosed) return
      send('SIGTERM')
      killer ??= setTimeout(finish, GRACE_MS)
    },
    requireOwnEnd: (signal) => {
      if (signal !== 'SIGKILL' || isKilledByUs) return
      const message = 'ffmpeg was killed from outside, most likely because the machine ran out of memory.'
      throw new EngineError('killed', message)
    },
  }
}

/** Longer than any line of ffmpeg's; the rest of one is another line. */
const MAX_LINE = 4096

function lineReader(onLine: (line: string) => void): { push: (chunk: Buffer) => void; end: () => void } {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  return {
    push: (chunk) => {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
      if (rest.length <= MAX_LINE) return
      onLine(rest)
      rest = ''
    },
    end: () => {
      if (rest !== '') onLine(rest)
      rest = ''
    },
  }
}
