// In charge of: sending a file in pieces by tus 1.0.0, so that a connection that drops costs a piece and not the file.
// The client is a file of its own, loaded for the first large file. Not in charge of: small files (upload.ts).
import { ApiError, authorization, toApiError } from '../api/api.ts'
import { currentKey } from '../api/session.ts'
import { DISCARD, type Uploaded } from './uploadResult.ts'

const RETRY_MS = [0, 1000, 3000, 5000, 10_000, 20_000]

/** `chunkBytes` as GET /api/v0/limits recommends. A file that was begun in this browser before goes on where it was. */
export async function sendResumable(
  file: File,
  chunkBytes: number,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Uploaded> {
  const { Upload } = await import('tus-js-client')
  const { promise, resolve, reject } = Promise.withResolvers<Uploaded>()
  const upload = new Upload(file, {
    endpoint: '/uploads',
    headers: { authorization: authorization(currentKey() ?? '') },
    metadata: { filename: file.name, filetype: file.type || 'application/octet-stream' },
    chunkSize: chunkBytes,
    retryDelays: RETRY_MS,
    // What is remembered until then is the address of the upload, in localStorage; never the key.
    removeFingerprintOnSuccess: true,
    onProgress: (sent, total) => onProgress(total > 0 ? sent / total : 0),
    onSuccess: () => {
      const input = upload.url ?? ''
      resolve({ uploaded_file_number: Number(input.split('/').at(-1)), input })
    },
    onError: (error) => reject(explain(error)),
  })
  signal.addEventListener('abort', () => {
    // Also while a piece is on its way; what was stored of the file is either kept or deleted.
    upload.abort(signal.reason === DISCARD).catch(() => undefined)
    reject(new DOMException('Aborted', 'AbortError'))
  })
  const [begun] = await upload.findPreviousUploads().catch(() => [])
  if (begun) upload.resumeFromPreviousUpload(begun)
  if (!signal.aborted) upload.start()
  return promise
}

/** What the service has of a file that was begun in this browser is deleted, and forgotten here. */
export async function discardResumable(file: File): Promise<void> {
  const { Upload } = await import('tus-js-client')
  const upload = new Upload(file, {
    endpoint: '/uploads',
    headers: { authorization: authorization(currentKey() ?? '') },
  })
  const [begun] = await upload.findPreviousUploads().catch(() => [])
  if (!begun) return
  upload.resumeFromPreviousUpload(begun)
  await upload.abort(true).catch(() => undefined)
}

/** The service's own words where there was an answer. */
function explain(error: unknown): ApiError {
  const response = (error as { originalResponse?: { getStatus: () => number; getBody: () => string } | null })
    .originalResponse
  return response
    ? toApiError(response.getStatus(), response.getBody(), true)
    : new ApiError(0, 'offline', 'The connection dropped during the upload.')
}
