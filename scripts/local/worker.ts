// In charge of: the process that holds the Worker: wrangler's programmatic start, with the egress that Node pins.
// Not in charge of: its values (they come by IPC, since an argv and an environment can be read by others), restarts.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { unstable_startWorker } from 'wrangler'
import { createEgressHandler } from './egress.ts'
import { childrenOf, signalGroup } from './processes.ts'
import { ROOT } from './settings.ts'

export interface WorkerStart {
  port: number
  stateDir: string
  /** Vars and secrets, by name. */
  bindings: Record<string, string>
  allowPrivateHosts: string[]
  connectTo: [from: string, to: string][]
  internalToken: string
  internalOrigins: string[]
}

export interface WorkerReady {
  ready: { url: string; workerd: { worker: number | null; all: number[] } }
}

const DISPOSE_MS = 5_000
let dispose: () => Promise<void> = () => Promise.resolve()
let stopping = false

async function serve(start: WorkerStart): Promise<void> {
  // Traces that an earlier version of this service let wrangler keep: addresses with their signatures.
  await rm(join(start.stateDir, 'v3', 'observability'), { recursive: true, force: true })
  const worker = await unstable_startWorker({
    config: join(ROOT, 'wrangler.toml'),
    // An empty file in place of .dev.vars, whose values are public.
    envFiles: [devNull],
    bindings: Object.fromEntries(
      Object.entries(start.bindings).map(([name, value]) => [name, { type: 'secret_text' as const, value }]),
    ),
    dev: {
      server: { hostname: '127.0.0.1', port: start.port },
      persist: start.stateDir,
      enableContainers: false,
      inspector: false,
      watch: false,
      // In this form bodies keep their backpressure and a broken one breaks (egress.ts).
      outboundService: {
        node: createEgressHandler({
          allowPrivateHosts: new Set(start.allowPrivateHosts),
          connectTo: new Map(start.connectTo),
          internalToken: start.internalToken,
          internalOrigins: start.internalOrigins,
        }),
      },
    },
  })
  dispose = () => worker.dispose()
  await worker.ready
  const url = (await worker.url).origin
  // `ready` means that the proxy listens; the first answer means that the runtime behind it does.
  const answer = await fetch(`${url}/health`)
  await answer.body?.cancel()
  process.send?.({ ready: { url, workerd: runtimes(start.port) } } satisfies WorkerReady)
}

/** Two runtimes: a proxy that holds the public port, and the one behind it that runs our code. */
function runtimes(port: number): WorkerReady['ready']['workerd'] {
  const all = childrenOf(process.pid).filter(({ program }) => program === 'workerd')
  const worker = all.find(({ argv }) => !argv.some((part) => part.endsWith(`:${port}`)))
  return { worker: worker?.pid ?? null, all: all.map(({ pid }) => pid) }
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(end, DISPOSE_MS, code).unref()
  await dispose().catch(() => undefined)
  end(code)
}

/** The runtimes are in this process's group; a supervisor that was killed cannot end them any more. */
function end(code: number): void {
  const left = childrenOf(process.pid)
  if (left.length > 0 && isGroupLeader()) signalGroup(process.pid, 'SIGKILL')
  process.exit(code)
}

/** Never signal a group that is not our own: run by hand, that of the shell. */
function isGroupLeader(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) === process.pid
  } catch {
    return process.channel !== undefined
  }
}

process.on('SIGTERM', () => void stop(0))
process.on('SIGINT', () => void stop(0))
process.on('disconnect', () => void stop(0))
// Whoever read our lines may be gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.once('message', (message) => {
  serve(message as WorkerStart).catch((error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    process.send?.({ failed: text }, () => void stop(1))
  })
})
