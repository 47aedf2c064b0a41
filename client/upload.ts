// In charge of: sending a file of this machine as a job's input: by tus 1.0.0 where the service offers it, so that a broken
// connection costs only what was not stored yet, else in one request.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Upload } from '#contract/answers.ts'
import { NetworkError, ServiceError } from './errors.ts'
import { readAnswer, request, type Service } from './http.ts'

export interface UploadOptions {
  /** Told as the service confirms bytes. */
  progress?: (stored: number, size: number) => void
}

/** One request of a tus upload; below what a Worker takes in one request. */
const CHUNK_BYTES = 32 * 1024 * 1024
/** Tries of one chunk without any progress. */
const TRIES = 6
const PAUSE_MS = 500
const TUS = { 'tus-resumable': '1.0.0' }

/** @throws ServiceError, NetworkError */
export async function upload(service: Service, path: string, name: string, options: UploadOptions): Promise<Upload> {
  const { size } = await stat(path)
  const offer = await request(service, '/uploads', { method: 'OPTIONS' })
  const versions = offer.headers.get('tus-version')?.split(',') ?? []
  return versions.includes('1.0.0') && size > 0
    ? inChunks(service, path, name, size, options)
    : inOneRequest(service, path, name, size)
}

async function inOneRequest(service: Service, path: string, name: string, size: number): Promise<Upload> {
  const response = await request(service, `/uploads?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', 'content-length': String(size) },
    body: Readable.toWeb(createReadStream(path)),
    duplex: 'half',
  })
  return readAnswer<Upload>(response)
}

async function inChunks(
  service: Service,
  path: string,
  name: string,
  size: number,
  options: UploadOptions,
): Promise<Upload> {
  const made = await request(service, '/uploads', {
    method: 'POST',
    headers: {
      ...TUS,
      'upload-length': String(size),
      'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
    },
  })
  const uploaded = await readAnswer<Upload>(made)
  // Not the Location header: behind a proxy it may name another host, and the key goes with each chunk.
  const address = `/uploads/${uploaded.uploaded_file_number}`
  let offset = 0
  let failures = 0
  while (offset < size) {
    try {
      offset = await sendChunk(service, address, path, offset, size)
      failures = 0
      options.progress?.(offset, size)
    } catch (error) {
      failures += 1
      if (!mayResume(error) || failures >= TRIES) throw error
      await pause(PAUSE_MS * failures, null, { signal: service.signal })
      // What arrived of a chunk that broke off is stored; the service knows how much that is.
      offset = await storedSoFar(service, address).catch((other: unknown) => {
        if (!mayResume(other)) throw other
        return offset
      })
    }
  }
  return uploaded
}

/** @returns the offset after it */
async function sendChunk(
  service: Service,
  address: string,
  path: string,
  offset: number,
  size: number,
): Promise<number> {
  const end = Math.min(offset + CHUNK_BYTES, size)
  const response = await request(service, address, {
    method: 'PATCH',
    headers: {
      ...TUS,
      'content-type': 'application/offset+octet-stream',
      'content-length': String(end - offset),
      'upload-offset': String(offset),
    },
    body: Readable.toWeb(createReadStream(path, { start: offset, end: end - 1 })),
    duplex: 'half',
  })
  return offsetOf(response)
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
