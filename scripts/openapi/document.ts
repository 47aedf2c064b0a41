// In charge of: the OpenAPI 3.1 document: which operation takes and answers what, with examples that the tests send.
// Not in charge of: the schemas (schemas.ts), where it is served (scripts/web.ts).
import { requestErrors, type RequestErrorCode } from '#contract/errors.ts'
import { answer, ref, schemas, type Schema } from './schemas.ts'

interface Operation {
  summary: string
  /** null = without a key. */
  auth: 'jobs' | 'admin' | null
  query?: Record<string, Schema>
  headers?: Record<string, Schema>
  body?: { type: string; schema: Schema; example?: unknown; optional?: true }
  status: number
  /** null = no body. */
  answers: { type: string; schema: Schema } | null
  errors: readonly RequestErrorCode[]
}

const json = (schema: Schema) => ({ type: 'application/json', schema })
const bytes = { type: 'application/octet-stream', schema: {} }
const text: Schema = { type: 'string' }
const idempotency = { 'Idempotency-Key': { ...text, maxLength: 255, description: 'The same key makes no second job.' } }
const page = {
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  cursor: { ...text, description: '`next_cursor` of the page before.' },
}
const loose: Schema = { type: 'object' }

export const exampleJob = {
  input: '1',
  videoProfiles: [{ output: 'film-180.mp4', width: 0, height: 180, video_bitrate: 400, video_bitrate_mode: 'vbr' }],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 }],
  cloud_credentials: { input: { cloud_provider: 'file-upload' } },
}

export const operations: Record<string, Operation> = {
  'GET /health': {
    summary: 'Whether jobs can be taken',
    auth: null,
    status: 200,
    answers: json(ref('Health')),
    errors: [],
  },
  'GET /api/v0/limits': { summary: 'Every limit', auth: null, status: 200, answers: json(loose), errors: [] },
  'POST /uploads': {
    summary: 'Upload one file; larger ones by tus (docs/uploads.md)',
    auth: 'jobs',
    query: { name: text },
    body: bytes,
    status: 201,
    answers: json(ref('Upload')),
    errors: ['invalid_request', 'length_required', 'too_large', 'unsupported_media_type'],
  },
  'GET /uploads': {
    summary: 'List uploads that have not expired, newest first',
    auth: 'jobs',
    query: { ...page, state: { enum: ['receiving', 'ready'] } },
    status: 200,
    answers: json(ref('UploadList')),
    errors: ['invalid_request'],
  },
  'GET /uploads/{number}': {
    summary: 'The file back',
    auth: 'jobs',
    status: 200,
    answers: bytes,
    errors: ['not_found', 'range_not_satisfiable'],
  },
  'DELETE /uploads/{number}': { summary: 'Delete it', auth: 'jobs', status: 204, answers: null, errors: ['not_found'] },
  'POST /api/v0/job': {
    summary: 'Create a job',
    auth: 'jobs',
    query: { dry_run: { enum: ['true', 'false'] } },
    headers: idempotency,
    body: { ...json(ref('Job')), example: exampleJob },
    status: 200,
    answers: json(ref('Created')),
    errors: ['invalid_request', 'idempotency_conflict', 'too_large', 'quota_exceeded'],
  },
  'GET /api/v0/job': {
    summary: 'List jobs, newest first',
    auth: 'jobs',
    query: {
      ...page,
      search: {
        ...text,
        maxLength: 200,
        description:
          'A number, the beginning of a job_id (8 characters or more), or a part of the source’s name or address.',
      },
      state: {
        ...text,
        description: 'Comma-separated: ready, queued, running, committing, completed, error, failed, cancelled.',
      },
      created_from: { ...text, format: 'date-time' },
      created_to: { ...text, format: 'date-time' },
    },
    status: 200,
    answers: json(ref('JobList')),
    errors: ['invalid_request'],
  },
  'GET /api/v0/job/{id}': {
    summary: 'Read a job',
    auth: 'jobs',
    status: 200,
    answers: json(ref('JobRead')),
    errors: ['not_found'],
  },
  'DELETE /api/v0/job/{id}': {
    summary: 'Delete a job that has ended',
    auth: 'jobs',
    status: 204,
    answers: null,
    errors: ['not_found', 'job_active'],
  },
  'POST /api/v0/job/{id}/cancel': {
    summary: 'Cancel a job',
    auth: 'jobs',
    status: 200,
    answers: json(ref('JobRead')),
    errors: ['not_found', 'job_finished'],
  },
  'POST /api/v0/job/{id}/retry': {
    summary: 'Run a failed or cancelled job again, as a new one',
    auth: 'jobs',
    headers: idempotency,
    body: { ...json(loose), optional: true },
    status: 200,
    answers: json(ref('Created')),
    errors: ['not_found', 'job_active', 'job_finished', 'credentials_expired', 'quota_exceeded'],
  },
  'GET /api/v0/job/{id}/events': {
    summary: 'The timeline, as JSON or (Accept: text/event-stream) as Server-Sent Events',
    auth: 'jobs',
    status: 200,
    answers: json(answer({ events: { type: 'array', items: loose }, job_completed: { type: 'boolean' } })),
    errors: ['not_found'],
  },
  'GET /api/v0/job/{id}/webhooks': {
    summary: 'What was told by webhook, and every try',
    auth: 'jobs',
    status: 200,
    answers: json(answer({ deliveries: { type: 'array', items: loose } })),
    errors: ['not_found'],
  },
  'POST /api/v0/job/{id}/webhooks/{webhook}/replay': {
    summary: 'Send a webhook once more',
    auth: 'jobs',
    status: 202,
    answers: json(loose),
    errors: ['not_found'],
  },
  'GET /api/v0/webhooks/secret': {
    summary: 'When the secret of the webhooks was made',
    auth: 'jobs',
    status: 200,
    answers: json(loose),
    errors: [],
  },
  'POST /api/v0/webhooks/secret/rotate': {
    summary: 'Make a new secret',
    auth: 'jobs',
    status: 201,
    answers: json(loose),
    errors: [],
  },
  'GET /api/v0/keys': {
    summary: 'List API keys',
    auth: 'admin',
    status: 200,
    answers: json(ref('KeyList')),
    errors: [],
  },
  'POST /api/v0/keys': {
    summary: 'Issue an API key',
    auth: 'admin',
    body: { ...json(loose), example: { account: 'me', label: 'first', scopes: ['jobs'] } },
    status: 201,
    answers: json(ref('IssuedKey')),
    errors: ['invalid_request'],
  },
  'PATCH /api/v0/keys/{key}': {
    summary: 'Change the label, the quotas or the webhook_url of a key',
    auth: 'admin',
    body: { ...json(loose), example: { label: 'first', webhook_url: null } },
    status: 200,
    answers: json(ref('Key')),
    errors: ['invalid_request', 'not_found'],
  },
  'POST /api/v0/keys/{key}/rotate': {
    summary: 'Replace a key',
    auth: 'admin',
    status: 201,
    answers: json(ref('IssuedKey')),
    errors: ['not_found'],
  },
  'DELETE /api/v0/keys/{key}': {
    summary: 'Revoke a key',
    auth: 'admin',
    status: 204,
    answers: null,
    errors: ['not_found'],
  },
  'GET /api/v0/accounts': {
    summary: 'List accounts and their quotas',
    auth: 'admin',
    status: 200,
    answers: json(loose),
    errors: [],
  },
  'PUT /api/v0/accounts/{account}': {
    summary: 'Set the quotas of an account',
    auth: 'admin',
    body: json(loose),
    status: 200,
    answers: json(loose),
    errors: ['invalid_request'],
  },
  'POST /api/v0/vault/rotate': {
    summary: 'Seal credentials again with the first key of the vault',
    auth: 'admin',
    query: { after: text },
    status: 200,
    answers: json(loose),
    errors: [],
  },
  'GET /metrics': {
    summary: 'Prometheus text',
    auth: 'admin',
    status: 200,
    answers: { type: 'text/plain', schema: text },
    errors: [],
  },
}

function errorsOf({ auth, errors }: Operation): Record<string, object> {
  const always: RequestErrorCode[] = auth === null ? [] : ['unauthorized', 'forbidden', 'rate_limited']
  const byStatus = Object.groupBy(
    [...errors, ...always, 'internal', 'unavailable'] as RequestErrorCode[],
    (code) => requestErrors[code],
  )
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [
      status,
      { description: (codes ?? []).join(', '), content: { 'application/json': { schema: ref('Error') } } },
    ]),
  )
}

function operation(name: string, one: Operation): object {
  const path = [...name.matchAll(/\{(\w+)\}/g)].map(([, id]) => ({
    name: id,
    in: 'path',
    required: true,
    schema: text,
  }))
  const given = (where: string, table: Record<string, Schema> = {}) =>
    Object.entries(table).map(([id, schema]) => ({ name: id, in: where, schema }))
  const { body, answers } = one
  return {
    operationId: name.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, ''),
    summary: one.summary,
    security: one.auth === null ? [] : [{ key: [] }],
    parameters: [...path, ...given('query', one.query), ...given('header', one.headers)],
    ...(body
      ? {
          requestBody: {
            required: body.optional !== true,
            content: {
              [body.type]: { schema: body.schema, ...(body.example === undefined ? {} : { example: body.example }) },
            },
          },
        }
      : {}),
    responses: {
      [one.status]: {
        description: one.summary,
        ...(answers ? { content: { [answers.type]: { schema: answers.schema } } } : {}),
      },
      ...errorsOf(one),
    },
  }
}

export function openapi(): Schema {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, one] of Object.entries(operations)) {
    const [method = '', path = ''] = name.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(name, one) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Splicepoint',
      version: '0',
      description:
        'One HTTP request in, files that play out. The user name of HTTP Basic is the API key; the password is ignored.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: { securitySchemes: { key: { type: 'http', scheme: 'basic' } }, schemas },
  }
}
