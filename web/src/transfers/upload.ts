// In charge of: sending a file to the service with progress: in one request, or in chunks if it is large and the
// service supports tus.
// Not in charge of: choosing it, the chunks (tus.ts), showing its progress (progress.tsx).
import { type Uploaded } from './uploadResult.ts'
import { MAX_UPLOAD_BYTES } from '#contract/limits.ts'
import { ApiError, authorization, offline, readLimits, toApiError } from '../api/api.ts'
import { currentKey } from '../api/session.ts'
import { formatBytes } from '../text/format.ts'

/** Below this size, chunks have no advantage over one request. */
const SMALL_BYTES = 16_000_000

/** Whether it is sent in chunks, so that it can be paused. */
export const isResumable = (file: File): boolean => file.size > SMALL_BYTES

/** From GET /api/v0/limits, if the service supports tus. */
interface Resumable {
  bytes: number
  recommended_chunk_bytes: number
}

async function resumable(): Promise<Resumable | null> {
  const limits = (await readLimits()) as { resumable_upload?: Resumable }
  return limits.resumable_upload ?? null
}

/** `onProgress` from 0 to 1. @throws ApiError with a message for users */
export async function uploadFile(
  file: File,
  onProgress: (fraction: number) => void,
  signal: AbortSignal,
): Promise<Uploaded> {
  if (file.size === 0)
    throw new ApiError(0, { code: 'invalid_file', message: 'This file is empty. Choose another one.' })
  if (!isResumable(file)) return sendWhole(file, onProgress, signal)
  const pieces = await resumable()
  const most = pieces?.bytes ?? MAX_UPLOAD_BYTES
  if (file.size > most) {
    const message = `${formatBytes(file.size)} is more than the maximum of ${formatBytes(most)} for an upload. Put the file on a server or in a bucket and use its address.`
    throw new ApiError(0, { code: 'invalid_file', message })
  }
  if (!pieces) return sendWhole(file, onProgress, signal)
  const { sendResumable } = await import('./tus.ts')
  return sendResumable(file, pieces.recommended_chunk_bytes, onProgress, signal)
}

/** For a file whose upload was interrupted: deletes what the service has of it. */
export async function discardUpload(file: File): Promise<void> {
  if (!isResumable(file)) return
  const { discardResumable } = await import('./tus.ts')
  await discardResumable(file)
}

/** By XMLHttpRequest, because fetch does not report upload progress. */
function sendWhole(file: File, onProgress: (fraction: number) => void, signal: AbortSignal): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    xhr.open('POST', `/uploads?name=${encodeURIComponent(file.name)}`)
    xhr.setRequestHeader('authorization', authorization(currentKey() ?? ''))
    xhr.setRequestHeader('content-type', file.type || 'application/octet-stream')
    xhr.upload.addEventListener('progress', (event) => onProgress(event.total > 0 ? event.loaded / event.total : 0))
    xhr.addEventListener('load', () => {
      if (xhr.status === 201) resolve(JSON.parse(xhr.responseText) as Uploaded)
      else reject(toApiError(xhr.status, xhr.responseText, true))
    })
    xhr.addEventListener('error', () => reject(offline('The connection dropped during the upload.')))
    xhr.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')))
    signal.addEventListener('abort', () => xhr.abort())
    xhr.send(file)
  })
}
