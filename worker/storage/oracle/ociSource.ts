// In charge of: one object of Oracle's native API as a source.
// Not in charge of: ranges and version checks: apart from quotes around ETags, Oracle follows RFC 9110
// (http/httpSource.ts).
import { httpSource } from '../http/httpSource.ts'
import type { Source } from '../objectStore.ts'
import { sendOciRequest, type OciStore } from './ociClient.ts'
import { ociBucketName } from './ociAddress.ts'

/** Oracle sends ETags without the quotes that RFC 9110 §8.8.3 requires. */
export function quoteEtag(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`
}

export function unquoteEtag(etag: string): string {
  return etag.replace(/^"(.*)"$/, '$1')
}

export function ociSource(store: OciStore, key: string): Source {
  return httpSource(
    '',
    {},
    async (_, init) => {
      const method = init?.method === 'HEAD' ? 'HEAD' : 'GET'
      const headers = Object.fromEntries(new Headers(init?.headers))
      if (headers['if-match'] !== undefined) headers['if-match'] = unquoteEtag(headers['if-match'])
      // A refused HEAD has no body with a reason; the source then requests the first byte. 412 and 416 concern ranges.
      const accept = method === 'HEAD' ? [400, 401, 403, 404, 405] : [412, 416]
      const operation = method === 'HEAD' ? 'stat' : 'read'
      const response = await sendOciRequest(store, { operation, method, path: ['o', key], headers, accept })
      const etag = response.headers.get('etag')
      const told = new Headers(response.headers)
      if (etag !== null) told.set('etag', quoteEtag(etag))
      return new Response(response.body, { status: response.status, headers: told })
    },
    { provider: 'oracle', name: `${ociBucketName(store.bucketAddress)}/…` },
  )
}
