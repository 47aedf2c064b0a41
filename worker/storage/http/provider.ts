// In charge of: opening http servers for a job: files as its source, servers that accept PUT as its destination.
// Not in charge of: requests (httpSource.ts, httpSink.ts), which addresses may be reached (guardedFetch.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { HttpAddress } from '#contract/job/stores/http.ts'
import { cacheControlOf } from '../cacheControl.ts'
import { httpSource, type HttpCredentials } from './httpSource.ts'
import { httpSink } from './httpSink.ts'
import { requireRoot, type StoreProvider } from '../provider.ts'
import { guardedTransport } from '../guardedFetch.ts'
import { r2Sink, r2Source } from '../r2/r2Store.ts'

/**
 * The answer to a PUT comes after its body, which may be a long video on a slow line. A stall is detected much earlier.
 */
const HTTP_PUT_MS = 6 * 3600_000

export const httpProvider: StoreProvider<HttpAddress> = {
  openSource: (env, { address, credentials }) =>
    httpSource(address.url, httpAccessOf(credentials), guardedTransport(env)),
  openSink(env, request) {
    const { text, index } = requireRoot(request, 'http')
    // Deleted with the job's other intermediate objects.
    const staged = `work/${request.jobId}/${index === 0 ? 'http' : `http-${index}`}/`
    return httpSink({
      root: text,
      access: httpAccessOf(request.credentials),
      caching: cacheControlOf(request.cacheControl, false),
      transport: guardedTransport(env, { maxRedirects: null, headersTimeoutMs: HTTP_PUT_MS, operation: 'put' }),
      staging: {
        sink: r2Sink(env.BUCKET, staged),
        open: (path) => r2Source(env.BUCKET, staged + path),
      },
    })
  },
}

export function httpAccessOf(credentials: Partial<Credentials>): HttpCredentials {
  return { username: credentials.access_key ?? null, password: credentials.secret_key ?? null }
}
