// In charge of: the Cache-Control header that an object is stored with, by its kind, and the one that the service's own
// addresses send.
// Not in charge of: which object is of which kind (taskApi/putOutput.ts, monitor/commitOutputs.ts).

/**
 * segment: at an address of one attempt, never written again. manifest: playlists and MPDs, and file: everything else;
 * both at addresses that a later job may write again.
 */
export type ObjectKind = 'segment' | 'manifest' | 'file'

export type CacheControlByKind = Readonly<Record<ObjectKind, string>>

/**
 * RFC 9111, RFC 8246. A manifest is small and decides which media are played, so a replaced one must be seen within a
 * minute. A file is large and is read in ranges by players that compare its ETag, so it may be cached for an hour.
 */
function defaultCacheControl(who: 'public' | 'private'): CacheControlByKind {
  return {
    segment: `${who}, max-age=31536000, immutable`,
    manifest: `${who}, max-age=60`,
    file: `${who}, max-age=3600`,
  }
}

/**
 * The headers of a job's objects: the job's own value for all of them, or the default for each kind. `isOwn`: the
 * service's own store, whose addresses are secret, so that shared caches must not keep the objects.
 */
export function cacheControlOf(chosen: string | undefined, isOwn: boolean): CacheControlByKind {
  if (chosen) return { segment: chosen, manifest: chosen, file: chosen }
  return defaultCacheControl(isOwn ? 'private' : 'public')
}

/** Directives with a number of seconds for which caches may keep an object (RFC 9111 §5.2, RFC 5861). */
const AGES = /\b(max-age|s-maxage|stale-while-revalidate|stale-if-error)\s*=\s*"?(\d+)"?/gi

/** The stored value, limited for an address that is valid for `seconds` more: nothing may be cached for longer. */
export function limitMaxAge(stored: string, seconds: number): string {
  const capped = stored.replaceAll(AGES, (_, name: string, age: string) => `${name}=${Math.min(Number(age), seconds)}`)
  // Without an age, caches choose one from Last-Modified.
  return /max-age|no-store|no-cache/i.test(capped) ? capped : `${capped}, max-age=${Math.min(300, seconds)}`
}
