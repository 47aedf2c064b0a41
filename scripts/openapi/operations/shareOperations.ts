// In charge of: the operations of shares and their pages.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import * as example from '../examples.ts'
import { schemaRef, stringSchema } from '../schemaParts.ts'
import { body, jobs, json, type Operation } from './operation.ts'

const html = { type: 'text/html', schema: stringSchema }

export const shareOperations: Record<string, Operation> = {
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
}
