// In charge of: deciding, before any connection, whether an address from a client may be reached (SSRF;
// docs/internals/reliability.md).
// Not in charge of: DNS (scripts/local/egressProxy.ts where Node connects; on Cloudflare the platform), redirects
// (guardedFetch.ts, which turns a refusal into a StoreError). Ports are not checked: a store may use any port.
// Node runs this file too (scripts/), so it imports nothing from the Worker.
import ipaddr from 'ipaddr.js'
import type { Problem } from '#contract/errors.ts'

export interface EgressPolicy {
  egress: 'platform' | 'pinned' | 'listed'
  /** Lower-case `host:port` pairs that may be private. */
  allowPrivateHosts: ReadonlySet<string>
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

// Names that only have a meaning inside a network: RFC 6761 and 6762, RFC 8375 (home.arpa), ICANN's name collision
// list, .internal (reserved for private use in 2024), and names that routers and clusters use.
const privateSuffixes = [
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'in-addr.arpa',
  'ip6.arpa',
  'onion',
  'invalid',
]

/** In a public range, but the platform's own metadata service answers: Azure's WireServer. */
const metadataAddresses = new Set(['168.63.129.16'])

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** True for an address of the public internet. False for IPv4 inside IPv6 (mapped, compatible, 6to4, NAT64, Teredo). */
export function isPublicAddress(ip: string): boolean {
  // A zone (`%eth0`) occurs only with link-local addresses. URL has already normalised octal and hexadecimal forms.
  if (!ipaddr.IPv6.isValid(ip) && !ipaddr.IPv4.isValidFourPartDecimal(ip)) return false
  const address = ipaddr.parse(ip)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv4) return !metadataAddresses.has(address.toString())
  // RFC 4291 §2.4: everything outside 2000::/3 is unassigned or special, including ::a.b.c.d.
  return address.zoneId === undefined && address.match(globalUnicast)
}

/** `host:port` with the port that a connection would use. */
export function hostWithPort(url: URL): string {
  return `${url.hostname.replace(/\.$/, '')}:${url.port || defaultPorts[url.protocol]}`
}

/** The message is shown to clients. It contains the host at most, since a query may contain a signature. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefused'
}

function refuseAddress(message: string): never {
  throw new AddressRefusedError(message)
}

/**
 * Parses an address and checks it against the policy.
 * @throws AddressRefusedError
 */
export function requireAllowedAddress(address: string | URL, policy: EgressPolicy): URL {
  // Two parsers could read a URL differently: callers must fetch the returned URL, not the text.
  const url = address instanceof URL ? address : URL.parse(address)
  if (!url) refuseAddress('This is not a complete address of the form https://host/path.')
  if (!(url.protocol in defaultPorts)) refuseAddress(`Only http and https addresses are allowed, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '') {
    refuseAddress('An address must not contain a user name or password; use access_key and secret_key.')
  }
  if (url.hostname === '') refuseAddress('The address has no host.')
  if (policy.allowPrivateHosts.has(hostWithPort(url))) return url
  if (policy.egress === 'listed') {
    refuseAddress(`${hostWithPort(url)} is not in ALLOW_PRIVATE_HOSTS, and this deployment reaches listed hosts only.`)
  }
  // WHATWG URL has normalised 0x7f.1, 0177.0.0.1, 2130706433, 127.1, full-width digits etc. to dotted decimal.
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/(?<!\.)\.+$/, '')
  if (ipaddr.isValid(name)) {
    if (!isPublicAddress(name)) refuseAddress(`${url.hostname} is not a public address.`)
    return url
  }
  if (!name.includes('.') || privateSuffixes.some((suffix) => name.endsWith(`.${suffix}`))) {
    refuseAddress(`${url.hostname} is not a public host name.`)
  }
  return url
}

/** Why an address that a client names in `field` is refused, before anything connects to it; null = it is allowed. */
export function addressProblem(address: string, policy: EgressPolicy, field: string): Problem | null {
  try {
    requireAllowedAddress(address, policy)
    return null
  } catch (error) {
    if (!(error instanceof AddressRefusedError)) throw error
    const remedy = ' Use a public address, or one that the operator lists in ALLOW_PRIVATE_HOSTS.'
    const message = `${field} is refused: ${error.message}${policy.egress === 'listed' ? '' : remedy}`
    return { code: 'address_refused', field, message }
  }
}
