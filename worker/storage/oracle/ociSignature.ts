// In charge of: Oracle's request signatures, version 1 (draft-cavage-http-signatures-08 with RSA-SHA256).
// Not in charge of: which requests are made (ociClient.ts).
import type { OracleApiKey } from '#contract/job/stores/oracleCredentials.ts'
import { rsaSha256Signer } from '../rsaSignature.ts'
import { toBase64 } from '../../util/encoding.ts'

export interface OciUnsignedRequest {
  method: string
  /** Exactly as it is sent. */
  url: string
  /** Missing for GET, HEAD and DELETE; null for PutObject and UploadPart, whose bodies need not be signed. */
  body?: Uint8Array | null
  contentType?: string
}

/** → the headers to send. Oracle accepts a date that is at most five minutes off. */
export type OciSigner = (request: OciUnsignedRequest) => Promise<Headers>

export function ociSigner(access: Omit<OracleApiKey, 'kind'>, now: () => Date = () => new Date()): OciSigner {
  const sign = rsaSha256Signer('oracle', access.key)
  const keyId = `${access.tenancy}/${access.user}/${access.fingerprint}`
  return async ({ method, url, body, contentType }) => {
    const { host, pathname, search } = new URL(url)
    const headers = new Headers(contentType === undefined ? {} : { 'content-type': contentType })
    // Not `date`, which runtimes may set themselves.
    headers.set('x-date', now().toUTCString())
    const covered: [name: string, value: string][] = [
      ['x-date', headers.get('x-date') ?? ''],
      ['(request-target)', `${method.toLowerCase()} ${pathname}${search}`],
      ['host', host],
    ]
    if (body) {
      headers.set('x-content-sha256', toBase64(await crypto.subtle.digest('SHA-256', body)))
      covered.push(
        // The runtime sends it for a body of known length.
        ['content-length', String(body.byteLength)],
        ['content-type', headers.get('content-type') ?? ''],
        ['x-content-sha256', headers.get('x-content-sha256') ?? ''],
      )
    }
    const signature = toBase64(await sign(ociSigningString(covered)))
    const names = covered.map(([name]) => name).join(' ')
    headers.set(
      'authorization',
      `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`,
    )
    return headers
  }
}

/** draft-cavage-http-signatures-08 §2.3. */
export function ociSigningString(covered: readonly (readonly [name: string, value: string])[]): string {
  return covered.map(([name, value]) => `${name}: ${value}`).join('\n')
}
