// In charge of: the path that is used for routing: redundant slashes are removed.
// Not in charge of: routes (app.ts).
import { getPath } from 'hono/utils/url'

/** Not for objects (/o, /p, /a, /task), where each segment is part of a name. */
const NORMALIZED_PREFIXES = /^\/(?:api|uploads|health|metrics)(?:\/|$)/

/** Merges repeated slashes and removes a trailing one, so that rules for a route see a single form of its path. */
export function routedPath(request: Request): string {
  const path = getPath(request)
  if (!path.includes('//') && !path.endsWith('/')) return path
  const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  return NORMALIZED_PREFIXES.test(plain) ? plain : path
}
