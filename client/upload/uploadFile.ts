// In charge of: sending a file as a job's input by tus 1.0.0, so that a broken connection costs only what was not stored yet. Runs in
// Node and in browsers.
// Not in charge of: where the bytes come from (uploadSource.ts), what is stored already (findStoredUpload.ts).
import type { Upload } from '#contract/api/answers.ts'
import { NetworkError, ServiceError } from '../clientErrors.ts'
import { fileFingerprint } from './fingerprint.ts'
import { base64, readJsonAnswer, sendRequest, type RequestOptions, type ServiceConnection } from '../serviceRequest.ts'
import { sleep } from '../sleep.ts'
import type { UploadSource } from './uploadSource.ts'
import { findStoredUpload, FINGERPRINT, type StoredUpload } from './findStoredUpload.ts'

export interface UploadOptions {
  /** Called when sending begins, and as the service confirms bytes. Default: nothing is called. */
  progress?: (stored: number, size: number) => void
  /**
   * Use what is still stored of the same file (same name and size, same SHA-256 of its content, for files above 16 MiB of samples
   * of it): a whole upload is not sent again, a partial one is resumed. Not with an upload token. Default: false.
   */
  reuse?: boolean
  /** Ends the upload. What is stored stays, and can be resumed by `reuse`. Default: the client's signal. */
  signal?: AbortSignal
}

export interface Uploaded extends Upload {
  /** Nothing was sent: the service had it already. Only with `reuse`. */
  reused: boolean
}

/** The parts of an upload in the service's store are multiples of this: nothing is left over between chunks. */
const CHUNK_UNIT_BYTES = 5 * 1024 * 1024
/** Of a request: below what a Worker takes in one. */
const MAX_CHUNK = 16 * CHUNK_UNIT_BYTES
/** How long one chunk should take: often enough for a progress bar, seldom enough to keep the line busy. */
const CHUNK_MS = 2000
/** Tries of one chunk without any progress. */
const TRIES = 6
const PAUSE_MS = 500
const TUS = { 'tus-resumable': '1.0.0' }

/** @throws ServiceError, NetworkError */
export async function uploadFile(
  service: ServiceConnection,
  source: UploadSource,
  options: UploadOptions,
): Promise<Uploaded> {
  if (source.size === 0) throw new Error(`${source.name} is empty.`)
  return sendChunks(options.signal === undefined ? service : { ...service, signal: options.signal }, source, options)
}

async function sendChunks(service: ServiceConnection, source: UploadSource, options: UploadOptions): Promise<Uploaded> {
  const { name, size } = source
  const fingerprint = options.reuse === true ? await fileFingerprint(source) : null
  const stored = fingerprint === null ? null : await findStoredUpload(service, { name, size, fingerprint })
  if (stored?.upload.state === 'ready') return { ...asUpload(stored), reused: true }
  const begun = stored === null ? await createUpload(service, source, fingerprint) : asUpload(stored)
  // Not the Location header: behind a proxy it may name another host, and the key goes with each chunk.
  const address = `/uploads/${begun.uploaded_file_number}`
  let offset = stored?.offset ?? 0
  options.progress?.(offset, size)
  let chunk = CHUNK_UNIT_BYTES
  let failures = 0
  while (offset < size) {
    const startedAt = performance.now()
    const end = Math.min(offset + chunk, size)
    try {
      offset = await sendChunk(service, address, source, offset, end)
      chunk = nextChunk(chunk, performance.now() - startedAt)
      failures = 0
      options.progress?.(offset, size)
    } catch (error) {
      failures += 1
      if (!isResumable(error) || failures >= TRIES) throw error
      await sleep(PAUSE_MS * failures, service.signal)
      const known = offset
      // What arrived of a chunk that broke off is stored; the service knows how much that is.
      offset = await readUploadOffset(service, address).catch((other: unknown) => {
        if (!isResumable(other)) throw other
        return known
      })
      // Also when another process is sending the same file.
      if (offset > known) failures = 0
    }
  }
  return { ...begun, reused: false }
}

async function createUpload(
  service: ServiceConnection,
  { name, size, type }: UploadSource,
  fingerprint: string | null,
): Promise<Upload> {
  const metadata = {
    filename: name,
    ...(type === '' ? {} : { filetype: type }),
    ...(fingerprint === null ? {} : { [FINGERPRINT]: fingerprint }),
  }
  const pairs = Object.entries(metadata).map(([key, value]) => `${key} ${base64(value)}`)
  const headers = { ...TUS, 'upload-length': String(size), 'upload-metadata': pairs.join(',') }
  return readJsonAnswer<Upload>(await sendRequest(service, '/uploads', { method: 'POST', headers }))
}

function asUpload({ upload: listed }: StoredUpload): Upload {
  const { uploaded_file_number, input, name, expires_at, size } = listed
  return { uploaded_file_number, input, name, expires_at, size: size ?? 0 }
}

/** Whole units, at most four times as much as before. */
function nextChunk(bytes: number, ms: number): number {
  const fitting = (bytes * Math.min(4, CHUNK_MS / Math.max(ms, 1))) / CHUNK_UNIT_BYTES
  return Math.min(MAX_CHUNK, Math.max(1, Math.round(fitting)) * CHUNK_UNIT_BYTES)
}

/** @returns the offset after it */
async function sendChunk(
  service: ServiceConnection,
  address: string,
  source: UploadSource,
  start: number,
  end: number,
): Promise<number> {
  const response = await sendRequest(service, address, {
    method: 'PATCH',
    headers: {
      ...TUS,
      'content-type': 'application/offset+octet-stream',
      'content-length': String(end - start),
      'upload-offset': String(start),
    },
    ...bodyOf(source, start, end),
  })
  return offsetOf(response)
}

/** A stream needs `duplex` (WHATWG Fetch, 5.4). */
function bodyOf(source: UploadSource, start: number, end: number): Pick<RequestOptions, 'body' | 'duplex'> {
  const body = source.body(start, end)
  return body instanceof Blob ? { body } : { body, duplex: 'half' }
}

async function readUploadOffset(service: ServiceConnection, address: string): Promise<number> {
  return offsetOf(await sendRequest(service, address, { method: 'HEAD', headers: TUS }))
}

function offsetOf(response: Response): number {
  const text = response.headers.get('upload-offset') ?? ''
  if (!/^\d{1,15}$/.test(text)) throw new NetworkError('The service did not say how much of the upload is stored.')
  return Number(text)
}

/** 409: another offset than ours is the right one. 423: the chunk that broke off is still being stored. */
function isResumable(error: unknown): boolean {
  if (error instanceof NetworkError) return true
  return error instanceof ServiceError && (error.status >= 500 || error.status === 409 || error.status === 423)
}
