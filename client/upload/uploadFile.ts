// In charge of: sending a file as a job's input by tus 1.0.0, so that a broken connection costs only what was not stored yet. Runs in
// Node and in browsers.
// Not in charge of: where the bytes come from (uploadSource.ts), what is stored already (findStoredUpload.ts).
import type { Upload } from '#contract/api/answers.ts'
import { NetworkError, ServiceError } from '../clientErrors.ts'
import { fingerprintOf } from './fingerprint.ts'
import { base64, readAnswer, request, type Init, type Service } from '../serviceRequest.ts'
import { pause } from '../sleep.ts'
import type { UploadSource } from './uploadSource.ts'
import { findStored, FINGERPRINT, type Stored } from './findStoredUpload.ts'

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
const UNIT = 5 * 1024 * 1024
/** Of a request: below what a Worker takes in one. */
const MAX_CHUNK = 16 * UNIT
/** How long one chunk should take: often enough for a progress bar, seldom enough to keep the line busy. */
const CHUNK_MS = 2000
/** Tries of one chunk without any progress. */
const TRIES = 6
const PAUSE_MS = 500
const TUS = { 'tus-resumable': '1.0.0' }

/** @throws ServiceError, NetworkError */
export async function upload(service: Service, source: UploadSource, options: UploadOptions): Promise<Uploaded> {
  if (source.size === 0) throw new Error(`${source.name} is empty.`)
  return inChunks(options.signal === undefined ? service : { ...service, signal: options.signal }, source, options)
}

async function inChunks(service: Service, source: UploadSource, options: UploadOptions): Promise<Uploaded> {
  const { name, size } = source
  const fingerprint = options.reuse === true ? await fingerprintOf(source) : null
  const stored = fingerprint === null ? null : await findStored(service, { name, size, fingerprint })
  if (stored?.upload.state === 'ready') return { ...asUpload(stored), reused: true }
  const begun = stored === null ? await begin(service, source, fingerprint) : asUpload(stored)
  // Not the Location header: behind a proxy it may name another host, and the key goes with each chunk.
  const address = `/uploads/${begun.uploaded_file_number}`
  let offset = stored?.offset ?? 0
  options.progress?.(offset, size)
  let chunk = UNIT
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
      if (!mayResume(error) || failures >= TRIES) throw error
      await pause(PAUSE_MS * failures, service.signal)
      const known = offset
      // What arrived of a chunk that broke off is stored; the service knows how much that is.
      offset = await storedSoFar(service, address).catch((other: unknown) => {
        if (!mayResume(other)) throw other
        return known
      })
      // Also when another process is sending the same file.
      if (offset > known) failures = 0
    }
  }
  return { ...begun, reused: false }
}

async function begin(
  service: Service,
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
  return readAnswer<Upload>(await request(service, '/uploads', { method: 'POST', headers }))
}

function asUpload({ upload: listed }: Stored): Upload {
  const { uploaded_file_number, input, name, expires_at, size } = listed
  return { uploaded_file_number, input, name, expires_at, size: size ?? 0 }
}

/** Whole units, at most four times as much as before. */
function nextChunk(bytes: number, ms: number): number {
  const fitting = (bytes * Math.min(4, CHUNK_MS / Math.max(ms, 1))) / UNIT
  return Math.min(MAX_CHUNK, Math.max(1, Math.round(fitting)) * UNIT)
}

/** @returns the offset after it */
async function sendChunk(
  service: Service,
  address: string,
  source: UploadSource,
  start: number,
  end: number,
): Promise<number> {
  const response = await request(service, address, {
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
function bodyOf(source: UploadSource, start: number, end: number): Pick<Init, 'body' | 'duplex'> {
  const body = source.body(start, end)
  return body instanceof Blob ? { body } : { body, duplex: 'half' }
}

async function storedSoFar(service: Service, address: string): Promise<number> {
  return offsetOf(await request(service, address, { method: 'HEAD', headers: TUS }))
}

function offsetOf(response: Response): number {
  const text = response.headers.get('upload-offset') ?? ''
  if (!/^\d{1,15}$/.test(text)) throw new NetworkError('The service did not say how much of the upload is stored.')
  return Number(text)
}

/** 409: another offset than ours is the right one. 423: the chunk that broke off is still being stored. */
function mayResume(error: unknown): boolean {
  if (error instanceof NetworkError) return true
  return error instanceof ServiceError && (error.status >= 500 || error.status === 409 || error.status === 423)
}
