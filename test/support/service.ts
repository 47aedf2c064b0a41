// In charge of: starting the real service as a user would, and stopping it.
// Not in charge of: calling it as a client would (testClient.ts), expectations.
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { childrenOf, isAlive, type ProcessEntry } from '../../scripts/local/processes/processGroup.ts'
import { JOB_TIMEOUT_MS, STEP_TIMEOUT_MS } from './timeouts.ts'
import { TestClient } from './testClient.ts'

export { jobRequest, waitFor } from './testClient.ts'

export const ROOT = resolve(import.meta.dirname, '../..')

export interface ReadyLine {
  ready: true
  base_url: string
  /** Used in the addresses that it returns, unless a proxy sets another. */
  public_url: string
  api_key: string
  admin_key: string
  transcoder_urls: string[]
  pids: { start: number; worker: number; workerd: number | null; transcoders: number[] }
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export class Service extends TestClient {
  readonly ready: ReadyLine
  readonly stateDir: string
  /** Its standard output, line by line. */
  readonly stdout: string[]
  readonly stderr: () => string
  readonly exited: Promise<Exit>
  private constructor(fields: Pick<Service, 'ready' | 'stateDir' | 'stdout' | 'stderr' | 'exited'>) {
    super(fields.ready.base_url, fields.ready.api_key)
    this.ready = fields.ready
    this.stateDir = fields.stateDir
    this.stdout = fields.stdout
    this.stderr = fields.stderr
    this.exited = fields.exited
  }

  /** `root`: another copy of the source than this one. */
  static async start(env: Record<string, string> = {}, root = ROOT): Promise<Service> {
    const stateDir = await mkdtemp(join(tmpdir(), 'splicepoint-service-'))
    const child = spawn(process.execPath, [join(root, 'scripts/start.ts'), '--json'], {
      env: { ...process.env, PORT: '0', STATE_DIR: stateDir, LEASE_SECONDS: '3', DRY_RUN_TRANSCODERS: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const stdout: string[] = []
    const exited = new Promise<Exit>((done) => child.once('close', (code, signal) => done({ code, signal })))
    const first = new Promise<string>((done) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        stdout.push(line)
        done(line)
      })
    })
    const timeout = new AbortController()
    const line = await Promise.race([
      first,
      exited.then(() => null),
      pause(JOB_TIMEOUT_MS, null, { signal: timeout.signal }).catch(() => null),
    ])
    timeout.abort()
    if (line === null) {
      child.kill('SIGTERM')
      await exited
      await rm(stateDir, { recursive: true, force: true })
      throw new Error(`the service did not start:\n${errors}`)
    }
    const ready = JSON.parse(line) as ReadyLine
    return new Service({ ready, stateDir, stdout, stderr: () => errors, exited })
  }

  /** The current process of its transcoder, which changes with every restart. */
  transcoder(): ProcessEntry | null {
    return this.transcoders()[0] ?? null
  }

  transcoders(): ProcessEntry[] {
    return childrenOf(this.ready.pids.start).filter(({ argv }) =>
      argv.some((part) => part.endsWith('transcoderProcess.ts')),
    )
  }

  worker(): ProcessEntry | null {
    return (
      childrenOf(this.ready.pids.start).find(({ argv }) => argv.some((part) => part.endsWith('workerProcess.ts'))) ??
      null
    )
  }

  /** The workerd process that runs our code. */
  runtime(): ProcessEntry | null {
    const host = this.worker()?.pid
    return host === undefined ? null : (childrenOf(host).find(({ program }) => program === 'workerd') ?? null)
  }

  /** The running encoder processes. */
  encoders(): ProcessEntry[] {
    return this.transcoders().flatMap(({ pid }) =>
      childrenOf(pid).filter(({ program }) => program.startsWith('ffmpeg')),
    )
  }

  /** Pauses the running encoders until it is disposed of. */
  pauseEncoders(): Disposable {
    const encoders = this.encoders()
    const send = (signal: NodeJS.Signals): void => {
      for (const { pid } of encoders) if (isAlive(pid)) process.kill(pid, signal)
    }
    send('SIGSTOP')
    return { [Symbol.dispose]: () => send('SIGCONT') }
  }

  /** Contents of the transcoder's work directory. */
  async workDirEntries(): Promise<string[]> {
    return readdir(join(this.stateDir, 'work'))
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    process.kill(this.ready.pids.start, signal)
    const late = new AbortController()
    const exit = await Promise.race([
      this.exited,
      pause(STEP_TIMEOUT_MS, null, { signal: late.signal }).catch(() => null),
    ])
    late.abort()
    if (exit === null) throw new Error(`it did not stop:\n${this.stderr()}`)
    return exit
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const hasExited = await Promise.race([this.exited.then(() => true), pause(0, false)])
    if (!hasExited) await this.stop()
    await rm(this.stateDir, { recursive: true, force: true, maxRetries: 3 })
  }
}
