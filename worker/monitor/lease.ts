// In charge of: until when the current attempt of a job counts as alive: its last heartbeat and the lease after it.
// Not in charge of: who asks (jobMonitor.ts), what follows from a lease that ended (contract/task/lifecycle.ts).

const LAST_HEARTBEAT_KEY = 'heard'

/** As the storage of a Durable Object. */
interface Storage {
  get<T>(key: string): Promise<T | undefined>
  put(key: string, value: number): Promise<void>
}

/** Heartbeats come every second; so often the last one is made durable. */
function saveIntervalMs(leaseMs: number): number {
  return leaseMs / 3
}

/**
 * When the lease ends, in milliseconds since 1970. `memory` is the last heartbeat as remembered; null after an eviction of
 * the monitor, which the platform does whenever no heartbeat comes for some seconds. Then the last one was at most
 * `keepEveryMs` after the one that was `kept`. (A lease that began anew at each look would never end.)
 */
export function leaseExpiry(memory: number | null, kept: number | null, leaseMs: number): number {
  const heard = memory ?? (kept === null ? 0 : kept + saveIntervalMs(leaseMs))
  return heard + leaseMs
}

export class Lease {
  readonly #storage: Storage
  #memory: number | null = null
  #kept: number | null = null

  constructor(storage: Storage) {
    this.#storage = storage
  }

  async load(): Promise<void> {
    this.#kept = (await this.#storage.get<number>(LAST_HEARTBEAT_KEY)) ?? null
  }

  /** The attempt was heard of. */
  async renew(now: number, leaseMs: number): Promise<void> {
    this.#memory = now
    if (this.#kept !== null && now - this.#kept < saveIntervalMs(leaseMs) && now >= this.#kept) return
    this.#kept = now
    await this.#storage.put(LAST_HEARTBEAT_KEY, now)
  }

  /** A new attempt begins: it is not alive by the heartbeats of an earlier one. */
  async restart(now: number): Promise<void> {
    this.#memory = now
    this.#kept = now
    await this.#storage.put(LAST_HEARTBEAT_KEY, now)
  }

  expiresAt(leaseMs: number): number {
    return leaseExpiry(this.#memory, this.#kept, leaseMs)
  }
}
