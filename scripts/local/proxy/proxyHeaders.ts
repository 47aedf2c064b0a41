// In charge of: what of a request's first lines the Worker is told: its address as the Worker will read it, its headers
// without those of one connection and those that are the runtime's own.
// Not in charge of: sending them (reverseProxy.ts).
import { isIP } from 'node:net'

/** RFC 9110, 7.6.1; and what Node has dealt with (Expect) or writes itself (Transfer-Encoding). */
const CONNECTION_ONLY =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|host|proxy-(?:connection|authorization|authenticate))$/
/** mf-: of miniflare, which moves a request to another address or Worker by them. cf-: of Cloudflare, whose edge sets them. */
const OF_THE_RUNTIME = /^(?:mf|cf)-/

/** What miniflare serves beside the Worker, as the runtime matches it: after dot segments are resolved. */
const RUNTIME_INTERNAL_PATHS = /^\/+(?:cdn-cgi|__cf_local)(?:\/|$)/i

export interface RequestTarget {
  /** Path and query. */
  path: string
  /** Named by the request line itself, which then wins over the Host header (RFC 9112, 3.2.2). */
  host: string | null
  /** Whether it is one of the runtime's and none of the service's. */
  isRuntimes: boolean
}

/** null: it cannot be read. */
export function parseRequestTarget(target: string): RequestTarget | null {
  // The parser hands bytes on one by one; whoever does not encode an address sends UTF-8.
  const text = /[\u0080-\u00ff]/.test(target) ? Buffer.from(target, 'latin1').toString('utf8') : target
  const isAbsolute = /^https?:\/\//i.test(text)
  if (!isAbsolute && !text.startsWith('/')) return null
  // The parser that the runtime reads addresses with, so that what is judged here is what is served there.
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

/** A name or an address, with or without a port; no more than that goes into the addresses that the service tells. */
export function isHost(host: string): boolean {
  const found = /^(?:\[([^\]]+)\]|([\w.~-]+))(?::(\d{1,5}))?$/.exec(host)
  if (found === null || Number(found[3] ?? 0) > 65_535) return false
  if (found[1] !== undefined && isIP(found[1]) !== 6) return false
  return URL.canParse(`http://${host}`)
}

/** How a proxy says that it was called (RFC 7239 and its older forms). The runtime itself believes the first of any client. */
const OF_A_PROXY = /^(?:x-forwarded-(?:proto|host)|forwarded)$/

/**
 * Names and values in turn, as Node reads and writes them. What a proxy says of itself goes on where one is trusted: the scheme
 * as one of two words, and Forwarded where it is the only one.
 */
export function forwardedHeaders(raw: readonly string[], trustProxy: boolean): string[] {
  const named = new Set<string>()
  for (let i = 0; i + 1 < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection')
      for (const name of raw[i + 1]?.split(',') ?? []) named.add(name.trim().toLowerCase())
  // These say what the message is; a client that calls them the connection's own would change it on the way.
  for (const name of ['content-length', 'content-type', 'authorization']) named.delete(name)
  const kept: string[] = []
  const said: Record<string, string> = {}
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] ?? '', raw[i + 1] ?? '']
    const lower = name.toLowerCase()
    // The last of several is the proxy's own.
    if (OF_A_PROXY.test(lower)) said[lower] = value
    else if (!CONNECTION_ONLY.test(lower) && !OF_THE_RUNTIME.test(lower) && !named.has(lower)) kept.push(name, value)
  }
  return trustProxy ? [...kept, ...ofProxy(said)] : kept
}

function ofProxy({ forwarded: standard, ...older }: Record<string, string>): string[] {
  if (Object.keys(older).length === 0) return standard === undefined ? [] : ['Forwarded', standard]
  const proto = older['x-forwarded-proto']?.split(',').at(-1)?.trim().toLowerCase() ?? ''
  const host = older['x-forwarded-host']
  return [
    ...(/^https?$/.test(proto) ? ['X-Forwarded-Proto', proto] : []),
    ...(host === undefined ? [] : ['X-Forwarded-Host', host]),
  ]
}

/** The same for an answer. */
export function returnedHeaders(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i] ?? '', raw[i + 1] ?? '']
    const lower = name.toLowerCase()
    if (!CONNECTION_ONLY.test(lower) && !OF_THE_RUNTIME.test(lower)) kept.push(name, value)
  }
  return kept
}
