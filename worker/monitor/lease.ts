// In charge of: until when the current attempt of a job counts as alive: its last heartbeat plus the lease.
// Not in charge of: who calls this (jobMonitor.ts), what happens when a lease expires (contract/task/lifecycle.ts).

const LAST_HEARTBEAT_KEY = 'heard'

/** The part of Durable Object storage that a lease needs. */
interface Storage {
  get<T>(key: string): Promise<T | undefined>
  put(key: string, value: number): Promise<void>
}

/** Heartbeats come every second. The last one is written to storage only at this interval. */
function saveIntervalMs(leaseMs: number): number {
  return leaseMs / 3
}

/**
 * When the lease ends, in milliseconds since 1970. `memory` is the last heartbeat in memory. It is null after the
 * monitor was evicted, which the platform does when no heartbeat comes for some seconds. Then the last heartbeat was at
 * most `saveIntervalMs` after the stored one (`kept`). Without that bound, each wake-up would start a new lease that
 * never ends.
 */
export function leaseExpiry(memory: number | null, kept: number | null, leaseMs: number): number {
  const heard = memory ?? (kept === null ? 0 : kept + saveIntervalMs(leaseMs))
  return heard + leaseMs
}

export class Lease {
  readonly #storage: Storage
  #lastHeartbeat: number | null = null
  #savedHeartbeat: number | null = null

  constructor(storage: Storage) {
    this.#storage = storage
  }

  async load(): Promise<void> {
    this.#savedHeartbeat = (await this.#storage.get<number>(LAST_HEARTBEAT_KEY)) ?? null
  }

  /** The attempt sent a heartbeat. */
  async renew(now: number, leaseMs: number): Promise<void> {
    this.#lastHeartbeat = now
    if (
      this.#savedHeartbeat !== null &&
      now - this.#savedHeartbeat < saveIntervalMs(leaseMs) &&
      now >= this.#savedHeartbeat
    )
      return
    this.#savedHeartbeat = now
    await this.#storage.put(LAST_HEARTBEAT_KEY, now)
  }

  /** A new attempt starts: heartbeats of earlier attempts do not count for it. */
  async restart(now: number): Promise<void> {
    this.#lastHeartbeat = now
    this.#savedHeartbeat = now
    await this.#storage.put(LAST_HEARTBEAT_KEY, now)
  }

  expiresAt(leaseMs: number): number {
    return leaseExpiry(this.#lastHeartbeat, this.#savedHeartbeat, leaseMs)
  }
}
