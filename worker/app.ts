// In charge of: which route serves which address. Not in charge of: anything else.
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { AppEnv } from './http/context.ts'
import { answerError, errorResponse, notAllowed, RequestError } from './http/requestError.ts'
import { diagnosis } from './diagnosis/diagnosisRoutes.ts'
import { dashboard, lostPage } from './service/dashboardRoutes.ts'
import { accounts } from './admin/accountRoutes.ts'
import { archives } from './delivery/archiveRoutes.ts'
import { door } from './taskApi/taskRoutes.ts'
import { jobs } from './jobs/jobRoutes.ts'
import { keys } from './admin/apiKeyRoutes.ts'
import { metrics } from './service/metricsRoutes.ts'
import { objects } from './delivery/objectRoutes.ts'
import { posters } from './delivery/posterRoutes.ts'
import { presets } from './jobs/presetRoutes.ts'
import { service } from './service/serviceRoutes.ts'
import { shared } from './shares/sharedPageRoutes.ts'
import { tusHeaders } from './uploads/tus/tusRoutes.ts'
import { tokens } from './uploads/uploadTokenRoutes.ts'
import { uploads } from './uploads/uploadRoutes.ts'
import { vault } from './admin/vaultRoutes.ts'
import { webhooks } from './webhooks/webhookRoutes.ts'
import { routedPath } from './http/routedPath.ts'
import { authenticateUpload } from './uploads/authenticateUpload.ts'

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
