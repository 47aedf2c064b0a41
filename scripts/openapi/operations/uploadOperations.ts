// In charge of: the operations of uploads, also resumable, and upload tokens.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import * as example from '../examples.ts'
import { schemaRef, stringSchema, type Schema } from '../schemaParts.ts'
import { body, bytes, conditional, conditions, json, page, type OperationTable } from './operation.ts'

const binary: Schema = { ...stringSchema, format: 'binary' }
const tus = { 'Tus-Resumable': { enum: ['1.0.0'] } }

export const uploadOperations: OperationTable = {
  'POST /uploads': {
    id: 'createUpload',
    summary: 'Upload a file',
    description:
      'The body is the file, raw or as multipart/form-data, of at most 100 MB. With the headers of tus 1.0.0, it starts a resumable upload of at most 100 GB instead. Use `input` of the answer as `input` of a job.',
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
      search: { ...stringSchema, pattern: String.raw`\S`, maxLength: 200, description: 'A part of the name.' },
    },
    answers: json('UploadList', example.uploadList),
    errors: ['invalid_request', 'unsupported_version'],
    curl: 'curl -u "$KEY:" "$BASE/uploads?state=ready"',
  },
  'POST /api/v0/uploads/tokens': {
    id: 'createUploadToken',
    summary: 'Issue an upload token',
    description:
      'Issues a short-lived token for a web page that must not contain an API key. With `Authorization: Bearer <token>`, the page can send files to /uploads, from any origin, and nothing else. The uploads belong to the account and count towards its quotas. The token becomes invalid when it expires, when it is revoked, or when the API key that issued it is revoked.',
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
    description: 'The token is given by its `token_id`. Its uploads are kept.',
    auth: 'jobs',
    status: 204,
    answers: null,
    errors: ['not_found'],
    curl: 'curl -u "$KEY:" -X DELETE "$BASE/api/v0/uploads/tokens/$TOKEN_ID"',
  },
  'HEAD /uploads/{number}': {
    id: 'getUploadOffset',
    summary: 'Read the offset of a resumable upload',
    description:
      'Returns the number of stored bytes in `Upload-Offset`; continue there after an interruption (tus 1.0.0).',
    auth: 'upload',
    headers: tus,
    answers: null,
    errors: ['not_found', 'gone', 'unsupported_version'],
    curl: 'curl -u "$KEY:" -I -H "Tus-Resumable: 1.0.0" "$BASE/uploads/$UPLOAD"',
  },
  'PATCH /uploads/{number}': {
    id: 'continueUpload',
    summary: 'Send the next bytes of a resumable upload',
    description: 'The body is appended at `Upload-Offset`, which must be the number of stored bytes (tus 1.0.0).',
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
    description: 'Returns the uploaded file, or the range requested with `Range`.',
    auth: 'jobs',
    headers: conditions,
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
}
