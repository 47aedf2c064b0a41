// In charge of: the local service as a whole: engine, database, transcoders, Worker; in this order up, in reverse down.
// Not in charge of: one child's life (child.ts), what is printed (start.ts, demo.ts).
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { locateEngine, type Engine } from '../../transcoder/ffmpeg/locate.ts'
import { KeptChild } from './child.ts'
import { openLog, type LogFile } from './log.ts'
import { migrate } from './migrate.ts'
import { keepPulse, ringCron, untilHealthy } from './pulse.ts'
import { runSecrets, storedSecrets, type RunSecrets, type StoredSecrets } from './secrets.ts'
import type { LocalSettings } from './settings.ts'
import type { TranscoderStart } from './transcoder.ts'
import type { WorkerReady, WorkerStart } from './worker.ts'

export interface RunningService {
  baseUrl: string
  apiKey: string
  adminKey: string
  /** null where transcoders are someone else's: they have their own. */
  engine: Engine | null
  transcoderUrls: string[]
  /** As they are now; null while one is being started again. */
  pids: () => { start: number; worker: number | null; workerd: number | null; transcoders: (number | null)[] }
}

/** A cancelled encode needs 2 s, giving a task back a request; then the hard way. */
const TRANSCODER_GRACE_MS = 8_000
const WORKER_GRACE_MS = 6_000
const PORT_TRIES = 3

interface TranscoderReady {
  transcoder: 'ready'
  url: string
}

export class LocalService {
  readonly #settings: LocalSettings
  readonly #report: (line: string) => void
  readonly #stopped = new AbortController()
  readonly #logs: LogFile[] = []
  #transcoders: KeptChild<TranscoderReady>[] = []
  #worker: KeptChild<WorkerReady> | null = null
  #runtimes: WorkerReady['ready']['workerd'] | null = null
  #migrating: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | null = null

  constructor(settings: LocalSettings, report: (line: string) => void) {
    this.#settings = settings
    this.#report = report
  }

  /** @throws Error with a sentence for people; whatever was started by then is stopped by `stop` */
  async start(): Promise<RunningService> {
    const { stateDir, inherited, engine: enginePaths, port, apiKey, remote } = this.#settings
    if (port !== 0) await requireFree(port)
    const engine = remote === null ? await locateEngine({ ...inherited, ...enginePaths }) : null
    await mkdir(this.#settings.workDir, { recursive: true })
    const stored = await storedSecrets(stateDir)
    const secrets = { ...stored, ...(apiKey === null ? {} : { API_KEY: apiKey }) }
    const run = { ...runSecrets(), ...(remote === null ? {} : { TRANSCODER_SECRET: remote.secret }) }

    this.#abortIfStopped()
    const migrated = migrate(stateDir, this.#wranglerEnv(), this.#stopped.signal)
    this.#migrating = migrated.catch(() => undefined)
    const transcoderUrls = remote?.urls ?? (await this.#startTranscoders(run))
    await migrated
    const baseUrl = await this.#startWorker(secrets, run, transcoderUrls)
    await untilHealthy(baseUrl, this.#stopped.signal)
    keepPulse(
      {
        baseUrl,
        runtimes: () => this.#runtimes?.all ?? null,
        onDead: (why) => {
          this.#report(`The Worker is ended: ${why}.`)
          this.#runtimes = null
          this.#worker?.kill()
        },
      },
      this.#stopped.signal,
    )
    return {
      baseUrl,
      apiKey: secrets.API_KEY,
      adminKey: secrets.ADMIN_KEY,
      engine,
      transcoderUrls,
      pids: () => ({
        start: process.pid,
        worker: this.#worker?.pid ?? null,
        workerd: this.#runtimes?.worker ?? null,
        transcoders: this.#transcoders.map((child) => child.pid),
      }),
    }
  }

  /** Stops everything that was started, also half-way through a start. Transcoders first: they give their task back to the Worker. */
  stop(): Promise<void> {
    this.#stopped.abort()
    this.#stopping ??= (async () => {
      await Promise.all(this.#transcoders.map((child) => child.stop(TRANSCODER_GRACE_MS)))
      await this.#worker?.stop(WORKER_GRACE_MS)
      await this.#migrating
      for (const { stream } of this.#logs) stream.end()
    })()
    return this.#stopping
  }

  /** Whoever asks a second time does not want to wait. */
  kill(): void {
    for (const child of [...this.#transcoders, this.#worker]) child?.kill()
  }

  #abortIfStopped(): void {
    if (this.#stopped.signal.aborted) throw new Error('The start was interrupted.')
  }

  async #startTranscoders(run: RunSecrets): Promise<string[]> {
    const { transcoders, inherited, engine, workDir } = this.#settings
    // Any port at first, the same one ever after: the Worker knows it by its address.
    const ports = Array.from({ length: transcoders }, () => '0')
    this.#transcoders = ports.map(
      (_, index) =>
        new KeptChild<TranscoderReady>({
          name: transcoders === 1 ? 'transcoder' : `transcoder ${index}`,
          script: join(import.meta.dirname, 'transcoder.ts'),
          env: () => ({ ...inherited, ...engine, HOST: '127.0.0.1', PORT: ports[index] ?? '0', WORK_DIR: workDir }),
          message: () => ({ secret: run.TRANSCODER_SECRET }) satisfies TranscoderStart,
          ready: (sign) =>
            (sign as TranscoderReady | null)?.transcoder === 'ready' ? (sign as TranscoderReady) : null,
          log: this.#openLog(`transcoder-${index}`),
          report: this.#report,
          onReady: ({ url }) => {
            ports[index] = new URL(url).port
          },
        }),
    )
    const ready = await Promise.all(this.#transcoders.map((child) => child.start()))
    return ready.map(({ url }) => url)
  }

  async #startWorker(stored: StoredSecrets, run: RunSecrets, transcoderUrls: string[]): Promise<string> {
    for (let tries = 1; ; tries++) {
      const port = this.#settings.port || (await freePort())
      this.#abortIfStopped()
      const baseUrl = `http://127.0.0.1:${port}`
      const child = new KeptChild<WorkerReady>({
        name: 'worker',
        script: join(import.meta.dirname, 'worker.ts'),
        env: () => this.#wranglerEnv(),
        message: () => this.#workerStart(port, stored, run, transcoderUrls),
        ready: (sign) => ((sign as Partial<WorkerReady> | null)?.ready ? (sign as WorkerReady) : null),
        failure: (sign) => (sign as { failed?: string } | null)?.failed ?? null,
        log: this.#openLog('worker'),
        report: (line) => {
          this.#runtimes = null
          this.#report(line)
        },
        onReady: ({ ready }) => {
          this.#runtimes = ready.workerd
          void ringCron(baseUrl)
        },
      })
      this.#worker = child
      try {
        await child.start()
        return baseUrl
      } catch (error) {
        // Between the choice of a free port and its use someone else may take it.
        if (this.#settings.port !== 0 || tries >= PORT_TRIES || this.#stopped.signal.aborted) throw error
        this.#report(`The worker could not start on port ${port}; another one is tried.`)
      }
    }
  }

  #workerStart(port: number, stored: StoredSecrets, run: RunSecrets, transcoderUrls: string[]): WorkerStart {
    const { stateDir, allowPrivateHosts, connectTo, leaseSeconds, remote } = this.#settings
    return {
      port,
      stateDir,
      bindings: {
        ...stored,
        ...run,
        EGRESS: 'pinned',
        TRANSCODER_URLS: transcoderUrls.join(','),
        DOOR_URL: remote?.doorUrl ?? `http://127.0.0.1:${port}`,
        ALLOW_PRIVATE_HOSTS: allowPrivateHosts,
        ...(leaseSeconds === null ? {} : { LEASE_SECONDS: leaseSeconds }),
      },
      allowPrivateHosts: allowPrivateHosts
        .split(',')
        .map((host) => host.trim().toLowerCase())
        .filter((host) => host !== ''),
      connectTo,
      internalToken: run.INTERNAL_TOKEN,
      internalOrigins: transcoderUrls,
    }
  }

  /** Quiet, no look-ups, no questions; wrangler's own debug log goes beside ours. */
  #wranglerEnv(): Record<string, string> {
    return {
      ...this.#settings.inherited,
      // wrangler starts the [build] of wrangler.toml by the name "node", which may be an older one elsewhere.
      PATH: [dirname(process.execPath), this.#settings.inherited['PATH'] ?? ''].join(delimiter),
      CI: '1',
      NO_COLOR: '1',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_HIDE_BANNER: 'true',
      // Its trace store would keep every address that the Worker fetched on disk, with signatures and tokens (I15).
      X_LOCAL_OBSERVABILITY: 'false',
      WRANGLER_LOG_PATH: join(this.#settings.stateDir, 'logs', 'wrangler'),
    }
  }

  #openLog(name: string): LogFile {
    const log = openLog(this.#settings.stateDir, name)
    this.#logs.push(log)
    return log
  }
}

async function requireFree(port: number): Promise<void> {
  await freePort(port).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${error.code})`
    throw new Error(
      `Port ${port} ${why}. Choose another one (PORT=8080 npm start), or any free one (PORT=0 npm start).`,
    )
  })
}

/** The port that the system gives for `wanted` (0 = any); nothing listens on it when this returns. */
function freePort(wanted = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : wanted))
    })
  })
}
