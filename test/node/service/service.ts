// In charge of: starting the real service as a person would, speaking to it as a client would, and ending it.
// Not in charge of: expectations.
import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { PublicEvent } from '../../../worker/contract/events.ts'
import type { PublicStatus } from '../../../worker/contract/status.ts'
import { childrenOf, type ProcessEntry } from '../../../scripts/local/processes.ts'

export const ROOT = resolve(import.meta.dirname, '../../..')
const START_MS = 90_000
const STOP_MS = 30_000

export interface ReadyLine {
  ready: true
  base_url: string
  api_key: string
  admin_key: string
  transcoder_urls: string[]
  pids: { start: number; worker: number; workerd: number | null; transcoders: number[] }
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** Asks again and again until the answer is neither null nor false. */
export async function until<T>(what: string, ask: () => T | Promise<T>, ms = 60_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`)
    await pause(50)
  }
}

export class Service {
  readonly ready: ReadyLine
  readonly stateDir: string
  /** Everything it wrote to standard output, line by line. */
  readonly stdout: string[]
  readonly stderr: () => string
  readonly exited: Promise<Exit>
  private constructor(made: Pick<Service, 'ready' | 'stateDir' | 'stdout' | 'stderr' | 'exited'>) {
    this.ready = made.ready
    this.stateDir = made.stateDir
    this.stdout = made.stdout
    this.stderr = made.stderr
    this.exited = made.exited
  }

  /** `root`: another copy of the source than this one. */
  static async start(env: Record<string, string> = {}, root = ROOT): Promise<Service> {
    const stateDir = await mkdtemp(join(tmpdir(), 'splicepoint-service-'))
    const child = spawn(process.execPath, [join(root, 'scripts/start.ts'), '--json'], {
      env: { ...process.env, PORT: '0', STATE_DIR: stateDir, LEASE_SECONDS: '3', ...env },
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
    const late = new AbortController()
    const line = await Promise.race([
      first,
      exited.then(() => null),
      pause(START_MS, null, { signal: late.signal }).catch(() => null),
    ])
    late.abort()
    if (line === null) {
      child.kill('SIGTERM')
      await exited
      await rm(stateDir, { recursive: true, force: true })
      throw new Error(`the service did not start:\n${errors}`)
    }
    const ready = JSON.parse(line) as ReadyLine
    return new Service({ ready, stateDir, stdout, stderr: () => errors, exited })
  }

  get base(): string {
    return this.ready.base_url
  }

  /** Its transcoder's process now, which changes with every restart. */
  transcoder(): ProcessEntry | null {
    return this.transcoders()[0] ?? null
  }

  transcoders(): ProcessEntry[] {
    return childrenOf(this.ready.pids.start).filter(({ argv }) => argv.some((part) => part.endsWith('transcoder.ts')))
  }

  worker(): ProcessEntry | null {
    return childrenOf(this.ready.pids.start).find(({ argv }) => argv.some((part) => part.endsWith('worker.ts'))) ?? null
  }

  /** The workerd that runs our code: the other one holds the public port. */
  runtime(): ProcessEntry | null {
    const port = new URL(this.base).port
    const host = this.worker()?.pid
    const all = host === undefined ? [] : childrenOf(host).filter(({ program }) => program === 'workerd')
    return all.find(({ argv }) => !argv.some((part) => part.endsWith(`:${port}`))) ?? null
  }

  isServing(): Promise<boolean> {
    return fetch(`${this.base}/health`).then(
      (response) => response.status === 200,
      () => false,
    )
  }

  /** The encoders that run now. */
  encoders(): ProcessEntry[] {
    return this.transcoders().flatMap(({ pid }) =>
      childrenOf(pid).filter(({ program }) => program.startsWith('ffmpeg')),
    )
  }

  /** What lies in the transcoder's scratch space. */
  async leftOver(): Promise<string[]> {
    return readdir(join(this.stateDir, 'work'))
  }

  call(path: string, init: RequestInit & { password?: string } = {}): Promise<Response> {
    const user = Buffer.from(`${this.ready.api_key}:${init.password ?? ''}`).toString('base64')
    return fetch(this.base + path, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization: `Basic ${user}` },
    })
  }

  async upload(path: string): Promise<string> {
    const { size } = await stat(path)
    const response = await this.call('/uploads', {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
      body: Readable.toWeb(createReadStream(path)),
      duplex: 'half',
    })
    if (response.status !== 201) throw new Error(`upload: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { input: string }).input
  }

  async create(body: object): Promise<number> {
    const response = await this.call('/api/v0/job', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (response.status !== 200) throw new Error(`create: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { _auto_generated_id_: number })._auto_generated_id_
  }

  /** null while the Worker is away. */
  async status(id: number): Promise<PublicStatus | null> {
    const response = await this.call(`/api/v0/job/${id}`).catch(() => null)
    if (response?.status !== 200) return null
    return ((await response.json()) as { status: PublicStatus }).status
  }

  /** Its timeline. */
  async events(id: number): Promise<PublicEvent[]> {
    const response = await this.call(`/api/v0/job/${id}/events`)
    return ((await response.json()) as { events: PublicEvent[] }).events
  }

  /** Polls until the job has ended. */
  ended(id: number, ms = 120_000): Promise<PublicStatus> {
    return until(
      `job ${id} to end`,
      async () => {
        const status = await this.status(id)
        return status?.job_completed === true ? status : null
      },
      ms,
    )
  }

  /** Polls until the encoder has made something of the job, and not all of it. */
  encoding(id: number): Promise<PublicStatus> {
    return until(`job ${id} to be half-way`, async () => {
      const status = await this.status(id)
      if (status?.job_completed) throw new Error(`it ended before: ${JSON.stringify(status)}`)
      return status?.phase === 'transcoding' && Number(status.tcode_progress) > 0 ? status : null
    })
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    process.kill(this.ready.pids.start, signal)
    const late = new AbortController()
    const exit = await Promise.race([this.exited, pause(STOP_MS, null, { signal: late.signal }).catch(() => null)])
    late.abort()
    if (exit === null) throw new Error(`it did not stop:\n${this.stderr()}`)
    return exit
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = await Promise.race([this.exited.then(() => true), pause(0, false)])
    if (!gone) await this.stop()
    await rm(this.stateDir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** A small valid job: one rendition of 320x180, with the first audio stream unless told otherwise. */
export function jobOf(input: string, provider: 'file-upload' | 'http', change: object = {}): object {
  return {
    input,
    videoProfiles: [{ output: 'video.mp4', width: 320, height: 180, video_bitrate: 400 }],
    audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '96', source_stream: '1' }],
    cloud_credentials: { input: { cloud_provider: provider }, output: { cloud_provider: 'vendor-store' } },
    ...change,
  }
}
