// In charge of: the local service: starts engine, database, transcoders and Worker in this order, and stops them in
// reverse order.
// Not in charge of: a single child process (processes/supervisedProcess.ts), what is printed (scripts/start.ts,
// demo.ts).
import { mkdir, statfs } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { locateEngine, type Engine } from '../../transcoder/ffmpeg/locate.ts'
import { probeTranscoder } from './processes/transcoderProbe.ts'
import { childrenOf } from './processes/processGroup.ts'
import { SupervisedProcess } from './processes/supervisedProcess.ts'
import { ReverseProxy } from './proxy/reverseProxy.ts'
import { killOrphans, processMarker } from './processes/orphans.ts'
import { acquireStateLock, type StateLock } from './stateLock.ts'
import { keepNewestLogs, openProcessLog, type LogFile } from './processes/processLog.ts'
import { applyMigrations } from './applyMigrations.ts'
import { removeEmptyObjects, type KnownObjects } from './emptyObjects.ts'
import { probeWorker, triggerCron, waitUntilHealthy } from './processes/workerProbe.ts'
import { createRunSecrets, loadStoredSecrets, type RunSecrets, type StoredSecrets } from './localSecrets.ts'
import { currentCommit } from './currentCommit.ts'
import { ROOT, type LocalSettings } from './localSettings.ts'
import { openStateDirectory, type StateDirectory } from './stateDirectory.ts'
import type { TranscoderStart } from './transcoderProcess.ts'
import type { WorkerReady, WorkerStart } from './workerProcess.ts'

export interface RunningService {
  baseUrl: string
  apiKey: string
  adminKey: string
  /** null if transcoders are remote: they have their own engine. */
  engine: Engine | null
  transcoderUrls: string[]
  /** Current process ids; null while a process is being restarted. */
  pids: () => { start: number; worker: number | null; workerd: number | null; transcoders: (number | null)[] }
}

/**
 * Directory for Node's compile cache: the Worker's process starts with 2 s less of processor time, and a transcoder needs
 * 28 MB less. It is next to the packages because both contain executed code, so both need the same write protection.
 */
const COMPILED = join(ROOT, 'node_modules', '.cache', 'splicepoint')
/**
 * From the end of a drain until the process is killed: a cancelled encode needs 2 s, and giving back a task needs a
 * request.
 */
const TRANSCODER_GRACE_MS = 8_000
const WORKER_GRACE_MS = 6_000
const REMOVE_EVERY_MS = 60_000

interface TranscoderReady {
  transcoder: 'ready'
  url: string
}

export class LocalService {
  readonly #settings: LocalSettings
  readonly #report: (line: string) => void
  readonly #step: (line: string) => void
  readonly #stopped = new AbortController()
  readonly #logs: LogFile[] = []
  #transcoders: SupervisedProcess<TranscoderReady>[] = []
  #worker: SupervisedProcess<WorkerReady> | null = null
  #front: ReverseProxy | null = null
  #lock: StateLock | null = null
  #stopping: Promise<void> | null = null

  /** @param report receives errors at any time @param step receives the progress of the start */
  constructor(settings: LocalSettings, report: (line: string) => void, step: (line: string) => void = () => undefined) {
    this.#settings = settings
    this.#report = report
    this.#step = step
  }

  /** @throws Error with a message for people. Call `stop` to end what was started before the error */
  async start(): Promise<RunningService> {
    const { inherited, engine: enginePaths, apiKey, registrationSecret, remote } = this.#settings
    const state = await openStateDirectory(this.#settings.stateDir)
    this.#lock = await acquireStateLock(state.path, state.runDir)
    const front = new ReverseProxy(state.socket, {
      trustedProxies: this.#settings.trustedProxies,
      isDiskFull: () => isDiskFull(state.path),
    })
    const baseUrl = await this.#openPort(front)
    await killOrphans([processMarker(state.runDir), `unix:${state.socket}`], this.#report)
    const engine =
      remote === null && this.#settings.transcoders > 0 ? await locateEngine({ ...inherited, ...enginePaths }) : null
    if (engine !== null) this.#step(`ffmpeg ${engine.version}: ${engine.ffmpeg}`)
    await mkdir(this.#settings.workDir, { recursive: true })
    keepNewestLogs(this.#wranglerLogs, this.#settings.logLimits.files)
    const stored = await loadStoredSecrets(state.path)
    const secrets = { ...stored, ...(apiKey === null ? {} : { API_KEY: apiKey }) }
    const secret = remote?.secret ?? registrationSecret
    const run = { ...createRunSecrets(), ...(secret === null ? {} : { TRANSCODER_SECRET: secret }) }

    this.#abortIfStopped()
    applyMigrations(state.path, this.#step)
    this.#step(`database: ${state.path}`)
    const transcoderUrls = remote?.urls ?? (await this.#startTranscoders(state, run, baseUrl))
    this.#step(`transcoders: ${transcoderUrls.join(', ') || 'those that register themselves'}`)
    this.#abortIfStopped()
    await this.#startWorker(state, baseUrl, secrets, run, transcoderUrls)
    await waitUntilHealthy(baseUrl, this.#stopped.signal)
    this.#step(`Worker: ${baseUrl}`)
    probeWorker(
      {
        baseUrl,
        socket: state.socket,
        isRunning: () => this.#worker?.isReady === true,
        onDead: (why) => {
          const waiting = this.#front?.longestWaiting() ?? []
          this.#report(
            `Restarting the Worker: ${why}.${waiting.length === 0 ? '' : ` Waiting: ${waiting.join(', ')}.`}`,
          )
          this.#worker?.kill()
        },
      },
      this.#stopped.signal,
    )
    void this.#removeEmptyObjects(state)
    for (const [index, child] of this.#transcoders.entries())
      void probeTranscoder(
        () => ({ name: child.name, pid: child.pid, url: transcoderUrls[index] ?? '', kill: () => child.kill() }),
        this.#report,
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
        workerd: this.#workerd,
        transcoders: this.#transcoders.map((child) => child.pid),
      }),
    }
  }

  /**
   * Stops everything that was started, even during a start. Transcoders first: they give their tasks back to the
   * Worker.
   */
  stop(): Promise<void> {
    this.#stopped.abort()
    const graceMs = this.#settings.drainSeconds * 1000 + TRANSCODER_GRACE_MS
    this.#stopping ??= (async () => {
      await Promise.all(this.#transcoders.map((child) => child.stop(graceMs)))
      await this.#worker?.stop(WORKER_GRACE_MS)
      await this.#front?.close()
      for (const { stream } of this.#logs) stream.end()
      // Released last: the next service finds no processes of this one.
      this.#lock?.release()
    })()
    return this.#stopping
  }

  /** For a second stop signal: ends all processes at once. */
  kill(): void {
    for (const child of [...this.#transcoders, this.#worker]) child?.kill()
  }

  #abortIfStopped(): void {
    if (this.#stopped.signal.aborted) throw new Error('Startup was interrupted.')
  }

  /** The port stays open while the service runs, even while the Worker restarts. */
  async #openPort(front: ReverseProxy): Promise<string> {
    const { host, port } = this.#settings
    try {
      const taken = await front.listen(port, host)
      this.#front = front
      return `http://${ownHost(host)}:${taken}`
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EADDRNOTAVAIL') throw new Error(`HOST=${host} is no address of this machine.`, { cause: error })
      const why = code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${code})`
      throw new Error(`Port ${port} ${why}. Choose another (PORT=8080 npm start) or any free one (PORT=0 npm start).`, {
        cause: error,
      })
    }
  }

  async #startTranscoders(state: StateDirectory, run: RunSecrets, baseUrl: string): Promise<string[]> {
    const { registrationSecret, transcoders, dryRunTranscoders, inherited, engine, workDir, drainSeconds, logLevel } =
      this.#settings
    // Any free port at first, then always the same: the Worker knows the transcoder by its address.
    const ports = Array.from({ length: transcoders + dryRunTranscoders }, () => '0')
    this.#transcoders = ports.map(
      (_, index) =>
        new SupervisedProcess<TranscoderReady>({
          name: index >= transcoders ? 'dry run transcoder' : transcoders === 1 ? 'transcoder' : `transcoder ${index}`,
          script: join(import.meta.dirname, 'transcoderProcess.ts'),
          args: [processMarker(state.runDir)],
          env: () => ({
            ...inherited,
            ...engine,
            HOST: '127.0.0.1',
            PORT: ports[index] ?? '0',
            WORK_DIR: workDir,
            DRAIN_SECONDS: String(drainSeconds),
            LOG_LEVEL: logLevel,
            // Like those on other machines, so that one list has them all.
            ...(registrationSecret === null ? {} : { SERVICE_URL: baseUrl, TRANSCODER_ID: `local-${index}` }),
            NODE_COMPILE_CACHE: COMPILED,
            MALLOC_ARENA_MAX: '2',
          }),
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

  async #startWorker(
    state: StateDirectory,
    baseUrl: string,
    stored: StoredSecrets,
    run: RunSecrets,
    transcoderUrls: string[],
  ): Promise<void> {
    const {
      allowPrivateHosts,
      baseUrl: publicUrl,
      connectTo,
      dryRunTranscoders,
      logLevel,
      registrationSecret,
      remote,
      trustedProxies,
      workerVariables,
    } = this.#settings
    const start: WorkerStart = {
      socket: state.socket,
      stateDir: state.path,
      bindings: {
        ...stored,
        ...run,
        EGRESS: 'pinned',
        LOG_LEVEL: logLevel,
        COMMIT: await currentCommit(),
        ...(registrationSecret === null
          ? {
              TRANSCODER_URLS: transcoderUrls.join(','),
              DRY_RUN_SLOTS: String(remote === null ? dryRunTranscoders : 0),
            }
          : { TRANSCODER_REGISTRATION: '1' }),
        TASK_API_URL: remote?.taskApiUrl ?? baseUrl,
        ALLOW_PRIVATE_HOSTS: allowPrivateHosts,
        ...(publicUrl === null ? {} : { BASE_URL: publicUrl }),
        // The reverse proxy passes on only the headers of those.
        ...(trustedProxies === 'all' || trustedProxies.length > 0 ? { TRUST_PROXY: '1' } : {}),
        ...workerVariables,
      },
      allowPrivateHosts: allowPrivateHosts
        .split(',')
        .map((host) => host.trim().toLowerCase())
        .filter((host) => host !== ''),
      connectTo,
      internalToken: run.INTERNAL_TOKEN,
      internalOrigins: registrationSecret === null ? transcoderUrls : 'any',
    }
    this.#worker = new SupervisedProcess<WorkerReady>({
      name: 'worker',
      script: join(import.meta.dirname, 'workerProcess.ts'),
      args: [processMarker(state.runDir)],
      env: () => this.#wranglerEnv(),
      message: () => start,
      ready: (sign) => ((sign as Partial<WorkerReady> | null)?.ready ? (sign as WorkerReady) : null),
      failure: (sign) => (sign as { failed?: string } | null)?.failed ?? null,
      log: this.#openLog('worker'),
      report: this.#report,
      onReady: () => void triggerCron(state.socket),
    })
    await this.#worker.start()
  }

  /** null while there is none, and without /proc. miniflare starts one that crashed again, as another process. */
  get #workerd(): number | null {
    const worker = this.#worker?.pid
    if (worker == null) return null
    return childrenOf(worker).find(({ program }) => program === 'workerd')?.pid ?? null
  }

  /** Until the service stops. Not without /proc, which names the runtime and its open files. */
  async #removeEmptyObjects(state: StateDirectory): Promise<void> {
    const known: KnownObjects = new Map()
    let told = ''
    for (;;) {
      const isOver = await pause(REMOVE_EVERY_MS, false, { signal: this.#stopped.signal }).catch(() => true)
      if (isOver) return
      const workerd = this.#workerd
      if (workerd === null) continue
      await removeEmptyObjects(state, workerd, known).catch((error: unknown) => {
        const problem = error instanceof Error ? error.message : String(error)
        if (problem !== told) this.#report(`Files of ended jobs were not removed: ${problem}`)
        told = problem
      })
    }
  }

  /** No output, no telemetry, no prompts. wrangler's debug log is stored with the service's logs. */
  #wranglerEnv(): Record<string, string> {
    return {
      ...this.#settings.inherited,
      // wrangler runs the [build] command of wrangler.toml with the "node" in PATH, which may be an older version.
      PATH: [dirname(process.execPath), this.#settings.inherited['PATH'] ?? ''].join(delimiter),
      CI: '1',
      NO_COLOR: '1',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_SEND_METRICS: 'false',
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_LOG_PATH: this.#wranglerLogs,
      NODE_COMPILE_CACHE: COMPILED,
    }
  }

  get #wranglerLogs(): string {
    return join(this.#settings.stateDir, 'logs', 'wrangler')
  }

  #openLog(name: string): LogFile {
    const log = openProcessLog(this.#settings.stateDir, name, this.#settings.logLimits)
    this.#logs.push(log)
    return log
  }
}

/** Where this machine reaches a service that listens on that address. */
function ownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** Below this, the database and the next part of an upload do not fit any more. */
const LEAST_BYTES = 16 * 1024 * 1024

export async function isDiskFull(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize < LEAST_BYTES
}
