// In charge of: the address that the client called, from a proxy's headers: X-Forwarded-Proto and X-Forwarded-Host, or
// Forwarded (RFC 7239). Pure.
// Not in charge of: whether there is a proxy (env.ts, TRUST_PROXY). Without one, clients could set these headers.

/** A proxy adds short values; a longer one comes from a client. */
const MAX_FORWARDED = 1000

/** A name or an address, with or without a port. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::\d{1,5})?$/i

/**
 * The origin that the client called. What the headers do not contain, or contain in an invalid form, is the request's.
 */
export function forwardedOrigin(headers: Headers, requested: string): string {
  const { protocol, host } = new URL(requested)
  const named =
    lastForwarded(headers.get('x-forwarded-proto'), headers.get('x-forwarded-host')) ?? parseForwardedHeader(headers)
  const scheme = /^https?$/i.test(named.proto ?? '') ? named.proto!.toLowerCase() : protocol.slice(0, -1)
  const authority = HOST.test(named.host ?? '') ? named.host! : host
  return (URL.parse(`${scheme}://${authority}`) ?? new URL(requested)).origin
}

interface ForwardedValues {
  proto: string | null
  host: string | null
}

/** A proxy may append its value to those of a client: the last value is its own. Null without either header. */
function lastForwarded(proto: string | null, host: string | null): ForwardedValues | null {
  if (proto === null && host === null) return null
  const last = (values: string | null): string | null => values?.split(',').at(-1)?.trim() ?? null
  return { proto: last(proto), host: last(host) }
}

function parseForwardedHeader(headers: Headers): ForwardedValues {
  const value = headers.get('forwarded') ?? ''
  const elements = value.length > MAX_FORWARDED ? null : value.match(/(?:[^,"]|"(?:\\.|[^"\\])*")+/g)
  const pairs = (elements?.at(-1) ?? '').matchAll(/(?:^|;)\s*(proto|host)=(?:"([^"\\]*)"|([^;\s"]+))/gi)
  const named: ForwardedValues = { proto: null, host: null }
  for (const [, name = '', quoted, token] of pairs)
    named[name.toLowerCase() as keyof ForwardedValues] ??= quoted ?? token ?? null
  return named
}
