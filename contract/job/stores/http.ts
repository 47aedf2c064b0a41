// In charge of: the contract's rules for http servers: sources are read from them, outputs are PUT to them.
// Not in charge of: whether an address may be fetched (worker/storage/addressPolicy.ts).
import { MAX_LENGTH } from '../../limits.ts'
import { isCleanText } from '../paths/inputAddress.ts'
import { invalidAddress, wrongForm, type InvalidAddress, type StoreRules } from './storeRules.ts'

export interface HttpAddress {
  kind: 'http'
  url: string
}

const FORM = 'http://<host>/<path> or https://<host>/<path>'

export const http: StoreRules<HttpAddress> = {
  labels: { input: 'Web address', output: 'Web server (PUT)', settings: 'Web address' },
  schemes: ['http', 'https'],
  root: { kind: 'host', elements: 1 },
  inputForm: FORM,
  outputForm: 'https://<host>/<directory>',
  // They are staged in the service's store under digests of fixed length.
  outputPathBytes: MAX_LENGTH.path_bytes,
  example: 'https://example.com/film.mp4',
  members: ['access_key', 'secret_key'],
  parse: (input) => parseHttp(input),
}

/** Also used for http(s) addresses with another purpose than input (a logo, a webhook). */
export function parseHttp(address: string): HttpAddress | InvalidAddress {
  // A more lenient parser would drop or convert such characters and see another host.
  if (!isCleanText(address) || /[\\ ]/.test(address)) {
    return invalidAddress('an address must not contain control characters, spaces or backslashes; percent-encode them')
  }
  const parts = /^(https?):\/\/([^/?#]*)([/?#].*)?$/i.exec(address)
  if (parts === null) return wrongForm('http', FORM)
  const authority = parts[2]!
  // Decision "unknown fields": user info in a URL is a 400; http credentials are access_key and secret_key.
  if (authority.includes('@')) {
    return invalidAddress(
      'an address must not contain a user name or password; send them as access_key and secret_key of cloud_credentials',
      'user_info_in_address',
    )
  }
  const host = /^(\[[0-9a-f:.]+\]|[\p{L}\p{N}\p{M}._-]+)(?::(\d{1,5}))?$/iu.exec(authority)
  if (host === null || Number(host[2] ?? 80) > 65_535 || host[2] === '0') {
    return invalidAddress('the address has no valid host name, or no valid port')
  }
  return { kind: 'http', url: address }
}
