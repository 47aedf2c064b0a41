// In charge of: the operations of outputs, archives and posters in the store of the service.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import { stringSchema } from '../schemaParts.ts'
import { bytes, conditional, conditions, type OperationTable } from './operation.ts'

export const outputOperations: OperationTable = {
  'GET /a/{grant}/{account}/{job}/{name}': {
    id: 'getArchive',
    summary: 'Download all outputs as a tar',
    description:
      'Returns all objects of the job in the service’s own store, including segments, as one tar archive that is made while it is read. `status.archive_url` is such an address. An interrupted download can be resumed with `Range`.',
    auth: 'signed',
    headers: { Range: stringSchema, 'If-Range': stringSchema, 'If-None-Match': stringSchema },
    answers: { type: 'application/x-tar', schema: {} },
    others: [
      { status: 206, description: 'The requested range', type: 'application/x-tar', schema: {} },
      { status: 304, description: 'Not modified since (If-None-Match)' },
    ],
    errors: ['forbidden', 'not_found', 'range_not_satisfiable'],
    curl: 'curl -o outputs.tar "$ARCHIVE_URL"',
  },
  'GET /o/{grant}/{account}/{job}/{path}': {
    id: 'getOutput',
    summary: 'Download an output',
    description:
      'Returns an object in the service’s own store, or the range requested with `Range`. `status.outputs[].url` is such an address; relative addresses in playlists and manifests work.',
    auth: 'signed',
    headers: conditions,
    answers: bytes,
    others: conditional,
    errors: ['forbidden', 'not_found', 'range_not_satisfiable'],
    curl: 'curl -o video.mp4 "$OUTPUT_URL"',
  },
  'GET /p/{grant}/{job}/{attempt}': {
    id: 'getPoster',
    summary: 'Download the poster of a job',
    description:
      'Returns a still image of the source as JPEG. Its address is `status.poster.url`; it is stored as long as the outputs.',
    auth: 'signed',
    headers: conditions,
    answers: { type: 'image/jpeg', schema: {} },
    others: conditional,
    errors: ['forbidden', 'not_found', 'range_not_satisfiable'],
    curl: 'curl -o poster.jpg "$POSTER_URL"',
  },
}
