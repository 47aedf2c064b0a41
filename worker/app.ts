// In charge of: which route serves which address. Not in charge of: anything else.
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { AppEnv } from './http.ts'
import { answerError, errorResponse, notAllowed, RequestError } from './problems.ts'
import { diagnosis } from './routes/diagnosis.ts'
import { dashboard, lostPage } from './routes/dashboard.ts'
import { accounts } from './routes/accounts.ts'
import { archives } from './routes/archives.ts'
import { door } from './routes/door.ts'
import { jobs } from './routes/jobs.ts'
import { keys } from './routes/keys.ts'
import { metrics } from './routes/metrics.ts'
import { objects } from './routes/objects.ts'
import { posters } from './routes/posters.ts'
import { presets } from './routes/presets.ts'
import { service } from './routes/service.ts'
import { shared } from './routes/shared.ts'
import { tusHeaders } from './routes/tus.ts'
import { tokens } from './routes/tokens.ts'
import { uploads } from './routes/uploads.ts'
import { vault } from './routes/vault.ts'
import { webhooks } from './routes/webhooks.ts'
import { routedPath } from './paths.ts'
import { authenticateUpload } from './uploader.ts'

// Any page may call the API with a key that it was given; cookies or a browser's stored login are never shared.
const crossOrigin = cors({
  origin: '*',
  allowHeaders: [
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'Last-Event-ID',
    'Range',
    'If-Match',
    'If-None-Match',
    'If-Range',
    'Tus-Resumable',
    'Upload-Length',
    'Upload-Offset',
    'Upload-Metadata',
    'Upload-Checksum',
    'Upload-Defer-Length',
    'Upload-Concat',
    'X-HTTP-Method-Override',
    'X-Request-ID',
  ],
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposeHeaders: [
    'Location',
    'Retry-After',
    'Content-Range',
    'ETag',
    'Accept-Ranges',
    'Tus-Resumable',
    'Tus-Version',
    'Tus-Extension',
    'Tus-Max-Size',
    'Tus-Checksum-Algorithm',
    'Upload-Offset',
    'Upload-Length',
    'Upload-Metadata',
    'Upload-Expires',
    'Uploaded-File-Number',
  ],
  maxAge: 86_400,
})

export const app = new Hono<AppEnv>({ getPath: routedPath })
  .onError(answerError)
  .notFound(async (c) => (await lostPage(c)) ?? errorResponse(noRoute(c.req.path)))
  .use('/api/*', crossOrigin)
  .use('/uploads/*', tusHeaders)
  .use('/uploads/*', crossOrigin)
  .route('/', service)
  .route('/api/v0/job', jobs)
  .route('/api/v0/presets', presets)
  .route('/api/v0/uploads/tokens', tokens)
  .route('/api/v0/keys', keys)
  .route('/api/v0/accounts', accounts)
  .route('/api/v0/webhooks', webhooks)
  .route('/api/v0/vault', vault)
  .route('/api/v0/diagnosis', diagnosis)
  .route('/metrics', metrics)
  .use('/uploads/*', authenticateUpload)
  .route('/uploads', uploads)
  .route('/o', objects)
  .route('/p', posters)
  .route('/a', archives)
  .route('/s', shared)
  .route('/', dashboard)
  .route('/', door as unknown as Hono<AppEnv>)

/** What takes an address by another method says so (RFC 9110, 15.5.6); middleware alone serves nothing. */
function noRoute(path: string): RequestError {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) =>
    app.router.match(method === 'HEAD' ? 'GET' : method, path)[0].some(([[, route]]) => route.method !== 'ALL'),
  )
  return methods.length > 0
    ? notAllowed(methods.join(', '))
    : new RequestError('not_found', 'There is no such route in this version. /docs lists all of them.')
}
