// In charge of: asking the running Worker whether it lives, and ringing its cron, which local mode never does by itself.
// Not in charge of: what happens to a dead one (localService.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { isAlive } from './processGroup.ts'
import { requestRuntime } from '../runtimeRequest.ts'

export interface ProbedWorker {
  baseUrl: string
  /** Socket of its runtime: the cron is rung there, and nowhere else. */
  socket: string
  /** The process without which it cannot serve; null = not known, undefined while it is being started. */
  runtime: () => number | null | undefined
  /** Called once; the pulse goes on after the next `beat`. */
  onDead: (why: string) => void
}

const PROBE_INTERVAL_MS = 500
const ASK_EVERY_MS = 2_000
/** Generous: ffmpeg may hold every core. */
const ANSWER_MS = 10_000
const MAX_MISSED_ANSWERS = 3
const CRON_MS = 10_000
const READY_MS = 30_000

interface Health {
  status: string
  missing: string[]
}

/** @throws Error when nothing answers within `timeoutMs` */
async function askHealth(baseUrl: string, timeoutMs: number): Promise<Health> {
  const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(timeoutMs) })
  const answer = (await response.json()) as Partial<Health>
  // The front door's own answer, while nobody is behind it, has none.
  if (answer.status === undefined) throw new Error('nothing answers behind the front door')
  return { status: answer.status, missing: answer.missing ?? [] }
}

/** Waits until the Worker serves; throws what it says is missing. */
export async function waitUntilHealthy(baseUrl: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_MS
  for (;;) {
    let problem: string
    try {
      const health = await askHealth(baseUrl, ANSWER_MS)
      if (health.status !== 'not_ready') return
      problem = health.missing.join('; ')
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
    }
    if (Date.now() > deadline) throw new Error(`The service did not become ready: ${problem}`)
    await pause(100, undefined, { signal })
  }
}

/** Runs the cron handler once: lost queue messages are sent again, expired things removed. */
export async function triggerCron(socket: string): Promise<void> {
  try {
    await requestRuntime(socket, '/cdn-cgi/local/scheduled', AbortSignal.timeout(60_000))
  } catch {
    // The next one comes; whether the Worker lives is asked elsewhere.
  }
}

/** Beats until the signal: one timer for the cron, one for the life of the runtimes and the answers of /health. */
export function probeWorker(pulse: ProbedWorker, signal: AbortSignal): void {
  const cron = setInterval(() => void triggerCron(pulse.socket), CRON_MS)
  signal.addEventListener('abort', () => clearInterval(cron), { once: true })
  void watch(pulse, signal).catch(() => undefined)
}

async function watch(pulse: ProbedWorker, signal: AbortSignal): Promise<void> {
  let silent = 0
  let askedAt = Date.now()
  while (!signal.aborted) {
    await pause(PROBE_INTERVAL_MS, undefined, { signal })
    const runtime = pulse.runtime()
    if (runtime === undefined) {
      silent = 0
    } else if (runtime !== null && !isAlive(runtime)) {
      silent = 0
      pulse.onDead('its runtime is gone')
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
