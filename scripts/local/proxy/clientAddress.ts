// In charge of: who sent a request: the peer, or the client that a trusted proxy names in X-Forwarded-For or Forwarded.
// Not in charge of: other headers of a proxy (proxyHeaders.ts).
import ipaddr from 'ipaddr.js'

type Network = ReturnType<typeof ipaddr.parseCIDR>

/** Networks; 'all' = every peer is a proxy. */
export type TrustedProxies = readonly Network[] | 'all'

/** Addresses and networks, separated by commas; null if one is invalid. */
export function parseTrustedProxies(text: string): Network[] | null {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const networks: Network[] = []
  for (const part of parts) {
    const network = parseNetwork(part)
    if (network === null) return null
    networks.push(network)
  }
  return networks
}

function parseNetwork(text: string): Network | null {
  // 10.0.0.0/24 has four numbers: "10/8" and "0x7f.1" are more likely mistakes than notations.
  if (!/^(\d{1,3}(\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.]*)(\/\d{1,3})?$/i.test(text)) return null
  try {
    if (text.includes('/')) {
      const [address, bits] = ipaddr.parseCIDR(text)
      return [address, bits]
    }
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  } catch {
    return null
  }
}

export function isTrusted(address: string, trusted: TrustedProxies): boolean {
  if (trusted === 'all') return true
  const parsed = parseAddress(address)
  // An address of the other kind (IPv4 or IPv6) is never in the network.
  return parsed !== null && trusted.some((network) => parsed.kind() === network[0].kind() && parsed.match(network))
}

/** An IPv4 address that came over an IPv6 socket is that IPv4 address. */
function parseAddress(text: string): ReturnType<typeof ipaddr.process> | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.split(':')[0]! : text)
  // Four numbers, as in parseNetwork.
  if (!/^(\d{1,3}(\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.%\w]*)$/i.test(bare) || !ipaddr.isValid(bare)) return null
  return ipaddr.process(bare.replace(/%.*$/, ''))
}

/**
 * The nearest address that is not a proxy's. Each proxy appends the address of its peer, so everything to the left of it
 * may have been written by the client.
 * @param raw names and values alternate, as in Node's rawHeaders
 */
export function clientAddress(peer: string, raw: readonly string[], trusted: TrustedProxies): string {
  let client = parseAddress(peer)?.toString() ?? peer
  if (!isTrusted(peer, trusted)) return client
  const chain = valuesOf(raw, 'x-forwarded-for')
  const hops = chain.length > 0 ? chain : valuesOf(raw, 'forwarded').map(forNode)
  for (const hop of hops.toReversed()) {
    const address = parseAddress(hop)
    // "unknown", or a name: the proxy that wrote it is the last one that is known.
    if (address === null) break
    client = address.toString()
    // With 'all', only the nearest proxy is known.
    if (trusted === 'all' || !isTrusted(client, trusted)) break
  }
  return client
}

function valuesOf(raw: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === name) values.push(...(raw[i + 1] ?? '').split(',').map((value) => value.trim()))
  return values
}

/** RFC 7239, 6: `for=192.0.2.1`, `for="[2001:db8::1]:4711"`. */
function forNode(element: string): string {
  return /(?:^|;)\s*for="?([^";]+)"?/i.exec(element)?.[1] ?? ''
}
