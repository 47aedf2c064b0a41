// In charge of: proving to an S3-shaped store who asks. Each provider brings one of these.
// Not in charge of: which address is asked (bucketAddress.ts), nor its spelling, which has to be canonical already.
import { AwsV4Signer } from 'aws4fetch'

export interface UnsignedRequest {
  method: string
  /** With the path and the query in their one canonical spelling (bucketAddress.ts). */
  url: string
  /** Only what has to be covered: proxies may touch the others. */
  headers: Headers
  /** SHA-256 of the body in hex; null for a body that streams. */
  bodyHash: string | null
}

/** → the headers to send: those given, and the proof. */
export type RequestSigner = (request: UnsignedRequest) => Promise<Headers>

export interface AccessKey {
  accessKey: string
  secretKey: string
  sessionToken?: string | null
}

/** An address with its proof in the query, for whoever is to read one object. */
export type UrlPresigner = (url: string) => Promise<string>

/** How long such an address is good: for a download that starts late, not for a place where links are kept. */
const PRESIGNED_SECONDS = 3600
/** Addresses of ten minutes are the same: a page that reads a job again and again does not load its outputs anew. */
const PRESIGN_ROUNDING_MS = 600_000

/**
 * Amazon: "Authenticating Requests: Using Query Parameters". The address says the id of the key, never its secret. Temporary
 * credentials have none: their token, a secret of the job, would have to be in it.
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
  // Derived keys, one a day.
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
