// In charge of: when a start is given up: when it does nothing, or works without end. How long it takes depends on what
// else the machine does, so no time of the clock bounds it.
// Not in charge of: the process (supervisedProcess.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { processorTime } from './processGroup.ts'

const IDLE_MS = 60_000
/** The timers of a process that only waits use processor time too: less than this is no work. */
const IDLE_CPU_MS = 50
/** A start needs about 5 s of processor time. */
const MAX_CPU_MS = 300_000
const CHECK_EVERY_MS = 5_000

export class StartPatience {
  #at: number
  #usedMs = 0

  /** @param now milliseconds */
  constructor(now: number) {
    this.#at = now
  }

  /** @param usedMs processor time since the start. @returns why the start is given up; null = it is not */
  judge(now: number, usedMs: number): string | null {
    if (usedMs >= MAX_CPU_MS) return `is not ready after ${MAX_CPU_MS / 1000} s of processor time`
    if (usedMs - this.#usedMs >= IDLE_CPU_MS) {
      this.#at = now
      this.#usedMs = usedMs
    }
    return now - this.#at >= IDLE_MS ? `is not ready and has done nothing for ${IDLE_MS / 1000} s` : null
  }
}

/** Resolves with the reason when the start of a process and its children is given up. The signal ends the watch. */
export async function startGivenUp(pid: number, signal: AbortSignal): Promise<string> {
  const patience = new StartPatience(performance.now())
  for (;;) {
    await pause(CHECK_EVERY_MS, undefined, { signal })
    const reason = patience.judge(performance.now(), processorTime(pid))
    if (reason !== null) return reason
  }
}
