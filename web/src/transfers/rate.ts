// In charge of: how fast a transfer is and how long it will still take, from what was sent lately. Pure.

export interface Sample {
  /** Milliseconds of any clock that does not go back. */
  at: number
  bytes: number
}

/** Longer, and it lags behind the connection; shorter, and it jumps. */
const WINDOW_MS = 8000
/** Less than this says nothing. */
const LEAST_MS = 400

/** With one more sample, without those that are too old; one before the window stays, so that there is always a difference. */
export function addSample(samples: readonly Sample[], next: Sample): Sample[] {
  const from = next.at - WINDOW_MS
  const kept = samples.filter(({ at }, index) => at >= from || (samples[index + 1]?.at ?? Infinity) >= from)
  return [...kept, next]
}

/** Bytes per second; null = not known yet. */
export function rateOf(samples: readonly Sample[]): number | null {
  const [first] = samples
  const last = samples.at(-1)
  if (!first || !last || last.at - first.at < LEAST_MS) return null
  return Math.max(0, ((last.bytes - first.bytes) * 1000) / (last.at - first.at))
}

export function secondsLeft(size: number, sent: number, rate: number | null): number | null {
  return rate === null || rate <= 0 ? null : (size - sent) / rate
}
