// In charge of: where a bucket is: its host, virtual-host or path style, and the exact spelling of an object's address.
// Not in charge of: whether the address may be reached (guardedFetch.ts), signatures.

export interface BucketAddress {
  /** In messages and in `location`: `s3://bucket`. */
  name: string
  /** Without a slash at the end; what all objects' addresses begin with. */
  base: string
  region: string
}

/** RFC 3986 unreserved characters stay, all others are encoded: the one spelling that SigV4's canonical form has too. */
export function encodeKey(key: string): string {
  return encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The address of a key, or of the bucket where it is ''. */
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
 * Amazon's own store, or with `endpoint` another one that speaks S3. `region` has been validated as part of a host name.
 * A name with dots would not match the certificate of a virtual host; other stores seldom have names for buckets.
 */
export function s3BucketAddress(bucket: string, region: string | null, endpoint: string | null): BucketAddress {
  const name = `s3://${bucket}`
  if (endpoint !== null) {
    const host = URL.parse(endpoint)?.hostname ?? ''
    // R2 has one region, which is called that.
    const own = host.endsWith('.r2.cloudflarestorage.com') ? 'auto' : 'us-east-1'
    return { name, base: `${endpoint.replace(/\/+$/, '')}/${bucket}`, region: region ?? own }
  }
  const where = region ?? 'us-east-1'
  const domain = `s3.${where}.amazonaws.com${where.startsWith('cn-') ? '.cn' : ''}`
  const base = bucket.includes('.') ? `https://${domain}/${bucket}` : `https://${bucket}.${domain}`
  return { name, base, region: where }
}
