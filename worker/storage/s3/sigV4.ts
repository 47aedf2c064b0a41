// In charge of: the interface of request signers, and AWS Signature Version 4 in headers and presigned URLs.
// Not in charge of: addresses (bucketAddress.ts), which must be in canonical form already.
import { AwsV4Signer } from 'aws4fetch'

export interface UnsignedRequest {
  method: string
  /** Path and query in canonical encoding (bucketAddress.ts). */
  url: string
  /** Only headers to be covered: proxies may change the others. */
  headers: Headers
  /** SHA-256 of the body in hex; null for a stream. */
  bodyHash: string | null
}

/** → the headers to send: the given ones and the signature. */
export type RequestSigner = (request: UnsignedRequest) => Promise<Headers>

export interface AccessKey {
  accessKey: string
  secretKey: string
  sessionToken?: string | null
}

/** A URL with its signature in the query, with which anyone can read the object. */
export type UrlPresigner = (url: string) => Promise<string>

/** Validity of such a URL: enough for a download that starts late, too short for a stored link. */
const PRESIGNED_SECONDS = 3600
/** URLs made within ten minutes are equal, so that a page that reloads a job does not reload its outputs. */
const PRESIGN_ROUNDING_MS = 600_000

/**
 * Amazon: "Authenticating Requests: Using Query Parameters". The URL contains the id of the key, never its secret.
 * undefined for temporary credentials: the URL would have to contain their session token, a secret of the job.
 */
export function sigV4Presigner(key: AccessKey, region: string, now: () => number = Date.now): UrlPresigner | undefined {
  if (key.sessionToken) return undefined
  const cache = new Map<string, ArrayBuffer>()
  return async (url) => {
    const signed = new URL(url)
    signed.searchParams.set('X-Amz-Expires', String(PRESIGNED_SECONDS + PRESIGN_ROUNDING_MS / 1000))
    const signer = new AwsV4Signer({
      method: 'GET',
      url: signed.toString(),
      accessKeyId: key.accessKey,
      secretAccessKey: key.secretKey,
      signQuery: true,
      service: 's3',
      region,
      cache,
      datetime: new Date(Math.floor(now() / PRESIGN_ROUNDING_MS) * PRESIGN_ROUNDING_MS)
        .toISOString()
        .replace(/[:-]|\.\d{3}/g, ''),
    })
    return (await signer.sign()).url.toString()
  }
}

/** Signature Version 4 in the Authorization header. Amazon: "Authenticating Requests (AWS Signature Version 4)". */
export function sigV4Signer(key: AccessKey, region: string, now: () => number = Date.now): RequestSigner {
  // Derived keys, one per day.
  const cache = new Map<string, ArrayBuffer>()
  return async ({ method, url, headers, bodyHash }) => {
    const covered = new Headers(headers)
    covered.set('x-amz-content-sha256', bodyHash ?? 'UNSIGNED-PAYLOAD')
    const signer = new AwsV4Signer({
      method,
      url,
      headers: covered,
      accessKeyId: key.accessKey,
      secretAccessKey: key.secretKey,
      ...(key.sessionToken ? { sessionToken: key.sessionToken } : {}),
      service: 's3',
      region,
      cache,
      datetime: new Date(now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    })
    return (await signer.sign()).headers
  }
}
