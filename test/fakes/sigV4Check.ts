// In charge of: verifying a Signature Version 4 as a server does, written from Amazon's description and checked against
// its published examples (sigV4.test.ts), without the library that signs.
// Not in charge of: what a server does with the request.
import { createHash, createHmac } from 'node:crypto'

export interface SignedRequest {
  method: string
  /** As it was sent: path and query. */
  target: string
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>
}

export interface SignatureClaim {
  accessKey: string
  date: string
  region: string
  service: string
  signedHeaders: string[]
  signature: string
}

/** The parsed Authorization header, or null. */
export function parseAuthorization(authorization: string): SignatureClaim | null {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    )
  if (!found) return null
  const [, accessKey, date, region, service, headers, signature] = found as unknown as string[]
  return {
    accessKey: accessKey!,
    date: date!,
    region: region!,
    service: service!,
    signedHeaders: headers!.split(';'),
    signature: signature!,
  }
}

/** The claim of a presigned address ("Using Query Parameters") and the request without its signature; or null. */
export function parsePresignedQuery(
  request: SignedRequest,
): { claim: SignatureClaim; request: SignedRequest; date: string; seconds: number } | null {
  const [path = '', search = ''] = request.target.split('?')
  const query = new URLSearchParams(search)
  const parameters = (name: string): string => query.get(`X-Amz-${name}`) ?? ''
  const claim = parseAuthorization(
    `${parameters('Algorithm')} Credential=${parameters('Credential')},SignedHeaders=${parameters('SignedHeaders')},Signature=${parameters('Signature')}`,
  )
  if (!claim) return null
  const rest = search.split('&').filter((pair) => !pair.startsWith('X-Amz-Signature='))
  const headers = new Map(request.headers)
  headers.set('x-amz-date', parameters('Date')).set('x-amz-content-sha256', 'UNSIGNED-PAYLOAD')
  const unsigned = { ...request, target: `${path}?${rest.join('&')}`, headers }
  return { claim, request: unsigned, date: parameters('Date'), seconds: Number(parameters('Expires')) }
}

function encode(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

function canonicalQuery(query: string): string {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=')
      const name = at < 0 ? pair : pair.slice(0, at)
      return [encode(decodeURIComponent(name)), at < 0 ? '' : encode(decodeURIComponent(pair.slice(at + 1)))]
    })
    .toSorted(([a = '', x = ''], [b = '', y = '']) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** The signature that a request with this claim must have. */
export function expectedSignature(request: SignedRequest, claim: SignatureClaim, secretKey: string): string {
  const [path = '', ...rest] = request.target.split('?')
  const canonical = [
    request.method,
    // S3 decodes the path once and encodes it once; repeated slashes are kept.
    path
      .split('/')
      .map((element) => encode(decodeURIComponent(element)))
      .join('/'),
    canonicalQuery(rest.join('?')),
    ...claim.signedHeaders.map((name) => `${name}:${(request.headers.get(name) ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    claim.signedHeaders.join(';'),
    request.headers.get('x-amz-content-sha256') ?? '',
  ].join('\n')
  const scope = `${claim.date}/${claim.region}/${claim.service}/aws4_request`
  const hashed = createHash('sha256').update(canonical).digest('hex')
  const text = ['AWS4-HMAC-SHA256', request.headers.get('x-amz-date') ?? '', scope, hashed].join('\n')
  const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()
  const key = [claim.region, claim.service, 'aws4_request'].reduce<Buffer>(
    (known, part) => hmac(known, part),
    hmac(`AWS4${secretKey}`, claim.date),
  )
  return hmac(key, text).toString('hex')
}
