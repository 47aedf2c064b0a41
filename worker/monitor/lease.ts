// In charge of: until when the current attempt of a job counts as alive: its last heartbeat and the lease after it.
// Not in charge of: who asks (jobMonitor.ts), what follows from a lease that ended (contract/task/lifecycle.ts).

const KEY = 'heard'

/** As the storage of a Durable Object. */
interface Storage {
  get<T>(key: string): Promise<T | undefined>
  put(key: string, value: number): Promise<void>
}

/** Heartbeats come every second; so often the last one is made durable. */
function keepEveryMs(leaseMs: number): number {
  return leaseMs / 3
}

/**
 * When the lease ends, in milliseconds since 1970. `memory` is the last heartbeat as remembered; null after an eviction of
 * the monitor, which the platform does whenever no heartbeat comes for some seconds. Then the last one was at most
 * `keepEveryMs` after the one that was `kept`. (A lease that began anew at each look would never end.)
 */
export function leaseEnd(memory: number | null, kept: number | null, leaseMs: number): number {
  const heard = memory ?? (kept === null ? 0 : kept + keepEveryMs(leaseMs))
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
    this.#kept = (await this.#storage.get<number>(KEY)) ?? null
  }

  /** The attempt was heard of. */
  async renew(now: number, leaseMs: number): Promise<void> {
    this.#memory = now
    if (this.#kept !== null && now - this.#kept < keepEveryMs(leaseMs) && now >= this.#kept) return
    this.#kept = now
    await this.#storage.put(KEY, now)
  }

  /** A new attempt begins: it is not alive by the heartbeats of an earlier one. */
  async begin(now: number): Promise<void> {
    this.#memory = now
    this.#kept = now
    await this.#storage.put(KEY, now)
  }

  end(leaseMs: number): number {
    return leaseEnd(this.#memory, this.#kept, leaseMs)
  }
}
