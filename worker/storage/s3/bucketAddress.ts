// In charge of: the address of a bucket (virtual-host or path style) and the exact encoding of an object's URL.
// Not in charge of: whether the address may be reached (guardedFetch.ts), signatures (sigV4.ts).

export interface BucketAddress {
  /** For messages and for `location`: `s3://bucket`. */
  name: string
  /** The common start of all objects' URLs, without a trailing slash. */
  base: string
  region: string
}

/** Encodes all but RFC 3986 unreserved characters, as in the canonical form of SigV4. */
export function encodeKey(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The URL of a key, or of the bucket if the key is ''. */
export function objectUrl(
  bucketAddress: BucketAddress,
  key: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeKey(name)}=${encodeKey(value).replaceAll('/', '%2F')}`,
  )
  return `${bucketAddress.base}/${encodeKey(key)}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
}

/**
 * Amazon S3, or with `endpoint` another S3-compatible store. `region` has been validated as part of a host name. Path
 * style for names with dots, which do not match the certificate of a virtual host, and for other stores, which seldom
 * have host names for buckets.
 */
export function s3BucketAddress(bucket: string, region: string | null, endpoint: string | null): BucketAddress {
  const name = `s3://${bucket}`
  if (endpoint !== null) {
    const host = URL.parse(endpoint)?.hostname ?? ''
    // R2 has a single region named "auto".
    const own = host.endsWith('.r2.cloudflarestorage.com') ? 'auto' : 'us-east-1'
    return { name, base: `${endpoint.replace(/(?<!\/)\/+$/, '')}/${bucket}`, region: region ?? own }
  }
  const where = region ?? 'us-east-1'
  const domain = `s3.${where}.amazonaws.com${where.startsWith('cn-') ? '.cn' : ''}`
  const base = bucket.includes('.') ? `https://${domain}/${bucket}` : `https://${bucket}.${domain}`
  return { name, base, region: where }
}
