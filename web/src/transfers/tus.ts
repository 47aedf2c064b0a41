// In charge of: sending a file in chunks by tus 1.0.0, so that a dropped connection costs a chunk and not the file. The
// tus client is loaded with the first large file.
// Not in charge of: small files (upload.ts).
import { offline, type ApiError, authorization, toApiError } from '../api/api.ts'
import { currentKey } from '../api/session.ts'
import { DISCARD, type Uploaded } from './uploadResult.ts'

const RETRY_MS = [0, 1000, 3000, 5000, 10_000, 20_000]

/** `chunkBytes` as GET /api/v0/limits recommends. An upload that this browser began earlier is continued. */
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
    // Until then localStorage holds the address of the upload; never the key.
    removeFingerprintOnSuccess: true,
    onProgress: (sent, total) => onProgress(total > 0 ? sent / total : 0),
    onSuccess: () => {
      const input = upload.url ?? ''
      resolve({ uploaded_file_number: Number(input.split('/').at(-1)), input })
    },
    onError: (error) => reject(explain(error)),
  })
  signal.addEventListener('abort', () => {
    // Also during a chunk; what is stored of the file is either kept or deleted.
    upload.abort(signal.reason === DISCARD).catch(() => undefined)
    reject(new DOMException('Aborted', 'AbortError'))
  })
  const [begun] = await upload.findPreviousUploads().catch(() => [])
  if (begun) upload.resumeFromPreviousUpload(begun)
  if (!signal.aborted) upload.start()
  return promise
}

/** Deletes what the service has of an upload that this browser began, and its entry in localStorage. */
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

/** The service's own message if there was an answer. */
function explain(error: unknown): ApiError {
  const response = (error as { originalResponse?: { getStatus: () => number; getBody: () => string } | null })
    .originalResponse
  return response
    ? toApiError(response.getStatus(), response.getBody(), true)
    : offline('The connection dropped during the upload.')
}
