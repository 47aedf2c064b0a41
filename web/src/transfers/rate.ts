// In charge of: the speed and the remaining time of a transfer, from the bytes sent recently. Pure.

export interface Sample {
  /** Milliseconds of any monotonic clock. */
  at: number
  bytes: number
}

/** A longer window lags behind the connection; a shorter one jumps. */
const WINDOW_MS = 8000
/** A shorter period gives no reliable rate. */
const LEAST_MS = 400

/**
 * Adds a sample and drops those that are too old; one before the window is kept, so that there is always a difference.
 */
export function addSample(samples: readonly Sample[], next: Sample): Sample[] {
  const from = next.at - WINDOW_MS
  const kept = samples.filter(({ at }, index) => at >= from || (samples[index + 1]?.at ?? Infinity) >= from)
  return [...kept, next]
}

/** Bytes per second; null = unknown. */
export function rateOf(samples: readonly Sample[]): number | null {
  const [first] = samples
  const last = samples.at(-1)
  if (!first || !last || last.at - first.at < LEAST_MS) return null
  return Math.max(0, ((last.bytes - first.bytes) * 1000) / (last.at - first.at))
}

export function secondsLeft(size: number, sent: number, rate: number | null): number | null {
  return rate === null || rate <= 0 ? null : (size - sent) / rate
}
