// In charge of: what the Worker gets of a request's address and headers: the address as the Worker will parse it, the
// headers without those of the connection and of the runtime.
// Not in charge of: sending them (reverseProxy.ts).
import { isIP } from 'node:net'

/** RFC 9110, 7.6.1; also headers that Node handles (Expect) or writes itself (Transfer-Encoding). */
const CONNECTION_ONLY =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|host|proxy-(?:connection|authorization|authenticate))$/
/** mf-: miniflare uses them to redirect a request to another address or Worker. cf-: set by Cloudflare's edge. */
const OF_THE_RUNTIME = /^(?:mf|cf)-/

/** Paths that miniflare serves itself. Matched like in the runtime, after dot segments are resolved. */
const RUNTIME_INTERNAL_PATHS = /^\/+(?:cdn-cgi|__cf_local)(?:\/|$)/i

export interface RequestTarget {
  /** Path and query. */
  path: string
  /** The host in the request line, which takes precedence over the Host header (RFC 9112, 3.2.2). */
  host: string | null
  /** Whether the path belongs to the runtime and not to the service. */
  isRuntimes: boolean
}

/** null: the target is invalid. */
export function parseRequestTarget(target: string): RequestTarget | null {
  // Node's parser returns bytes as latin1. Clients that do not percent-encode an address send UTF-8.
  const text = /[\u0080-\u00ff]/.test(target) ? Buffer.from(target, 'latin1').toString('utf8') : target
  const isAbsolute = /^https?:\/\//i.test(text)
  if (!isAbsolute && !text.startsWith('/')) return null
  // The runtime uses the same URL parser, so the address that is checked here is the one that is served there.
  const url = URL.parse(isAbsolute ? text : `http://localhost${text}`)
  if (url === null) return null
  const { pathname, search } = url
  return {
    path: pathname + search,
    host: isAbsolute ? url.host : null,
    isRuntimes: RUNTIME_INTERNAL_PATHS.test(pathname) || RUNTIME_INTERNAL_PATHS.test(decoded(pathname)),
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** A host name or an IP address, with an optional port. Only this goes into the addresses that the service returns. */
export function isHost(host: string): boolean {
  const found = /^(?:\[([^\]]+)\]|([\w.~-]+))(?::(\d{1,5}))?$/.exec(host)
  if (found === null || Number(found[3] ?? 0) > 65_535) return false
  if (found[1] !== undefined && isIP(found[1]) !== 6) return false
  return URL.canParse(`http://${host}`)
}

/**
 * Headers in which a proxy describes the original request (RFC 7239 and its older forms). The runtime itself would
 * trust them from every client.
 */
const OF_A_PROXY = /^(?:x-forwarded-(?:proto|host|for)|x-real-ip|forwarded)$/

/**
 * Names and values alternate, as in Node's rawHeaders. Headers of a proxy are forwarded only if it is trusted: the
 * scheme as http or https, and Forwarded if it is the only one.
 */
export function forwardedHeaders(raw: readonly string[], trustProxy: boolean): string[] {
  const named = new Set<string>()
  for (let i = 0; i + 1 < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection')
      for (const name of raw[i + 1]?.split(',') ?? []) named.add(name.trim().toLowerCase())
  // These headers define the message. A client must not remove them by listing them in Connection.
  for (const name of ['content-length', 'content-type', 'authorization']) named.delete(name)
  const kept: string[] = []
  const said: Record<string, string> = {}
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] ?? '', raw[i + 1] ?? '']
    const lower = name.toLowerCase()
    // If a header is repeated, the last one comes from the nearest proxy.
    if (OF_A_PROXY.test(lower)) said[lower] = value
    else if (!CONNECTION_ONLY.test(lower) && !OF_THE_RUNTIME.test(lower) && !named.has(lower)) kept.push(name, value)
  }
  return trustProxy ? [...kept, ...ofProxy(said)] : kept
}

function ofProxy({ forwarded: standard, ...older }: Record<string, string>): string[] {
  const names = older['x-forwarded-proto'] !== undefined || older['x-forwarded-host'] !== undefined
  if (!names) return standard === undefined ? [] : ['Forwarded', standard]
  const proto = older['x-forwarded-proto']?.split(',').at(-1)?.trim().toLowerCase() ?? ''
  const host = older['x-forwarded-host']
  return [
    ...(/^https?$/.test(proto) ? ['X-Forwarded-Proto', proto] : []),
    ...(host === undefined ? [] : ['X-Forwarded-Host', host]),
  ]
}

/** The same for the headers of an answer. */
export function returnedHeaders(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] ?? '', raw[i + 1] ?? '']
    const lower = name.toLowerCase()
    if (!CONNECTION_ONLY.test(lower) && !OF_THE_RUNTIME.test(lower)) kept.push(name, value)
  }
  return kept
}
