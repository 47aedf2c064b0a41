// In charge of: opening files on http servers for a job, as its source, and servers that take PUT, as its destination.
// Not in charge of: requests (httpSource, httpSink), which addresses may be reached (guardedFetch.ts).
import type { Credentials } from '#contract/job/jobConfig.ts'
import type { HttpAddress } from '#contract/job/stores/http.ts'
import { cacheControlOf } from '../cacheControl.ts'
import type { HttpCredentials } from './httpSource.ts'
import { httpSource } from './httpSource.ts'
import { httpSink } from './httpSink.ts'
import type { StoreProvider } from '../provider.ts'
import { requireRoot } from '../provider.ts'
import { guardedTransport } from '../guardedFetch.ts'
import { r2Sink, r2Source } from '../r2/r2Store.ts'

/** The answer to a PUT comes after its body, which may be a film on a slow line; a stall is noticed much earlier. */
const HTTP_PUT_MS = 6 * 3600_000

export const httpProvider: StoreProvider<HttpAddress> = {
  openSource: (env, { address, credentials }) =>
    httpSource(address.url, httpAccessOf(credentials), guardedTransport(env)),
  openSink(env, request) {
    const { text, index } = requireRoot(request, 'http')
    // Removed with the rest of the job's intermediate objects.
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
