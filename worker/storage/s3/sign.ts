// In charge of: proving to an S3-shaped store who asks. Each provider brings one of these.
// Not in charge of: which address is asked (place.ts), nor its spelling, which has to be canonical already.
import { AwsV4Signer } from 'aws4fetch'

export interface Unsigned {
  method: string
  /** With the path and the query in their one canonical spelling (place.ts). */
  url: string
  /** Only what has to be covered: proxies may touch the others. */
  headers: Headers
  /** SHA-256 of the body in hex; null for a body that streams. */
  bodyHash: string | null
}

/** → the headers to send: those given, and the proof. */
export type Sign = (request: Unsigned) => Promise<Headers>

export interface AccessKey {
  accessKey: string
  secretKey: string
  sessionToken?: string | null
}

/** Signature Version 4 in the Authorization header. Amazon: "Authenticating Requests (AWS Signature Version 4)". */
export function sigV4(key: AccessKey, region: string, now: () => number = Date.now): Sign {
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
