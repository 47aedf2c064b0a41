// In charge of: running ffmpeg and ffprobe: the only code that spawns them, their time limits and their end.
// Not in charge of: the meaning of the arguments (plan/argv/ffmpegArgs.ts, inputAllowlist.ts), the sandbox
// (sandbox.ts), when a run hangs (watchdog.ts), the meaning of an exit (exit.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import type { Readable, Writable } from 'node:stream'
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
import { Watchdog, type SignsOfWork } from './watchdog.ts'

export interface FfmpegPrograms {
  ffmpeg: string
  ffprobe: string
  /** What this machine supports (sandboxProbe.ts); without it, the measures that need no probe are used. */
  sandbox?: Sandbox
  /** Called at the beginning of every run; the function that it returns is called at the end. */
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
  /** Working directory of the process; it belongs to the task and is empty. */
  cwd: string
  /** Called for each line of stderr, without its end; a line for which it returns false is not kept in `stderr`. */
  onLine?: (line: string) => boolean
  /** The purpose of the run, in a few words for people. Default: the program's name. */
  purpose?: string
  signal?: AbortSignal
  onProgress?: (progress: FfmpegProgress) => void
  /** Milliseconds without any sign of work (watchdog.ts) after which the process is ended. Default 60,000. */
  stallMs?: number
  /** Bytes of its source that were served so far. */
  bytesRead?: () => number
  /**
   * True while a reader of an output waits for something other than ffmpeg: ffmpeg then makes no progress without being
   * stuck.
   */
  isBlocked?: () => boolean
  /** Files that it writes. In a sandbox with a user of its own, no others can be created; none = it writes no file. */
  outputFiles?: readonly string[]
  limits?: Partial<SandboxLimits>
  /**
   * Readers of outputs `pipe:3`, `pipe:4`, …: each reads to the end, and ffmpeg waits for slow ones. If one rejects,
   * ffmpeg is ended and `runFfmpeg` rejects with the same reason.
   */
  pipeReaders?: readonly ((stream: Readable) => Promise<void>)[]
  /** Writes the inputs `pipe:`, whose numbers follow the numbers of the readers' pipes. */
  pipeFeed?: PipeFeed | undefined
}

/**
 * Writes inputs of ffmpeg, and ends each of them. If it rejects, ffmpeg is ended and `runFfmpeg` rejects with the same
 * reason. `ended` is aborted when ffmpeg has ended: what it did not read is not needed.
 */
export interface PipeFeed {
  count: number
  write: (pipes: readonly Writable[], ended: AbortSignal) => Promise<void>
}

export interface FfmpegResult {
  /** exit = by itself; aborted = by the signal; stalled = by the watchdog. */
  ended: 'exit' | 'aborted' | 'stalled'
  code: number | null
  signal: NodeJS.Signals | null
  /** The last 64 KiB, without loopback addresses. */
  stderr: string
  /** The last progress report; null if there was none. */
  progress: FfmpegProgress | null
  /** The run was long enough to have used up its limit of processor time. */
  mayHaveReachedCpuLimit: boolean
}

/** ffprobe failed. `stderr` is without loopback addresses; `code` null = killed. */
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

/** The first descriptor after the standard three; the output of a reader is `pipe:` and this number plus its index. */
export const FIRST_PIPE_FD = 3
const STDERR_BYTES = 64 * 1024
/** From SIGTERM to SIGKILL. An aborted task ends well within 3 s. */
const GRACE_MS = 1500
const STALL_MS = 60_000
const PROBE_TIMEOUT_MS = 60_000
const PROBE_CORES = 4
/** Of a program that answers within a second of its own: how long the machine's other work makes that take is unknown. */
export const BRIEF_RUN = { timeoutMs: 5 * 60_000, limits: { cpuSeconds: 20 } } as const
/** Tolerance: the kernel counts in whole seconds, and time in use by other threads is not counted yet. */
const CPU_ROUNDING_SECONDS = 2
/** From SIGKILL to closing pipes that a process outside of the group keeps open. */
const PIPE_CLOSE_MS = 1000
/** 100 streams with all their fields are far below this. */
const PROBE_OUTPUT_BYTES = 8 * 1024 * 1024

/**
 * Runs ffmpeg to its end and returns how it ended; it does not throw if ffmpeg fails.
 * Throws if the program cannot be started at all.
 */
export async function runFfmpeg(
  engine: FfmpegPrograms,
  args: readonly string[],
  options: RunOptions,
): Promise<FfmpegResult> {
  let ended: FfmpegResult['ended'] = 'exit'
  let progress: FfmpegProgress | null = null
  const { pipeReaders: readers = [], pipeFeed } = options
  const ffmpegProcess = await spawnProcess(
    engine,
    engine.ffmpeg,
    args,
    options,
    readers.length + (pipeFeed?.count ?? 0),
  )
  const stop = (why: 'aborted' | 'stalled') => {
    if (ended === 'exit') ended = why
    ffmpegProcess.kill()
  }

  const pipes = ffmpegProcess.child.stdio.slice(FIRST_PIPE_FD) as Socket[]
  const signs: SignsOfWork = {
    pipeBytes: () => pipes.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0),
    files: options.outputFiles ?? [],
    bytesRead: options.bytesRead,
    isBlocked: options.isBlocked,
  }
  const watchdog = new Watchdog(signs, options.stallMs ?? STALL_MS, () => stop('stalled'))
  const read = progressReader((report) => {
    const moved =
      progress === null ||
      report.frame !== progress.frame ||
      report.outSeconds !== progress.outSeconds ||
      report.totalBytes !== progress.totalBytes
    progress = report
    if (moved) watchdog.moved()
    options.onProgress?.(report)
  })
  const decoder = new StringDecoder('utf8')
  ffmpegProcess.child.stdout?.on('data', (block: Buffer) => read(decoder.write(block)))

  const abort = () => stop('aborted')
  options.signal?.addEventListener('abort', abort, { once: true })
  if (options.signal?.aborted === true) abort()
  const readersDone = Promise.all(
    readers.map((take, index) =>
      take(ffmpegProcess.child.stdio[FIRST_PIPE_FD + index] as Readable).catch((error: unknown) => {
        ffmpegProcess.kill()
        throw error
      }),
    ),
  )
  readersDone.catch(() => undefined) // handled after ffmpeg has ended
  const feeding = pipeFeed === undefined ? null : startFeed(ffmpegProcess, pipeFeed, readers.length)
  try {
    const { code, signal } = await ffmpegProcess.closed
    const feedError = await feeding?.end()
    if (ended === 'exit' && feedError !== undefined) throw feedError.reason
    if (ended === 'exit') ffmpegProcess.requireNotKilled(signal)
    await readersDone.catch((error: unknown) => {
      // If ffmpeg was stopped, a broken stream is the consequence and not an error of its own.
      if (ended === 'exit') throw error
    })
    return {
      ended,
      code,
      signal,
      stderr: ffmpegProcess.stderr(),
      progress,
      mayHaveReachedCpuLimit: ffmpegProcess.mayHaveReachedCpuLimit(),
    }
  } finally {
    watchdog.stop()
    options.signal?.removeEventListener('abort', abort)
  }
}

/** `end` is called after ffmpeg has ended, and resolves to the error that ended ffmpeg, if the feed failed first. */
function startFeed(
  { child, kill }: RunningProcess,
  feed: PipeFeed,
  first: number,
): { end: () => Promise<{ reason: unknown } | undefined> } {
  const over = new AbortController()
  const pipes = Array.from({ length: feed.count }, (_, index) => child.stdio[FIRST_PIPE_FD + first + index] as Writable)
  // ffmpeg may end before it has read everything. Its exit explains that better than a broken pipe.
  for (const pipe of pipes) pipe.on('error', () => undefined)
  let failure: { reason: unknown } | undefined
  const done = feed.write(pipes, over.signal).catch((reason: unknown) => {
    if (over.signal.aborted || pipes.some((pipe) => pipe.errored !== null && pipe.errored === reason)) return
    failure = { reason }
    kill()
  })
  return {
    end: async () => {
      over.abort()
      await done
      return failure
    },
  }
}

/** Runs ffprobe and returns its output. Throws FfprobeError; EngineError if it was killed from outside. */
export async function runFfprobe(
  engine: FfmpegPrograms,
  args: readonly string[],
  options: {
    cwd: string
    purpose?: string
    signal?: AbortSignal
    timeoutMs?: number
    /** The most that it may write; default 8 MiB. */
    outputBytes?: number
    limits?: Partial<SandboxLimits>
  },
): Promise<string> {
  let ended: FfprobeError['ended'] = 'exit'
  const timeoutMs = options.timeoutMs ?? PROBE_TIMEOUT_MS
  // Some of its decoders use several threads.
  const limits = { cpuSeconds: (timeoutMs / 1000) * PROBE_CORES, ...options.limits }
  const ffprobeProcess = await spawnProcess(engine, engine.ffprobe, args, { ...options, limits })
  const stop = (why: FfprobeError['ended']) => {
    if (ended === 'exit') ended = why
    ffprobeProcess.kill()
  }
  const blocks: Buffer[] = []
  let bytes = 0
  ffprobeProcess.child.stdout?.on('data', (block: Buffer) => {
    bytes += block.length
    if (bytes > (options.outputBytes ?? PROBE_OUTPUT_BYTES)) stop('too_much_output')
    else blocks.push(block)
  })
  const timer = setTimeout(stop, timeoutMs, 'timeout')
  const abort = () => stop('aborted')
  options.signal?.addEventListener('abort', abort, { once: true })
  if (options.signal?.aborted === true) abort()
  try {
    const { code, signal } = await ffprobeProcess.closed
    if (ended === 'exit') ffprobeProcess.requireNotKilled(signal)
    if (ended !== 'exit' || code !== 0) throw new FfprobeError(ended, code, signal, ffprobeProcess.stderr())
    return Buffer.concat(blocks).toString('utf8')
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
  }
}

interface RunningProcess {
  child: ChildProcess
  closed: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  stderr: () => string
  /** Sends SIGTERM to the whole group now, SIGKILL after a grace period. */
  kill: () => void
  /** False if the run was so short that all cores together cannot have used up the processor time. */
  mayHaveReachedCpuLimit: () => boolean
  /** @throws EngineError if it was ended by a SIGKILL that this process did not send. */
  requireNotKilled: (signal: NodeJS.Signals | null) => void
}

/** A transcoder works on one attempt at a time: all of these belong to it. */
const running = new Set<ChildProcess>()

async function spawnProcess(
  engine: FfmpegPrograms,
  program: string,
  args: readonly string[],
  options: Pick<RunOptions, 'cwd' | 'purpose' | 'outputFiles' | 'limits' | 'onLine'>,
  pipes = 0,
): Promise<RunningProcess> {
  const sandbox = engine.sandbox ?? (await minimalSandbox())
  const { outputFiles = [], cwd } = options
  const limits = { ...defaultLimits, ...(outputFiles.length === 0 ? { fileBytes: 0 } : {}), ...options.limits }
  await createOutputFiles(outputFiles, sandbox.user)
  const [command, ...commandArgs] = sandboxedCommand(sandbox, program, args, { limits, cwd })
  const child = spawn(command, commandArgs, {
    cwd,
    // A process group of its own: it can be ended as a whole, and a Ctrl-C for the transcoder does not reach it first.
    detached: true,
    env: sandboxEnvironment(),
    // ffmpeg never gets the terminal; stdout carries the progress.
    stdio: ['ignore', 'pipe', 'pipe', ...Array.from({ length: pipes }, () => 'pipe' as const)],
  })
  running.add(child)
  const began = performance.now()
  const onEnd = engine.onRun?.({ program, args, purpose: options.purpose ?? basename(program) })
  let tail = Buffer.alloc(0)
  const keep = (block: Buffer) => {
    tail = Buffer.concat([tail, block]).subarray(-STDERR_BYTES)
  }
  const { onLine } = options
  const lines =
    onLine === undefined ? null : lineReader((line) => void (onLine(line) && keep(Buffer.from(`${line}\n`))))
  child.stderr!.on('data', (block: Buffer) => {
    if (lines === null) keep(block)
    else lines.push(block)
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
  // ffmpeg has no children: a process left in its group could keep its pipes open indefinitely.
  const clearUp = () => send('SIGKILL')
  const finish = () => {
    isKilledByUs = true
    clearUp()
    // Ends all processes of this user, but not while another program of the attempt is running.
    if (running.size === 1) void killUserProcesses(sandbox.user)
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
    onEnd?.({ code, stderr: stderr() })
    resolve({ code, signal })
  })
  return {
    child,
    closed: promise.finally(() => {
      clearTimeout(killer)
    }),
    stderr,
    mayHaveReachedCpuLimit: () => {
      const seconds = (performance.now() - began) / 1000
      return limits.cpuSeconds > 0 && seconds * availableParallelism() >= limits.cpuSeconds - CPU_ROUNDING_SECONDS
    },
    kill: () => {
      // After the end, another program may run as the same user, and must not be killed.
      if (isClosed) return
      send('SIGTERM')
      killer ??= setTimeout(finish, GRACE_MS)
    },
    requireNotKilled: (signal) => {
      if (signal !== 'SIGKILL' || isKilledByUs) return
      const message = 'ffmpeg was killed from outside, most likely because the machine ran out of memory.'
      throw new EngineError('killed', message)
    },
  }
}

/** Longer than any line of ffmpeg. The rest of a longer line is left out, or becomes another line. */
const MAX_LINE = 4096

function lineReader(onLine: (line: string) => void): { push: (block: Buffer) => void; end: () => void } {
  const decoder = new StringDecoder('utf8')
  let partialLine = ''
  return {
    push: (block) => {
      const lines = (partialLine + decoder.write(block)).split('\n')
      partialLine = lines.pop() ?? ''
      for (const line of lines) onLine(line.slice(0, MAX_LINE))
      if (partialLine.length <= MAX_LINE) return
      onLine(partialLine)
      partialLine = ''
    },
    end: () => {
      if (partialLine !== '') onLine(partialLine)
      partialLine = ''
    },
  }
}
