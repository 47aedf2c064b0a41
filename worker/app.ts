// In charge of: which route serves which address. Not in charge of: anything else.
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { AppEnv } from './http/context.ts'
import { observeRequest } from './http/observeRequest.ts'
import { handleError, errorResponse, methodNotAllowed, RequestError } from './http/requestError.ts'
import { diagnosisRoutes } from './diagnosis/diagnosisRoutes.ts'
import { dashboardRoutes, notFoundPage } from './service/dashboardRoutes.ts'
import { accountRoutes } from './admin/accountRoutes.ts'
import { archiveRoutes } from './delivery/archiveRoutes.ts'
import { taskApi } from './taskApi/taskRoutes.ts'
import { transcoderRoutes } from './admin/transcoderRoutes.ts'
import { registrationRoutes } from './taskApi/registrationRoutes.ts'
import { jobRoutes } from './jobs/jobRoutes.ts'
import { apiKeyRoutes } from './admin/apiKeyRoutes.ts'
import { metricsRoutes } from './service/metricsRoutes.ts'
import { objectRoutes } from './delivery/objectRoutes.ts'
import { posterRoutes } from './delivery/posterRoutes.ts'
import { presetRoutes } from './jobs/presetRoutes.ts'
import { serviceRoutes } from './service/serviceRoutes.ts'
import { shareRoutes } from './shares/shareRoutes.ts'
import { sharedPageRoutes } from './shares/sharedPageRoutes.ts'
import { tusHeaders } from './uploads/tus/tusRoutes.ts'
import { uploadTokenRoutes } from './uploads/uploadTokenRoutes.ts'
import { uploadRoutes } from './uploads/uploadRoutes.ts'
import { usageRoutes } from './usage/usageRoutes.ts'
import { vaultRoutes } from './admin/vaultRoutes.ts'
import { webhookRoutes } from './webhooks/webhookRoutes.ts'
import { routedPath } from './http/routedPath.ts'
import { authenticateUpload } from './uploads/authenticateUpload.ts'

// Any web page may call the API with a key that it has. Cookies and stored browser logins are never used.
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
    'X-Request-ID',
  ],
  maxAge: 86_400,
})

export const app = new Hono<AppEnv>({ getPath: routedPath })
  .use(observeRequest)
  .onError(handleError)
  .notFound(async (c) => (await notFoundPage(c)) ?? errorResponse(noRoute(c.req.path)))
  .use('/api/*', crossOrigin)
  .use('/uploads/*', tusHeaders)
  .use('/uploads/*', crossOrigin)
  .route('/', serviceRoutes)
  .route('/api/v0/job', jobRoutes)
  // Behind jobRoutes, whose authentication covers this path. A second one would count the request twice.
  .route('/api/v0/job', shareRoutes)
  .route('/api/v0/presets', presetRoutes)
  .route('/api/v0/uploads/tokens', uploadTokenRoutes)
  .route('/api/v0/keys', apiKeyRoutes)
  .route('/api/v0/accounts', accountRoutes)
  .route('/api/v0/usage', usageRoutes)
  .route('/api/v0/transcoders', transcoderRoutes)
  .route('/api/v0/webhooks', webhookRoutes)
  .route('/api/v0/vault', vaultRoutes)
  .route('/api/v0/diagnosis', diagnosisRoutes)
  .route('/metrics', metricsRoutes)
  .use('/uploads/*', authenticateUpload)
  .route('/uploads', uploadRoutes)
  .route('/o', objectRoutes)
  .route('/p', posterRoutes)
  .route('/a', archiveRoutes)
  .route('/s', sharedPageRoutes)
  .route('/', dashboardRoutes)
  // In front of the tasks, whose tokens are others.
  .route('/', registrationRoutes)
  .route('/', taskApi as unknown as Hono<AppEnv>)

/** The commonest mistake: the job's UUID, or no number, where the path takes the number that creating it answered. */
function noSuchPath(path: string): string {
  const [, id] = /^\/api\/v0\/job\/([^/]{1,64})(?:\/[a-z]+)?$/.exec(path) ?? []
  return id === undefined
    ? 'There is no such route in this version. /docs lists all of them.'
    : 'There is no such job: the path takes the number in _auto_generated_id_ of the created job, not its job_id.'
}

/** For a path that supports other methods: 405 (RFC 9110, 15.5.6). Middleware does not count as a route. */
function noRoute(path: string): RequestError {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) =>
    app.router.match(method === 'HEAD' ? 'GET' : method, path)[0].some(([[, route]]) => route.method !== 'ALL'),
  )
  return methods.length > 0 ? methodNotAllowed(methods.join(', ')) : new RequestError('not_found', noSuchPath(path))
}
