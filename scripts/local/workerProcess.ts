// In charge of: the process that runs the Worker's runtime and the egress proxy.
// Not in charge of: its settings (they come by IPC, since argv and environment are readable by others), restarts.
import { readFileSync } from 'node:fs'
import { buildWeb } from '../buildWeb.ts'
import { requestRuntime } from './runtimeRequest.ts'
import { createEgressHandler } from './egressProxy.ts'
import { childrenOf, signalGroup } from './processes/processGroup.ts'
import { startRuntime } from './workerRuntime.ts'

export interface WorkerStart {
  socket: string
  stateDir: string
  /** Vars and secrets, by name. */
  bindings: Record<string, string>
  allowPrivateHosts: string[]
  connectTo: [from: string, to: string][]
  internalToken: string
  internalOrigins: string[] | 'any'
}

export interface WorkerReady {
  ready: true
}

const DISPOSE_MS = 5_000
let dispose: () => Promise<void> = () => Promise.resolve()
let stopping = false

async function serve(start: WorkerStart): Promise<void> {
  await buildWeb()
  const runtime = await startRuntime({
    socket: start.socket,
    stateDir: start.stateDir,
    bindings: start.bindings,
    onRestart,
    // This form keeps backpressure and reports interrupted bodies (egressProxy.ts).
    outbound: createEgressHandler({
      allowPrivateHosts: new Set(start.allowPrivateHosts),
      connectTo: new Map(start.connectTo),
      internalToken: start.internalToken,
      internalOrigins: start.internalOrigins,
    }),
  })
  dispose = () => runtime.dispose()
  // `ready` only means that it listens; the first answer means that the Worker runs.
  // Without a limit: who started this process gives it up when it does nothing.
  await requestRuntime(start.socket, '/health')
  process.send?.({ ready: true } satisfies WorkerReady)
}

/** A runtime that crashes more often than this is started by the supervisor of this process, with growing pauses. */
const SETTLED_MS = 10_000
let restartedAt = -SETTLED_MS

function onRestart(): void {
  process.send?.({ report: 'The runtime crashed; another one runs.' })
  const now = performance.now()
  if (now - restartedAt < SETTLED_MS) void stop(1)
  restartedAt = now
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(end, DISPOSE_MS, code).unref()
  await dispose().catch(() => undefined)
  end(code)
}

/** The runtime is in this process's group. A killed supervisor cannot end it. */
function end(code: number): void {
  const left = childrenOf(process.pid)
  if (left.length > 0 && isGroupLeader()) signalGroup(process.pid, 'SIGKILL')
  process.exit(code)
}

/** When the script is run by hand, the group is the shell's and must not be signalled. */
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
// Miniflare's loopback server requires a secret, but an address like "//" in any request causes an unhandled rejection.
process.on('unhandledRejection', (error) => {
  if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_INVALID_URL') throw error
})
// The process that reads the output may have ended.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.once('message', (message) => {
  serve(message as WorkerStart).catch((error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    process.send?.({ failed: text }, () => void stop(1))
  })
})
