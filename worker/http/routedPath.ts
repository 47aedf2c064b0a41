// In charge of: the path under which a request is routed: what people and programs write too much of in it is left out.
// Not in charge of: routes (app.ts).
import { getPath } from 'hono/utils/url'

/** Not those of objects (/o, /p, /a, /task): there, each element is part of a name. */
const NORMALIZED_PREFIXES = /^\/(?:api|uploads|health|metrics)(?:\/|$)/

/** Doubled slashes count as one, and one at the end as none. Every rule about a route then sees the one spelling. */
export function routedPath(request: Request): string {
  const path = getPath(request)
  if (!path.includes('//') && !path.endsWith('/')) return path
  const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  return NORMALIZED_PREFIXES.test(plain) ? plain : path
}
