// In charge of: one object of an S3-compatible store as a source.
// Not in charge of: ranges and version checks: S3 follows RFC 9110 there (http/httpSource.ts).
import { httpSource } from '../http/httpSource.ts'
import type { Source } from '../objectStore.ts'
import { sendS3Request, type S3Store } from './s3Client.ts'

export function s3Source(store: S3Store, key: string): Source {
  const named = { provider: store.provider, name: `${store.bucketAddress.name}/…` }
  return httpSource(
    '',
    {},
    async (_, init) => {
      const method = init?.method === 'HEAD' ? 'HEAD' : 'GET'
      const headers = Object.fromEntries(new Headers(init?.headers))
      const operation = method === 'HEAD' ? 'stat' : 'read'
      // A refused HEAD has no body with a reason; the source then requests the first byte. 412 and 416 concern ranges.
      const accept = method === 'HEAD' ? [301, 307, 400, 401, 403, 404, 405] : [412, 416]
      const response = await sendS3Request(store, { operation, method, key, headers, accept })
      if (!response.ok || response.headers.has('accept-ranges')) return response
      // All S3-compatible stores serve ranges, but not all announce them.
      const told = new Headers(response.headers)
      told.set('accept-ranges', 'bytes')
      return new Response(response.body, { status: response.status, headers: told })
    },
    named,
  )
}
