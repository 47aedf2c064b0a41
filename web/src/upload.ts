// In charge of: sending a file to the service, with its progress. Not in charge of: choosing it.
import { MAX_UPLOAD_BYTES } from '#contract/limits.ts'
import { ApiError, authorization, refusal } from './api.ts'
import { currentKey } from './session.ts'
import { bytes } from './words.ts'

export interface Uploaded {
  uploaded_file_number: number
  input: string
}

/** What is wrong with a file before a byte is sent; null = nothing. */
export function refuseFile(file: File): string | null {
  if (file.size === 0) return `${file.name} is empty.`
  if (file.size > MAX_UPLOAD_BYTES) {
    return `${file.name} has ${bytes(file.size)}; an upload carries at most ${bytes(MAX_UPLOAD_BYTES)}. Put it where the service can read it, and give its address.`
  }
  return null
}

/** `onProgress` from 0 to 1. XMLHttpRequest, because fetch does not tell how much it has sent. */
export function uploadFile(file: File, onProgress: (fraction: number) => void, signal: AbortSignal): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    xhr.open('POST', `/uploads?name=${encodeURIComponent(file.name)}`)
    xhr.setRequestHeader('authorization', authorization(currentKey() ?? ''))
    xhr.setRequestHeader('content-type', file.type || 'application/octet-stream')
    xhr.upload.addEventListener('progress', (event) => onProgress(event.total > 0 ? event.loaded / event.total : 0))
    xhr.addEventListener('load', () => {
      if (xhr.status === 201) resolve(JSON.parse(xhr.responseText) as Uploaded)
      else reject(refusal(xhr.status, xhr.responseText, true))
    })
    xhr.addEventListener('error', () =>
      reject(new ApiError(0, 'offline', 'The upload broke off. Choose the file again.')),
    )
    xhr.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')))
    signal.addEventListener('abort', () => xhr.abort())
    xhr.send(file)
  })
}
