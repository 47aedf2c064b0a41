// In charge of: the Cache-Control that an object is stored with, by its kind, and how the service's own addresses tell it.
// Not in charge of: which object is of which kind (taskApi/putOutput.ts, commitOutputs.ts).

/**
 * segment: at an address of its attempt's own, where nothing else is ever put. manifest: what points at them, and file: all
 * else, at addresses that a later job may be given too.
 */
export type ObjectKind = 'segment' | 'manifest' | 'file'

export type CacheControlByKind = Readonly<Record<ObjectKind, string>>

/**
 * RFC 9111, RFC 8246. A manifest is small and decides which film is played, so a replaced one is seen within a minute; a file
 * is large and is asked for range by range, by players that compare its ETag, so it may be kept for an hour.
 */
function defaultCacheControl(who: 'public' | 'private'): CacheControlByKind {
  return {
    segment: `${who}, max-age=31536000, immutable`,
    manifest: `${who}, max-age=60`,
    file: `${who}, max-age=3600`,
  }
}

/**
 * What a job's objects get: what it chose for all of them, or what suits each kind. `isOwn`: the service's own store, whose
 * addresses are secrets of whoever was given one.
 */
export function cacheControlOf(chosen: string | undefined, isOwn: boolean): CacheControlByKind {
  if (chosen) return { segment: chosen, manifest: chosen, file: chosen }
  return defaultCacheControl(isOwn ? 'private' : 'public')
}

/** Directives that say for how many seconds somebody may keep an object (RFC 9111 §5.2, RFC 5861). */
const AGES = /\b(max-age|s-maxage|stale-while-revalidate|stale-if-error)\s*=\s*"?(\d+)"?/gi

/** The same for an address that is valid for so many seconds more: nothing is kept for longer. */
export function limitMaxAge(stored: string, seconds: number): string {
  const capped = stored.replaceAll(AGES, (_, name: string, age: string) => `${name}=${Math.min(Number(age), seconds)}`)
  // Without an age, caches make one up from Last-Modified.
  return /max-age|no-store|no-cache/i.test(capped) ? capped : `${capped}, max-age=${Math.min(300, seconds)}`
}
