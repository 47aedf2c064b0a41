// In charge of: the operations of jobs: create, read, end, repeat, log, events, webhook deliveries.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import { MAX_JOB_PARTS, METADATA } from '#contract/limits.ts'
import * as example from '../examples.ts'
import { schemaRef, stringSchema } from '../schemaParts.ts'
import { body, jobs, json, page, type OperationTable } from './operation.ts'

const idempotency = {
  'Idempotency-Key': {
    ...stringSchema,
    pattern: '^[!-~]{1,255}$',
    description: 'A second request with the same key creates no second job. 1 to 255 visible ASCII characters.',
  },
}
const STATES = 'ready|queued|running|committing|completed|error|failed|cancelled'

export const jobOperations: OperationTable = {
  'POST /api/v0/job': {
    id: 'createJob',
    summary: 'Create a job',
    description:
      'Validates the body, stores the job and puts it into the queue. For an invalid body, the answer lists all problems with their paths. With `dry_run=true` the job only analyses the source and makes a plan: the result is in `status.estimate`, and nothing is encoded or stored. `dry_run=unlisted` does the same for a form: the dry run is in no list, ends after 10 minutes at the latest, and is deleted 10 minutes later; `DELETE` also ends it.',
    auth: 'jobs',
    query: { dry_run: { enum: ['true', 'false', 'unlisted'] } },
    headers: idempotency,
    body: { type: 'application/json', schema: schemaRef('Job'), example: example.job },
    answers: json('Created', example.created),
    errors: [
      'invalid_request',
      'spend_cap_reached',
      'idempotency_conflict',
      'too_large',
      'unsupported_media_type',
      'quota_exceeded',
    ],
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
          'A job number, the first 8 or more characters of a job_id, or a part of the source’s name, its address or a metadata value.',
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
        description: '`name:value`: only jobs whose metadata has exactly that value. Can be repeated.',
      },
      created_from: { ...stringSchema, format: 'date-time' },
      created_to: { ...stringSchema, format: 'date-time' },
      counts: { enum: ['true', 'false'], description: 'true adds `counts` to the answer.' },
    },
    answers: json('JobList', example.jobList),
    errors: ['invalid_request'],
    curl: jobs('?limit=10&state=completed,failed'),
  },
  'GET /api/v0/job/{id}': {
    id: 'getJob',
    summary: 'Read a job',
    description:
      'Returns the status of the job and its configuration as stored. Poll it until `status.job_completed` is true, or follow `/events`.',
    auth: 'jobs',
    answers: json('JobRead', example.jobRead),
    errors: ['not_found'],
    curl: jobs('/$JOB'),
  },
  'DELETE /api/v0/job/{id}': {
    id: 'deleteJob',
    summary: 'Delete a job',
    description:
      'Removes a job that has ended, with its record, its encrypted credentials and its objects in the service’s own store. Objects in your own stores stay.',
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
      'Stops the job; the transcoder ends within seconds. Refused when the job has ended or its outputs are being published.',
    auth: 'jobs',
    answers: json('JobRead', example.jobCancelled),
    errors: ['not_found', 'job_finished'],
    curl: jobs('/$JOB/cancel', '-X POST '),
  },
  'POST /api/v0/job/{id}/retry': {
    id: 'retryJob',
    summary: 'Retry a job',
    description:
      'Creates a new job with the configuration of a failed or cancelled one. The body may contain new credentials or addresses.',
    auth: 'jobs',
    headers: idempotency,
    body: { type: 'application/json', schema: schemaRef('Retry'), example: {}, optional: true },
    answers: json('Created', example.retried),
    errors: [
      'invalid_request',
      'spend_cap_reached',
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
      'Returns the timeline as JSON or, with `Accept: text/event-stream`, as Server-Sent Events with live progress until the job ends.',
    auth: 'jobs',
    headers: { 'Last-Event-ID': stringSchema },
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
      'Lists, for each of the last five attempts, every ffmpeg command with its purpose, time and exit code, and the messages of the transcoder. With `Accept: text/plain`, the answer is text. The log contains no credentials and no address of the source.',
    auth: 'jobs',
    query: {
      part: {
        type: 'integer',
        minimum: 0,
        maximum: MAX_JOB_PARTS - 1,
        description: 'A part of a divided job, by its position in `status.chunks.map`. Absent = the main task.',
      },
    },
    answers: json('JobLog', example.jobLog),
    others: [{ status: 200, description: 'The log', type: 'text/plain', schema: stringSchema }],
    errors: ['invalid_request', 'not_found'],
    curl: jobs('/$JOB/log'),
  },
  'GET /api/v0/job/{id}/webhooks': {
    id: 'listWebhookDeliveries',
    summary: 'List the webhook deliveries of a job',
    description: 'Lists each webhook of the job with every attempt to deliver it.',
    auth: 'jobs',
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
}
