// In charge of: the operations of shares and their pages.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import * as example from '../examples.ts'
import { schemaRef, stringSchema } from '../schemaParts.ts'
import { body, jobs, json, type OperationTable } from './operation.ts'

const html = { type: 'text/html', schema: stringSchema }

export const shareOperations: OperationTable = {
  'POST /api/v0/job/{id}/share': {
    id: 'createShare',
    summary: 'Share a job’s outputs',
    description:
      'Creates a page that plays the outputs for anyone who has its address, without a key, and a player to embed in other pages. Available for completed jobs whose outputs are in the service’s own store. A job may have 100 shares.',
    auth: 'jobs',
    body: { type: 'application/json', schema: schemaRef('NewShare'), example: example.newShare, optional: true },
    answers: json('Share', example.share),
    errors: ['invalid_request', 'not_found', 'not_shareable', 'too_large', 'unsupported_media_type', 'quota_exceeded'],
    curl: jobs('/$JOB/share', body(example.newShare)),
  },
  'GET /api/v0/job/{id}/share': {
    id: 'listShares',
    summary: 'List the shares of a job',
    description: 'Lists the active shares, newest first.',
    auth: 'jobs',
    answers: json('ShareList', { shares: [example.share] }),
    errors: ['not_found'],
    curl: jobs('/$JOB/share'),
  },
  'DELETE /api/v0/job/{id}/share/{share}': {
    id: 'revokeShare',
    summary: 'Revoke a share',
    description:
      'Its page and its player then return 404. Addresses of media that a viewer has already loaded expire after at most 13 hours.',
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
      'Returns a page that plays the outputs: adaptive HLS or DASH, or a file, with captions, a quality menu and downloads. Returns a 404 page if the share does not exist or is no longer active.',
    auth: 'signed',
    answers: html,
    others: [{ status: 404, description: 'No such share, or no longer active', ...html }],
    curl: 'curl "$SHARE_URL"',
  },
  'GET /s/{token}/embed': {
    id: 'getSharePlayer',
    summary: 'Open a shared player',
    description: 'Returns only the player of the shared page, to be embedded in pages of any origin.',
    auth: 'signed',
    answers: html,
    others: [{ status: 404, description: 'No such share, or no longer active', ...html }],
    curl: 'curl "$SHARE_URL/embed"',
  },
  'GET /s/{token}/data': {
    id: 'getSharedMedia',
    summary: 'Read what a shared page plays',
    description:
      'Returns addresses for your own player; readable from pages of any origin. They expire at `addresses_expire_at`; request them again for new ones.',
    auth: 'signed',
    answers: json('SharedMedia', example.sharedMediaExample),
    errors: ['unauthorized', 'not_found'],
    curl: 'curl "$SHARE_URL/data"',
  },
  'POST /s/{token}/data': {
    id: 'openSharedMedia',
    summary: 'Read what a shared page with a password plays',
    description: 'Returns the same as GET. At most 30 passwords of one share can be tried in a minute.',
    auth: 'signed',
    body: { type: 'application/json', schema: schemaRef('OpenedShare'), example: { password: 'opening night' } },
    answers: json('SharedMedia', example.sharedMediaExample),
    errors: ['invalid_request', 'unauthorized', 'not_found', 'too_large', 'unsupported_media_type', 'rate_limited'],
    curl: `curl --json '{"password": "opening night"}' "$SHARE_URL/data"`,
  },
}
