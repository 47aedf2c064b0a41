// In charge of: keeping one child process running: start, readiness, restart after a pause, stop with its process
// group.
// Not in charge of: the work of the process and its messages (the caller provides both).
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { lastLines, type LogFile } from './processLog.ts'
import { waitForGroupExit, signalGroup } from './processGroup.ts'
import { startGivenUp } from './startPatience.ts'

export interface ProcessOptions<Ready> {
  /** Name for people: "worker", "transcoder 0". */
  name: string
  /** Absolute path of the script. */
  script: string
  /** Visible to all users of this machine. */
  args?: readonly string[]
  /** The complete environment of the process. */
  env: () => Record<string, string>
  /** Sent by IPC after the start. It may contain secrets. */
  message: () => object
  /** Interprets an IPC message or a line of standard output: the value if it means "ready", else null. */
  ready: (sign: unknown) => Ready | null
  /** The text of an error message that the process sent by IPC; null for any other message. */
  failure?: (sign: unknown) => string | null
  log: LogFile
  /** Receives messages for people, also those that the process sends as `{ report }`. */
  report: (line: string) => void
  onReady?: (ready: Ready) => void
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000
/** After running this long, a process is restarted with the shortest pause again. */
const SETTLED_MS = 30_000
const KILL_MS = 5_000

export class SupervisedProcess<Ready> {
  readonly #options: ProcessOptions<Ready>
  #child: ChildProcess | null = null
  #stopping = false
  #isReady = false
  #restarts = 0
  #startedAt = 0

  constructor(options: ProcessOptions<Ready>) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  /** null while the process is not running. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** False while it starts or starts again. */
  get isReady(): boolean {
    return this.#isReady
  }

  /**
   * Resolves with the "ready" value; rejects if the first start fails. Later starts are repeated until they succeed.
   */
  start(): Promise<Ready> {
    return this.#launch()
  }

  /** Kills the process at once. It is restarted as after a crash. */
  kill(): void {
    if (this.#child?.pid !== undefined) signalGroup(this.#child.pid, 'SIGKILL')
  }

  /**
   * SIGTERM to the leader, which ends its own children; after `graceMs` SIGKILL to the whole group. Resolves when all
   * have ended.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true
    const pid = this.#child?.pid
    if (pid === undefined) return
    this.#child?.kill('SIGTERM')
    if (!(await waitForGroupExit(pid, graceMs))) {
      signalGroup(pid, 'SIGKILL')
      await waitForGroupExit(pid, KILL_MS)
    }
  }

  async #launch(): Promise<Ready> {
    const { name, script, args, env, message, log, onReady } = this.#options
    this.#startedAt = Date.now()
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...(args ?? [])], {
      env: env(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A separate process group: a Ctrl-C in the terminal reaches only the supervisor, which stops everything in
      // order.
      detached: true,
    })
    this.#child = child
    child.stderr?.pipe(log.stream, { end: false })
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
    })
    const ready = this.#readSignals(child)
    child.send(message(), () => undefined)
    const late = new AbortController()
    const first = await Promise.race([
      ready,
      exited.then((how) => new Error(`The ${name} exited during startup (${how}).\n${lastLines(log.path, 15)}`)),
      startGivenUp(child.pid ?? 0, late.signal).then(
        (why) => new Error(`The ${name} ${why}.\n${lastLines(log.path, 15)}`),
        () => new Error('unreachable'),
      ),
    ])
    late.abort()
    if (first instanceof Error) {
      await this.#killGroup(child)
      throw first
    }
    this.#isReady = true
    void exited.then((how) => this.#restart(child, how))
    onReady?.(first)
    return first
  }

  /** Reads messages and lines until one means "ready", and appends the lines to the log. */
  #readSignals(child: ChildProcess): Promise<Ready | Error> {
    const { ready, failure, log, report } = this.#options
    child.on('message', (sign) => {
      const told = (sign as { report?: string } | null)?.report
      if (told !== undefined) report(told)
    })
    return new Promise((resolve) => {
      const judge = (sign: unknown): void => {
        const problem = failure?.(sign) ?? null
        if (problem !== null) resolve(new Error(problem))
        const answer = ready(sign)
        if (answer !== null) resolve(answer)
      }
      child.on('message', judge)
      if (child.stdout === null) return
      createInterface({ input: child.stdout }).on('line', (line) => {
        log.stream.write(`${line}\n`)
        if (line.startsWith('{')) judge(parsed(line))
      })
    })
  }

  async #restart(child: ChildProcess, how: string): Promise<void> {
    const { name, report } = this.#options
    this.#isReady = false
    await this.#killGroup(child)
    if (Date.now() - this.#startedAt > SETTLED_MS) this.#restarts = 0
    while (!this.#stopping) {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#restarts++)
      report(`The ${name} exited (${how}); restarting it in ${pauseMs / 1000} s.`)
      await pause(pauseMs)
      if (this.#stopping) return
      try {
        await this.#launch()
        report(`The ${name} runs again.`)
        return
      } catch (error) {
        how = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
      }
    }
  }

  /** Processes that are left after the leader's end would still occupy its port or its files. */
  async #killGroup(child: ChildProcess): Promise<void> {
    if (child.pid !== undefined) {
      signalGroup(child.pid, 'SIGKILL')
      await waitForGroupExit(child.pid, KILL_MS)
    }
    if (this.#child === child) this.#child = null
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return null
  }
}
