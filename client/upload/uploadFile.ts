// In charge of: uploading a file with tus 1.0.0, so that an interrupted upload continues where it stopped. Runs in Node
// and in browsers.
// Not in charge of: reading the file (uploadSource.ts), finding an earlier upload (findStoredUpload.ts).
import type { Upload } from '#contract/api/answers.ts'
import { NetworkError, ServiceError } from '../clientErrors.ts'
import { base64, readJsonAnswer, sendRequest, type RequestOptions, type ServiceConnection } from '../serviceRequest.ts'
import { sleep } from '../sleep.ts'
import type { UploadSource } from './uploadSource.ts'
import { findStoredUpload, FINGERPRINT, type StoredUpload } from './findStoredUpload.ts'

/** Files up to this size are read completely. Larger ones are sampled, and their modification time counts too. */
const WHOLE_BYTES = 16 * 1024 * 1024
const SAMPLES = 16
const SAMPLE_BYTES = 256 * 1024

/** null if it cannot be computed: browsers have SHA-256 only on https and localhost. */
async function fileFingerprint(source: UploadSource): Promise<string | null> {
  const { subtle } = crypto as Partial<typeof crypto>
  if (subtle === undefined) return null
  const parts = await Promise.all(sampleRanges(source.size).map(([start, end]) => source.bytes(start, end)))
  const facts = source.size > WHOLE_BYTES ? `${source.size} ${source.modified ?? ''}` : String(source.size)
  const digest = await subtle.digest('SHA-256', await new Blob([facts, '\0', ...parts]).arrayBuffer())
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `sha256-${source.size > WHOLE_BYTES ? 'sampled' : 'whole'}-${hex}`
}

function sampleRanges(size: number): [start: number, end: number][] {
  if (size <= WHOLE_BYTES) return [[0, size]]
  const step = (size - SAMPLE_BYTES) / (SAMPLES - 1)
  return Array.from({ length: SAMPLES }, (_, index) => {
    const start = Math.floor(index * step)
    return [start, start + SAMPLE_BYTES]
  })
}

export interface UploadOptions {
  /** Called when sending begins, and when the service confirms bytes. Default: none. */
  progress?: (stored: number, size: number) => void
  /**
   * Use an earlier upload of the same file (same name, size and SHA-256; above 16 MiB the SHA-256 of samples): a
   * complete one is not sent again, a partial one is resumed. Not possible with an upload token. Default: false.
   */
  reuse?: boolean
  /** Stops the upload. The stored part remains and can be resumed with `reuse`. Default: the client's signal. */
  signal?: AbortSignal
}

export interface Uploaded extends Upload {
  /** The service had the file already, so nothing was sent. Only with `reuse`. */
  reused: boolean
}

/** Part sizes in the service's store are multiples of this, so chunks of whole units leave no remainder. */
const CHUNK_UNIT_BYTES = 5 * 1024 * 1024
/** Largest chunk: below what a Worker accepts in one request. */
const MAX_CHUNK = 16 * CHUNK_UNIT_BYTES
/** Target duration of one chunk: short enough for a progress bar, long enough to use the connection well. */
const CHUNK_MS = 2000
/** Tries without any progress before the upload fails. */
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
  // The Location header is not used: behind a proxy it may name another host, and the key is sent with each chunk.
  const address = `/uploads/${begun.uploaded_file_number}`
  let offset = stored?.offset ?? 0
  options.progress?.(offset, size)
  let chunk = CHUNK_UNIT_BYTES
  let failures = 0
  // The last chunk completes the upload. If its answer is lost, an empty one does, whatever the service knew before.
  for (let isComplete = false; !isComplete;) {
    const startedAt = performance.now()
    const end = Math.min(offset + chunk, size)
    try {
      offset = await sendChunk(service, address, source, offset, end)
      isComplete = offset === size
      chunk = nextChunk(chunk, performance.now() - startedAt)
      failures = 0
      options.progress?.(offset, size)
    } catch (error) {
      failures += 1
      if (!isResumable(error) || failures >= TRIES) throw error
      await sleep(PAUSE_MS * failures, service.signal)
      const known = offset
      // The received part of an interrupted chunk is stored; the service reports its size.
      offset = await readUploadOffset(service, address).catch((other: unknown) => {
        if (!isResumable(other)) throw other
        return known
      })
      // Progress also counts if another process sends the same file.
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

/** Whole units, at most four times the previous size. */
function nextChunk(bytes: number, ms: number): number {
  const fitting = (bytes * Math.min(4, CHUNK_MS / Math.max(ms, 1))) / CHUNK_UNIT_BYTES
  return Math.min(MAX_CHUNK, Math.max(1, Math.round(fitting)) * CHUNK_UNIT_BYTES)
}

/** @returns the offset after the chunk */
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
    ...(start === end ? {} : bodyOf(source, start, end)),
  })
  return offsetOf(response)
}

/** A stream as a body requires `duplex` (WHATWG Fetch, 5.4). */
function bodyOf(source: UploadSource, start: number, end: number): Pick<RequestOptions, 'body' | 'duplex'> {
  const body = source.body(start, end)
  return body instanceof Blob ? { body } : { body, duplex: 'half' }
}

async function readUploadOffset(service: ServiceConnection, address: string): Promise<number> {
  return offsetOf(await sendRequest(service, address, { method: 'HEAD', headers: TUS }))
}

function offsetOf(response: Response): number {
  const text = response.headers.get('upload-offset') ?? ''
  if (!/^\d{1,15}$/.test(text)) throw new NetworkError('The service did not report how much of the upload is stored.')
  return Number(text)
}

/** 409: the service has another offset. 423: the interrupted chunk is still being stored. */
function isResumable(error: unknown): boolean {
  if (error instanceof NetworkError) return true
  return error instanceof ServiceError && (error.status >= 500 || error.status === 409 || error.status === 423)
}
