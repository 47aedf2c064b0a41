// In charge of: parsing the headers of tus 1.0.0 requests. Pure.
// Not in charge of: acting on them (tusRoutes.ts).
import { MAX_RESUMABLE_BYTES } from '#contract/limits.ts'
import { sanitizeFileName, safeContentType } from '../../http/fileNames.ts'
import { RequestError } from '../../http/requestError.ts'
import { fromBase64, toHex } from '../../util/encoding.ts'

export const TUS_VERSION = '1.0.0'
export const TUS_BLOCK_TYPE = 'application/offset+octet-stream'
const MAX_METADATA_BYTES = 4096
const MAX_METADATA_KEYS = 32

/** Name in the header → name for DigestStream. */
const algorithms: Readonly<Record<string, string>> = { sha1: 'SHA-1', sha256: 'SHA-256', md5: 'MD5' }

/** The service's capabilities, sent with every answer to OPTIONS. */
export const tusCapabilities: Readonly<Record<string, string>> = {
  'tus-version': TUS_VERSION,
  'tus-extension': 'creation,creation-with-upload,termination,checksum,expiration',
  'tus-max-size': String(MAX_RESUMABLE_BYTES),
  'tus-checksum-algorithm': Object.keys(algorithms).join(','),
}

function invalid(field: string, message: string): RequestError {
  return new RequestError('invalid_request', message, { field })
}

function naturalNumber(text: string): number | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : null
}

/** @throws RequestError 412 for another version; the answer names the supported one */
export function checkVersion(headers: Headers): void {
  if (headers.get('tus-resumable') === TUS_VERSION) return
  throw new RequestError(
    'unsupported_version',
    `This service supports tus ${TUS_VERSION}: send Tus-Resumable: ${TUS_VERSION}.`,
    {
      field: 'Tus-Resumable',
      headers: { 'tus-version': TUS_VERSION },
    },
  )
}

/** Size of the file in bytes. @throws RequestError 400, 413 */
export function uploadLength(headers: Headers): number {
  if (headers.has('upload-concat')) {
    throw invalid('Upload-Concat', 'The extension concatenation is not supported. Send the file as one upload.')
  }
  if (headers.has('upload-defer-length')) {
    const reason =
      'The extension creation-defer-length is not supported: send Upload-Length, from which the size of parts is derived.'
    throw invalid('Upload-Defer-Length', `${reason} Send Upload-Length.`)
  }
  const length = naturalNumber(headers.get('upload-length') ?? '')
  if (length === null) throw invalid('Upload-Length', 'Upload-Length must be the number of bytes of the file.')
  if (length === 0) throw invalid('Upload-Length', 'The file is empty.')
  if (length > MAX_RESUMABLE_BYTES) {
    const message = `One resumable upload has at most ${MAX_RESUMABLE_BYTES} bytes; this one has ${length}.`
    throw new RequestError('too_large', message, { field: 'Upload-Length', details: { maximum: MAX_RESUMABLE_BYTES } })
  }
  return length
}

/** @throws RequestError 400 */
export function uploadOffset(headers: Headers): number {
  const offset = naturalNumber(headers.get('upload-offset') ?? '')
  if (offset === null) throw invalid('Upload-Offset', 'Upload-Offset must be the number of bytes stored so far.')
  return offset
}

export function isBlock(headers: Headers): boolean {
  return headers.get('content-type')?.trim().toLowerCase() === TUS_BLOCK_TYPE
}

export interface Checksum {
  /** Name for DigestStream. */
  algorithm: string
  /** Lower-case hexadecimal. */
  digest: string
}

/** @throws RequestError 400 for an algorithm that is not in Tus-Checksum-Algorithm, or a malformed checksum */
export function uploadChecksum(headers: Headers): Checksum | null {
  const text = headers.get('upload-checksum')
  if (text === null) return null
  const [name = '', value = '', ...rest] = text.trim().split(' ')
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined
  if (!algorithm) {
    throw invalid('Upload-Checksum', `Upload-Checksum must use one of ${Object.keys(algorithms).join(', ')}.`)
  }
  const bytes = base64(value)
  if (!bytes || value === '' || rest.length > 0) {
    throw invalid('Upload-Checksum', 'Upload-Checksum must be an algorithm, a space and the checksum in Base64.')
  }
  return { algorithm, digest: toHex(bytes) }
}

export interface UploadMetadata {
  /** As sent by the client; HEAD returns it. Null if the client sent none. */
  raw: string | null
  name: string
  contentType: string
}

/**
 * Reads `filename` (or `name`) and `filetype` (or `type`). Other keys are only returned by HEAD. @throws RequestError
 * 400
 */
export function uploadMetadata(headers: Headers): UploadMetadata {
  const raw = headers.get('upload-metadata')
  const values = new Map<string, string>()
  if (raw !== null && raw.length > MAX_METADATA_BYTES) {
    throw invalid('Upload-Metadata', `Upload-Metadata may have at most ${MAX_METADATA_BYTES} bytes.`)
  }
  for (const pair of raw ? raw.split(',') : []) {
    const [key = '', value = '', ...rest] = pair.trim().split(' ')
    const bytes = base64(value)
    if (!/^[\x21-\x7e]+$/.test(key) || !bytes || rest.length > 0) {
      throw invalid('Upload-Metadata', 'Upload-Metadata must be a comma-separated list of "key Base64-value".')
    }
    if (values.has(key)) throw invalid('Upload-Metadata', 'Each key of Upload-Metadata may appear only once.')
    values.set(key, new TextDecoder().decode(bytes))
  }
  if (values.size > MAX_METADATA_KEYS) {
    throw invalid('Upload-Metadata', `Upload-Metadata may have at most ${MAX_METADATA_KEYS} keys.`)
  }
  const name = sanitizeFileName(values.get('filename')) ?? sanitizeFileName(values.get('name')) ?? 'upload'
  return { raw: raw || null, name, contentType: safeContentType(values.get('filetype') ?? values.get('type') ?? '') }
}

function base64(text: string): Uint8Array | null {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return null
  return fromBase64(text)
}
