// In charge of: the health probe of the running Worker, and triggering its cron, which local mode does not do by
// itself.
// Not in charge of: restarting it (localService.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { requestRuntime } from '../runtimeRequest.ts'

export interface ProbedWorker {
  baseUrl: string
  /** The runtime's socket, through which the cron is triggered. */
  socket: string
  /** False while the Worker is being restarted. */
  isRunning: () => boolean
  /** Called when the Worker is dead. Probing continues, also for the restarted Worker. */
  onDead: (why: string) => void
}

const PROBE_INTERVAL_MS = 500
const ASK_EVERY_MS = 2_000
/** The timeout is long because ffmpeg may use every core. */
const ANSWER_MS = 10_000
const MAX_MISSED_ANSWERS = 3
/** For the first answer: when the Worker starts, it also does what was left undone while it was stopped. */
const FIRST_ANSWER_MS = 100_000
const CRON_MS = 10_000

interface Health {
  status: string
  missing: string[]
}

/** @throws Error when nothing answers within `timeoutMs` */
async function askHealth(baseUrl: string, timeoutMs: number): Promise<Health> {
  const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(timeoutMs) })
  const answer = (await response.json()) as Partial<Health>
  // While no runtime is connected, the reverse proxy answers itself, without `status`.
  if (answer.status === undefined) throw new Error('nothing answers behind the front door')
  return { status: answer.status, missing: answer.missing ?? [] }
}

/** Waits until the Worker serves. @throws Error with what it reports as missing, or when it says nothing several times */
export async function waitUntilHealthy(baseUrl: string, signal: AbortSignal): Promise<void> {
  let problem = ''
  for (let misses = 0; misses < MAX_MISSED_ANSWERS; misses++) {
    try {
      const health = await askHealth(baseUrl, FIRST_ANSWER_MS)
      if (health.status !== 'not_ready') return
      problem = health.missing.join('; ')
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
    }
    await pause(PROBE_INTERVAL_MS, undefined, { signal })
  }
  throw new Error(`The service did not become ready: ${problem}`)
}

/** Runs the cron handler once: it sends lost queue messages again and removes expired data. */
export async function triggerCron(socket: string): Promise<void> {
  try {
    await requestRuntime(socket, '/cdn-cgi/local/scheduled', AbortSignal.timeout(60_000))
  } catch {
    // The next run follows anyway. Whether the Worker is alive is checked elsewhere.
  }
}

/** Runs until the signal: the cron, and the probe of /health. */
export function probeWorker(pulse: ProbedWorker, signal: AbortSignal): void {
  void runCron(pulse.socket, signal).catch(() => undefined)
  void watch(pulse, signal).catch(() => undefined)
}

/** One run behind the other: a run that takes long would otherwise do the same work as the next. */
async function runCron(socket: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(CRON_MS, undefined, { signal })
    await triggerCron(socket)
  }
}

async function watch(pulse: ProbedWorker, signal: AbortSignal): Promise<void> {
  let silent = 0
  let askedAt = Date.now()
  while (!signal.aborted) {
    await pause(PROBE_INTERVAL_MS, undefined, { signal })
    if (!pulse.isRunning()) {
      silent = 0
    } else if (Date.now() - askedAt >= ASK_EVERY_MS) {
      askedAt = Date.now()
      silent = (await askHealth(pulse.baseUrl, ANSWER_MS).then(
        () => true,
        () => false,
      ))
        ? 0
        : silent + 1
      if (silent >= MAX_MISSED_ANSWERS && !signal.aborted) {
        silent = 0
        pulse.onDead('/health does not answer')
      }
    }
  }
}
