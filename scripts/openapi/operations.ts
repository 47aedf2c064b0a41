// In charge of: the operations: their parameters, bodies, answers and an example command for the reference.
// Not in charge of: example answers (examples.ts), the document (openapiDocument.ts).
import { METADATA } from '#contract/limits.ts'
import type { RequestErrorCode } from '#contract/errorCodes.ts'
import * as example from './examples.ts'
import type { AnswerName } from './answerSchemas.ts'
import { schemaRef, stringSchema, type Schema } from './schemaParts.ts'

interface Media {
  /** Media type. For a file stored under its own type, a range of types. */
  type: string
  schema: Schema
  example?: unknown
  /** For JSON: the name of its schema in answerSchemas.ts. */
  shape?: AnswerName
}

export interface Operation {
  /** Operation id for client generators: a verb and its object. */
  id: string
  /** A few words, without a full stop. */
  summary: string
  /** Whole sentences, in Markdown. */
  description: string
  /** null = no key. upload = an API key or an upload token. signed = the address itself grants access. */
  auth: 'jobs' | 'upload' | 'admin' | 'signed' | null
  query?: Record<string, Schema>
  headers?: Record<string, Schema>
  body?: { type: string; schema: Schema; example?: unknown; optional?: true }
  status: number
  /** null = no body. */
  answers: Media | null
  /** Further answers that are not errors. Without a type they have no body. */
  others?: readonly ({ status: number; description: string } & Partial<Media>)[]
  errors: readonly RequestErrorCode[]
  /** A shell command that uses BASE, KEY and other variables that it names. */
  curl: string
}

const json = (shape: AnswerName, one: unknown) => ({
  type: 'application/json',
  schema: schemaRef(shape),
  example: one,
  shape,
})
/** Bytes with the media type under which they were sent or generated. */
const bytes = { type: '*/*', schema: {} }
const binary: Schema = { ...stringSchema, format: 'binary' }
const html = { type: 'text/html', schema: stringSchema }
const idempotency = {
  'Idempotency-Key': {
    ...stringSchema,
    pattern: '^[!-~]{1,255}$',
    description: 'The same key makes no second job: 1 to 255 visible ASCII characters.',
  },
}
const page = {
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  cursor: { ...stringSchema, pattern: '^[1-9][0-9]{0,14}$', description: '`next_cursor` of the page before.' },
}
/** Conditional and range requests for a stored file (RFC 9110, 13 and 14). */
const conditions = {
  Range: stringSchema,
  'If-Match': stringSchema,
  'If-None-Match': stringSchema,
  'If-Modified-Since': stringSchema,
  'If-Unmodified-Since': stringSchema,
  'If-Range': stringSchema,
}
const conditional = [
  { status: 206, description: 'The range that Range asks for', ...bytes },
  { status: 304, description: 'Not modified since (If-None-Match or If-Modified-Since)' },
  { status: 412, description: 'Modified since (If-Match or If-Unmodified-Since)' },
]
const STATES = 'ready|queued|running|committing|completed|error|failed|cancelled'
const tus = { 'Tus-Resumable': { enum: ['1.0.0'] } }

const jobs = (rest: string, options = ''): string => `curl -u "$KEY:" ${options}"$BASE/api/v0/job${rest}"`
const admin = (rest: string, options = ''): string => `curl -u "$ADMIN_KEY:" ${options}"$BASE${rest}"`
const body = (value: unknown): string => `--json '${JSON.stringify(value, null, 2)}' `

export const operations: Record<string, Operation> = {
  'GET /health': {
    id: 'getHealth',
    summary: 'Whether the service can take jobs',
    description:
      'Answers 200 when jobs can be created. With 503, `missing` names the settings or bindings that are absent. Meant for load balancers and uptime checks.',
    auth: null,
    status: 200,
    answers: json('Health', example.health),
    errors: [],
    curl: 'curl "$BASE/health"',
  },
  'GET /api/v0/limits': {
    id: 'getLimits',
    summary: 'Read the limits',
    description:
      'Answers with every limit of the service: sizes, counts, text lengths, minimum bitrates, audio bitrates, quotas and retention.',
    auth: null,
    status: 200,
    answers: json('Limits', example.limits),
    errors: [],
    curl: 'curl "$BASE/api/v0/limits"',
  },
  'POST /uploads': {
    id: 'createUpload',
    summary: 'Upload a file',
    description:
      'The body is the file, raw or as multipart/form-data, 100 MB at most. With the headers of tus 1.0.0, it starts a resumable upload of at most 100 GB instead. Use `input` of the answer as the `input` of a job.',
    auth: 'upload',
    query: { name: stringSchema },
    headers: { ...tus, 'Upload-Length': stringSchema, 'Upload-Metadata': stringSchema },
    // A raw body may have any type. Client generators know this one.
    body: { type: 'application/octet-stream', schema: binary, optional: true },
    status: 201,
    answers: json('Upload', example.upload),
    errors: [
      'invalid_request',
      'length_required',
      'unsupported_version',
      'too_large',
      'unsupported_media_type',
      'quota_exceeded',
      'gone',
    ],
    curl: 'curl -u "$KEY:" --data-binary @film.mp4 "$BASE/uploads?name=film.mp4"',
  },
  'GET /uploads': {
    id: 'listUploads',
    summary: 'List uploads',
    description: 'Lists uploads that have not expired, newest first.',
    auth: 'jobs',
    query: {
      ...page,
      state: { enum: ['receiving', 'ready'] },
      token: {
        ...stringSchema,
        pattern: '^ut_[A-Za-z0-9_-]{12}$',
        description: '`token_id` of an upload token: only uploads that were made with it.',
      },
    },
    status: 200,
    answers: json('UploadList', example.uploadList),
    errors: ['invalid_request', 'unsupported_version'],
    curl: 'curl -u "$KEY:" "$BASE/uploads?state=ready"',
  },
  'POST /api/v0/uploads/tokens': {
    id: 'createUploadToken',
    summary: 'Issue an upload token',
    description:
      'Issues a short-lived token for a page that must not know an API key. As `Authorization: Bearer <token>` it sends files to /uploads, from any origin, and does nothing else. Its uploads belong to the account and count against its quotas. It ends when it expires, when it is revoked, or with the API key that issued it.',
    auth: 'jobs',
    body: {
      type: 'application/json',
      schema: schemaRef('NewUploadToken'),
      example: example.newUploadToken,
      optional: true,
    },
    status: 201,
    answers: json('UploadToken', example.uploadToken),
    errors: ['invalid_request', 'too_large', 'unsupported_media_type', 'quota_exceeded'],
    curl: `curl -u "$KEY:" ${body(example.newUploadToken)}"$BASE/api/v0/uploads/tokens"`,
  },
  'DELETE /api/v0/uploads/tokens/{token}': {
    id: 'revokeUploadToken',
    summary: 'Revoke an upload token',
    description: 'Takes a `token_id`. Uploads that were made with it stay.',
    auth: 'jobs',
    status: 204,
    answers: null,
    errors: ['not_found'],
    curl: 'curl -u "$KEY:" -X DELETE "$BASE/api/v0/uploads/tokens/$TOKEN_ID"',
  },
  'HEAD /uploads/{number}': {
    id: 'getUploadOffset',
    summary: 'Read the offset of a resumable upload',
    description: '`Upload-Offset` says how many bytes are stored; continue there after an interruption (tus 1.0.0).',
    auth: 'upload',
    headers: tus,
    status: 200,
    answers: null,
    errors: ['not_found', 'gone', 'unsupported_version'],
    curl: 'curl -u "$KEY:" -I -H "Tus-Resumable: 1.0.0" "$BASE/uploads/$UPLOAD"',
  },
  'PATCH /uploads/{number}': {
    id: 'continueUpload',
    summary: 'Send the next bytes of a resumable upload',
    description: 'The body goes to `Upload-Offset`, which must be the number of bytes that are stored (tus 1.0.0).',
    auth: 'upload',
    headers: { ...tus, 'Upload-Offset': stringSchema, 'Upload-Checksum': stringSchema },
    body: { type: 'application/offset+octet-stream', schema: binary },
    status: 204,
    answers: null,
    errors: [
      'invalid_request',
      'not_found',
      'conflict',
      'gone',
      'unsupported_version',
      'too_large',
      'unsupported_media_type',
      'locked',
      'checksum_mismatch',
    ],
    curl: `curl -u "$KEY:" -X PATCH -H "Tus-Resumable: 1.0.0" -H "Upload-Offset: 0" -H "Content-Type: application/offset+octet-stream" --data-binary @film.mp4 "$BASE/uploads/$UPLOAD"`,
  },
  'GET /uploads/{number}': {
    id: 'getUpload',
    summary: 'Download an uploaded file',
    description: 'Answers with the file as it was uploaded, whole or the range that `Range` asks for.',
    auth: 'jobs',
    headers: conditions,
    status: 200,
    answers: bytes,
    others: conditional,
    errors: ['not_found', 'range_not_satisfiable'],
    curl: 'curl -u "$KEY:" -o back.mp4 "$BASE/uploads/$UPLOAD"',
  },
  'DELETE /uploads/{number}': {
    id: 'deleteUpload',
    summary: 'Delete an upload',
    description: 'Removes the file. An upload that is still in progress is stopped.',
    auth: 'upload',
    headers: tus,
    status: 204,
    answers: null,
    errors: ['not_found', 'gone', 'unsupported_version'],
    curl: 'curl -u "$KEY:" -X DELETE "$BASE/uploads/$UPLOAD"',
  },
  'POST /api/v0/job': {
    id: 'createJob',
    summary: 'Create a job',
    description:
      'Validates the body, stores the job and puts it into the queue. A body with mistakes is refused with all of them, each with its path. With `dry_run=true` the job only reads the source and plans: the result is in `status.estimate`, and nothing is encoded or stored.',
    auth: 'jobs',
    query: { dry_run: { enum: ['true', 'false'] } },
    headers: idempotency,
    body: { type: 'application/json', schema: schemaRef('Job'), example: example.job },
    status: 200,
    answers: json('Created', example.created),
    errors: ['invalid_request', 'idempotency_conflict', 'too_large', 'unsupported_media_type', 'quota_exceeded'],
    curl: jobs('', body(example.job)),
  },
  'GET /api/v0/job': {
    id: 'listJobs',
    summary: 'List jobs',
    description:
      'Lists the jobs of the account, newest first, filtered by state, creation time, metadata or a search text.',
    auth: 'jobs',
    query: {
      ...page,
      search: {
        ...stringSchema,
        pattern: String.raw`\S`,
        maxLength: 200,
        description:
          'A number, the beginning of a job_id (8 characters or more), or a part of the source’s name, its address or a metadata value.',
      },
      state: {
        ...stringSchema,
        pattern: `^(${STATES})(,(${STATES}))*$`,
        description: 'Comma-separated: ready, queued, running, committing, completed, error, failed, cancelled.',
      },
      metadata: {
        type: 'array',
        maxItems: METADATA.members,
        items: {
          ...stringSchema,
          pattern: `^${METADATA.name_pattern}:${METADATA.value_pattern}$`,
          not: { pattern: '^__proto__:' },
        },
        description: '`name:value`: only jobs whose metadata has exactly that value. Repeat the parameter for several.',
      },
      created_from: { ...stringSchema, format: 'date-time' },
      created_to: { ...stringSchema, format: 'date-time' },
    },
    status: 200,
    answers: json('JobList', example.jobList),
    errors: ['invalid_request'],
    curl: jobs('?limit=10&state=completed,failed'),
  },
  'GET /api/v0/job/{id}': {
    id: 'getJob',
    summary: 'Read a job',
    description:
      'Answers with the status of the job and its configuration as it was stored. Poll it until `status.job_completed` is true, or follow `/events`.',
    auth: 'jobs',
    status: 200,
    answers: json('JobRead', example.jobRead),
    errors: ['not_found'],
    curl: jobs('/$JOB'),
  },
  'DELETE /api/v0/job/{id}': {
    id: 'deleteJob',
    summary: 'Delete a job',
    description:
      'Removes a job that has ended, with its record, its sealed credentials and its objects in the service’s own store. Objects in your own stores stay.',
    auth: 'jobs',
    status: 204,
    answers: null,
    errors: ['not_found', 'job_active'],
    curl: jobs('/$JOB', '-X DELETE '),
  },
  'POST /api/v0/job/{id}/cancel': {
    id: 'cancelJob',
    summary: 'Cancel a job',
    description:
      'Stops the job; the transcoder ends within seconds. Refused once the job has ended or its outputs are being published.',
    auth: 'jobs',
    status: 200,
    answers: json('JobRead', example.jobCancelled),
    errors: ['not_found', 'job_finished'],
    curl: jobs('/$JOB/cancel', '-X POST '),
  },
  'POST /api/v0/job/{id}/retry': {
    id: 'retryJob',
    summary: 'Repeat a job',
    description:
      'Creates a new job with the configuration of a failed or cancelled one. The body may bring new credentials or addresses.',
    auth: 'jobs',
    headers: idempotency,
    body: { type: 'application/json', schema: schemaRef('Retry'), example: {}, optional: true },
    status: 200,
    answers: json('Created', example.retried),
    errors: [
      'invalid_request',
      'not_found',
      'idempotency_conflict',
      'job_active',
      'job_finished',
      'credentials_expired',
      'too_large',
      'unsupported_media_type',
      'quota_exceeded',
    ],
    curl: jobs('/$JOB/retry', '-X POST '),
  },
  'GET /api/v0/job/{id}/events': {
    id: 'listJobEvents',
    summary: 'Read or follow the events of a job',
    description:
      'Answers with the timeline as JSON, or with `Accept: text/event-stream` as Server-Sent Events with live progress until the job ends.',
    auth: 'jobs',
    headers: { 'Last-Event-ID': stringSchema },
    status: 200,
    answers: json('Events', example.events),
    others: [
      { status: 200, description: 'The timeline', type: 'text/event-stream', schema: stringSchema },
      { status: 204, description: 'The job has ended, and Last-Event-ID is its last event' },
    ],
    errors: ['not_found', 'quota_exceeded'],
    curl: jobs('/$JOB/events'),
  },
  'GET /api/v0/job/{id}/log': {
    id: 'getJobLog',
    summary: 'Read the log of a job',
    description:
      'Lists, for each of the last five attempts, every ffmpeg command with its purpose, time and exit code, and the messages of the transcoder. `Accept: text/plain` gives it as text. It holds no credentials and no address of the source.',
    auth: 'jobs',
    status: 200,
    answers: json('JobLog', example.jobLog),
    others: [{ status: 200, description: 'The log', type: 'text/plain', schema: stringSchema }],
    errors: ['not_found'],
    curl: jobs('/$JOB/log'),
  },
  'GET /api/v0/job/{id}/webhooks': {
    id: 'listWebhookDeliveries',
    summary: 'List the webhook deliveries of a job',
    description: 'Lists each webhook of the job with every attempt to deliver it.',
    auth: 'jobs',
    status: 200,
    answers: json('DeliveryList', { deliveries: [example.delivery] }),
    errors: ['not_found'],
    curl: jobs('/$JOB/webhooks'),
  },
  'POST /api/v0/job/{id}/webhooks/{webhook}/replay': {
    id: 'replayWebhook',
    summary: 'Send a webhook again',
    description: 'Delivers the same event once more, with the same `webhook-id`.',
    auth: 'jobs',
    status: 202,
    answers: json('Delivery', example.replayed),
    errors: ['not_found', 'credentials_expired'],
    curl: jobs('/$JOB/webhooks/$WEBHOOK/replay', '-X POST '),
  },
  'POST /api/v0/job/{id}/share': {
    id: 'createShare',
    summary: 'Share a job’s outputs',
    description:
      'Makes a page that plays the outputs for anyone who has its address, without a key, and the same as a bare player for frames. For completed jobs whose outputs are in the service’s own store. A job may have 100 shares.',
    auth: 'jobs',
    body: { type: 'application/json', schema: schemaRef('NewShare'), example: example.newShare, optional: true },
    status: 200,
    answers: json('Share', example.share),
    errors: ['invalid_request', 'not_found', 'not_shareable', 'too_large', 'unsupported_media_type', 'quota_exceeded'],
    curl: jobs('/$JOB/share', body(example.newShare)),
  },
  'GET /api/v0/job/{id}/share': {
    id: 'listShares',
    summary: 'List the shares of a job',
    description: 'Lists shares that are in force, newest first.',
    auth: 'jobs',
    status: 200,
    answers: json('ShareList', { shares: [example.share] }),
    errors: ['not_found'],
    curl: jobs('/$JOB/share'),
  },
  'DELETE /api/v0/job/{id}/share/{share}': {
    id: 'revokeShare',
    summary: 'Revoke a share',
    description:
      'Its page and its player answer 404 from now on. Addresses of media that a viewer has loaded already expire after 13 hours at most.',
    auth: 'jobs',
    status: 204,
    answers: null,
    errors: ['not_found'],
    curl: jobs('/$JOB/share/$SHARE', '-X DELETE '),
  },
  'GET /s/{token}': {
    id: 'getSharePage',
    summary: 'Open a shared page',
    description:
      'Answers with a page that plays the outputs: adaptive HLS or DASH, or a file, with captions, a quality menu and downloads. A 404 page for every address that is not a share in force.',
    auth: 'signed',
    status: 200,
    answers: html,
    others: [{ status: 404, description: 'Not shared, or no longer', ...html }],
    errors: [],
    curl: 'curl "$SHARE_URL"',
  },
  'GET /s/{token}/embed': {
    id: 'getSharePlayer',
    summary: 'Open a shared player',
    description: 'Answers with the player of the shared page alone, to be framed by pages of any origin.',
    auth: 'signed',
    status: 200,
    answers: html,
    others: [{ status: 404, description: 'Not shared, or no longer', ...html }],
    errors: [],
    curl: 'curl "$SHARE_URL/embed"',
  },
  'GET /s/{token}/data': {
    id: 'getSharedMedia',
    summary: 'Read what a shared page plays',
    description:
      'Answers with addresses for a player of your own; readable from pages of any origin. They expire at `addresses_expire_at`, after which this gives new ones.',
    auth: 'signed',
    status: 200,
    answers: json('SharedMedia', example.sharedMediaExample),
    errors: ['not_found'],
    curl: 'curl "$SHARE_URL/data"',
  },
  'GET /a/{grant}/{account}/{job}/{name}': {
    id: 'getArchive',
    summary: 'Download all outputs as a tar',
    description:
      'Answers with every object of the job in the service’s own store, segments too, as one tar that is made while it is read. `status.archive_url` is such an address. A download that broke off can be resumed with `Range`.',
    auth: 'signed',
    headers: { Range: stringSchema, 'If-Range': stringSchema, 'If-None-Match': stringSchema },
    status: 200,
    answers: { type: 'application/x-tar', schema: {} },
    others: [
      { status: 206, description: 'The range that Range asks for', type: 'application/x-tar', schema: {} },
      { status: 304, description: 'Not modified since (If-None-Match)' },
    ],
    errors: ['forbidden', 'not_found', 'range_not_satisfiable'],
    curl: 'curl -o outputs.tar "$ARCHIVE_URL"',
  },
  'GET /api/v0/presets': {
    id: 'listPresets',
    summary: 'List presets',
    description:
      'Lists built-in presets first, then the account’s own by name. `job` has members of a job’s body; a job that names the preset takes those that its own body does not have.',
    auth: 'jobs',
    status: 200,
    answers: json('PresetList', example.presetList),
    errors: [],
    curl: 'curl -u "$KEY:" "$BASE/api/v0/presets"',
  },
  'POST /api/v0/presets': {
    id: 'createPreset',
    summary: 'Save a preset',
    description:
      'Saves output settings under a name. `job` is judged as the body of a job would be, without source and credentials; all problems are listed at once. Names are unique within the account, in any case.',
    auth: 'jobs',
    body: { type: 'application/json', schema: schemaRef('NewPreset'), example: example.newPreset },
    status: 201,
    answers: json('Preset', example.preset),
    errors: ['invalid_request', 'conflict', 'too_large', 'unsupported_media_type', 'quota_exceeded'],
    curl: `curl -u "$KEY:" ${body(example.newPreset)}"$BASE/api/v0/presets"`,
  },
  'GET /api/v0/presets/{preset}': {
    id: 'getPreset',
    summary: 'Read a preset',
    description: 'Reads a built-in preset or one of the account’s own by its `preset_id`.',
    auth: 'jobs',
    status: 200,
    answers: json('Preset', example.preset),
    errors: ['not_found'],
    curl: 'curl -u "$KEY:" "$BASE/api/v0/presets/$PRESET"',
  },
  'PUT /api/v0/presets/{preset}': {
    id: 'replacePreset',
    summary: 'Replace a preset',
    description:
      'Replaces name, description and settings of a preset of the account. Jobs that were created with it stay as they are. Built-in presets cannot be changed: 403.',
    auth: 'jobs',
    body: { type: 'application/json', schema: schemaRef('NewPreset'), example: example.newPreset },
    status: 200,
    answers: json('Preset', example.preset),
    errors: ['invalid_request', 'not_found', 'conflict', 'too_large', 'unsupported_media_type'],
    curl: `curl -u "$KEY:" -X PUT ${body(example.newPreset)}"$BASE/api/v0/presets/$PRESET"`,
  },
  'DELETE /api/v0/presets/{preset}': {
    id: 'deletePreset',
    summary: 'Delete a preset',
    description: 'Deletes a preset of the account. Jobs that were created with it stay as they are.',
    auth: 'jobs',
    status: 204,
    answers: null,
    errors: ['not_found'],
    curl: 'curl -u "$KEY:" -X DELETE "$BASE/api/v0/presets/$PRESET"',
  },
  'GET /o/{grant}/{account}/{job}/{path}': {
    id: 'getOutput',
    summary: 'Download an output',
    description:
      'Answers with an object in the service’s own store, whole or the range that `Range` asks for. `status.outputs[].url` is such an address; relative addresses inside of playlists and manifests work.',
    auth: 'signed',
    headers: conditions,
    status: 200,
    answers: bytes,
    others: conditional,
    errors: ['forbidden', 'not_found', 'range_not_satisfiable'],
    curl: 'curl -o video.mp4 "$OUTPUT_URL"',
  },
  'GET /p/{grant}/{job}/{attempt}': {
    id: 'getPoster',
    summary: 'Download the poster of a job',
    description:
      'Answers with a still of the source as JPEG. Its address is `status.poster.url`; it is kept as long as the outputs are.',
    auth: 'signed',
    headers: conditions,
    status: 200,
    answers: { type: 'image/jpeg', schema: {} },
    others: conditional,
    errors: ['forbidden', 'not_found', 'range_not_satisfiable'],
    curl: 'curl -o poster.jpg "$POSTER_URL"',
  },
  'GET /api/v0/webhooks/secret': {
    id: 'getWebhookSecret',
    summary: 'Read when the webhook secret was made',
    description: 'Answers with the times alone: the secret itself is shown only when it is made.',
    auth: 'jobs',
    status: 200,
    answers: json('WebhookSecret', example.secretFacts),
    errors: [],
    curl: 'curl -u "$KEY:" "$BASE/api/v0/webhooks/secret"',
  },
  'POST /api/v0/webhooks/secret/rotate': {
    id: 'rotateWebhookSecret',
    summary: 'Make a new webhook secret',
    description: 'Makes a secret that signs webhooks. Webhooks are signed with both secrets until the old one expires.',
    auth: 'jobs',
    status: 201,
    answers: json('NewWebhookSecret', example.newSecret),
    errors: [],
    curl: 'curl -u "$KEY:" -X POST "$BASE/api/v0/webhooks/secret/rotate"',
  },
  'GET /api/v0/keys': {
    id: 'listKeys',
    summary: 'List API keys',
    description: 'Lists all keys of the service, without their secrets.',
    auth: 'admin',
    status: 200,
    answers: json('KeyList', { keys: [example.key] }),
    errors: [],
    curl: admin('/api/v0/keys'),
  },
  'POST /api/v0/keys': {
    id: 'createKey',
    summary: 'Create an API key',
    description: 'Issues a key of an account. Its secret is in this answer and is never shown again.',
    auth: 'admin',
    body: { type: 'application/json', schema: schemaRef('NewKey'), example: example.newKey },
    status: 201,
    answers: json('IssuedKey', example.issuedKey),
    errors: ['invalid_request', 'too_large', 'unsupported_media_type'],
    curl: admin('/api/v0/keys', body(example.newKey)),
  },
  'PATCH /api/v0/keys/{key}': {
    id: 'updateKey',
    summary: 'Change an API key',
    description:
      'Changes the label, the quotas or the default webhook address. Members that are left out stay as they are.',
    auth: 'admin',
    body: { type: 'application/json', schema: schemaRef('KeyChange'), example: example.keyChange },
    status: 200,
    answers: json('Key', example.key),
    errors: ['invalid_request', 'not_found', 'too_large', 'unsupported_media_type'],
    curl: admin('/api/v0/keys/$KEY_ID', `-X PATCH ${body(example.keyChange)}`),
  },
  'POST /api/v0/keys/{key}/rotate': {
    id: 'rotateKey',
    summary: 'Replace an API key',
    description: 'Makes a new key with the same account, scopes and quotas, and revokes the old one.',
    auth: 'admin',
    status: 201,
    answers: json('ReplacedKey', example.replacedKey),
    errors: ['not_found'],
    curl: admin('/api/v0/keys/$KEY_ID/rotate', '-X POST '),
  },
  'DELETE /api/v0/keys/{key}': {
    id: 'revokeKey',
    summary: 'Revoke an API key',
    description: 'Requests with the key are refused from now on. Its jobs and uploads stay.',
    auth: 'admin',
    status: 204,
    answers: null,
    errors: ['not_found'],
    curl: admin('/api/v0/keys/$KEY_ID', '-X DELETE '),
  },
  'GET /api/v0/accounts': {
    id: 'listAccounts',
    summary: 'List accounts',
    description: 'Lists accounts that have a key, with their quotas.',
    auth: 'admin',
    status: 200,
    answers: json('AccountList', { accounts: [example.account] }),
    errors: [],
    curl: admin('/api/v0/accounts'),
  },
  'PUT /api/v0/accounts/{account}': {
    id: 'setQuotas',
    summary: 'Set the quotas of an account',
    description: 'Replaces the quotas. A member that is left out or null gets the default of the service.',
    auth: 'admin',
    body: { type: 'application/json', schema: schemaRef('Quotas'), example: example.quotas },
    status: 200,
    answers: json('Account', example.account),
    errors: ['invalid_request', 'not_found', 'too_large', 'unsupported_media_type'],
    curl: admin('/api/v0/accounts/me', `-X PUT ${body(example.quotas)}`),
  },
  'POST /api/v0/vault/rotate': {
    id: 'rotateVault',
    summary: 'Seal credentials with the newest vault key',
    description:
      'Seals one batch of credentials again. Call it with `next` and `next_key` of the answer until `done` is true.',
    auth: 'admin',
    query: {
      after: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
      after_key: { ...stringSchema, pattern: '^(sp_[A-Za-z0-9_-]{12})?$', default: '' },
    },
    status: 200,
    answers: json('VaultRotation', example.rotation),
    errors: ['invalid_request'],
    curl: admin('/api/v0/vault/rotate', '-X POST '),
  },
  'POST /api/v0/diagnosis': {
    id: 'diagnose',
    summary: 'Check every part of the service',
    description:
      'Checks database, store, queue, transcoders and settings from inside the service. What the checks write is removed again.',
    auth: 'admin',
    status: 200,
    answers: json('Diagnosis', example.diagnosis),
    errors: [],
    curl: admin('/api/v0/diagnosis', '-X POST '),
  },
  'GET /metrics': {
    id: 'getMetrics',
    summary: 'Read the metrics',
    description: 'Answers with the metrics of the service in the text format of Prometheus, version 0.0.4.',
    auth: 'admin',
    status: 200,
    answers: { type: 'text/plain', schema: stringSchema, example: example.metrics },
    errors: [],
    curl: admin('/metrics'),
  },
}
