// In charge of: a file at an http or https address as a source: Range, Basic credentials, and an ETag that detects a
// change of the file between two reads.
// Not in charge of: which addresses may be reached, redirects (guardedFetch.ts); playlists (taskApi/hlsSource/).
import { parseContentRange, sizeFromUnsatisfiedRange } from '../../util/byteRange.ts'
import {
  StoreError,
  type ByteRange,
  type Source,
  type SourceBody,
  type SourceStat,
  type StoreErrorCode,
} from '../objectStore.ts'
import type { FetchFunction } from '../guardedFetch.ts'
import { fromBase64Url, toBase64, toBase64Url } from '../../util/encoding.ts'

export interface HttpCredentials {
  username?: string | null
  password?: string | null
}

const statuses: Readonly<Record<number, StoreErrorCode>> = {
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
  407: 'forbidden',
  408: 'unreachable',
  410: 'not_found',
  412: 'source_changed',
  416: 'range_not_satisfiable',
  421: 'unreachable',
  425: 'unreachable',
  429: 'unreachable',
}

const errorMessages: Partial<Record<StoreErrorCode, string>> = {
  forbidden: 'refuses access to the file',
  not_found: 'has no such file',
  source_changed: 'has replaced the file while it was being read',
  range_not_satisfiable: 'has fewer bytes than requested',
  unreachable: 'cannot deliver the file at the moment',
}

/** What a response says about the version of the file. */
interface FileVersion {
  size: number | null
  etag: string | null
  lastModified: string | null
}

/** For errors of stores other than plain servers: the provider, and the name that replaces the address. */
export interface HttpSourceNames {
  provider: string
  name: string
}

export function httpSource(
  url: string | URL,
  access: HttpCredentials,
  transport: FetchFunction,
  { provider, name: host }: HttpSourceNames = { provider: 'http', name: URL.parse(String(url))?.host ?? 'The server' },
): Source {
  function problem(operation: string, code: StoreErrorCode, status: number | null, why?: string): StoreError {
    const text = `${host} ${why ?? errorMessages[code] ?? 'does not answer in valid HTTP'}`
    return new StoreError(code, provider, operation, status === null ? `${text}.` : `${text} (${status}).`, status)
  }

  async function ask(operation: string, method: 'GET' | 'HEAD', extra: Record<string, string>): Promise<Response> {
    const headers = new Headers({ accept: '*/*', 'accept-encoding': 'identity', ...extra })
    if (access.username || access.password) {
      headers.set('authorization', basicAuthorization(access.username ?? '', access.password ?? ''))
    }
    const response = await transport(url, { method, headers })
    // Byte offsets in a compressed body are not offsets in the file.
    const coding = response.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
    if (response.ok && coding !== '' && coding !== 'identity') {
      await response.body?.cancel()
      throw problem(operation, 'invalid', null, `compresses the file (${coding}) although it was asked not to do so`)
    }
    return response
  }

  async function refuse(operation: string, response: Response, pin: FileVersion | null): Promise<never> {
    await response.body?.cancel()
    const { status } = response
    if (status === 416 && pin && pin.size !== null) {
      const size = sizeFromUnsatisfiedRange(response.headers.get('content-range'))
      if (size !== null && size !== pin.size) throw problem(operation, 'source_changed', status)
    }
    throw problem(operation, statuses[status] ?? (status >= 500 ? 'unreachable' : 'invalid'), status)
  }

  async function statByGet(): Promise<SourceStat> {
    const response = await ask('stat', 'GET', { range: 'bytes=0-0' })
    await response.body?.cancel()
    // An empty file has no first byte; the 416 answer shows that.
    const empty = response.status === 416 && sizeFromUnsatisfiedRange(response.headers.get('content-range')) === 0
    if (!empty && response.status !== 200 && response.status !== 206) return refuse('stat', response, null)
    return statOf(response, empty ? 0 : sizeOf(response), empty || response.status === 206)
  }

  return {
    async stat() {
      const response = await ask('stat', 'HEAD', {})
      await response.body?.cancel()
      const code = statuses[response.status]
      const size = sizeOf(response)
      const ranges = response.headers.get('accept-ranges')?.trim().toLowerCase()
      if (response.status === 200 && size !== null && (ranges === 'bytes' || ranges === 'none')) {
        return statOf(response, size, ranges === 'bytes')
      }
      if (code === 'unreachable') return refuse('stat', response, null)
      // Many servers and every presigned GET refuse HEAD, and few announce ranges: a request for the first byte shows
      // both.
      return statByGet()
    },

    async read(range: ByteRange | null, etag?: string): Promise<SourceBody> {
      const expected = etag ? parseVersionEtag(etag) : null
      const response = await ask('read', 'GET', {
        ...(range ? { range: rangeHeader(range) } : {}),
        // RFC 9110 §13.1.1: If-Match uses the strong comparison, so a weak ETag would never match.
        ...(expected?.etag && isStrong(expected.etag) ? { 'if-match': expected.etag } : {}),
      })
      if (response.status !== 200 && response.status !== 206) return refuse('read', response, expected)
      const found = response.status === 206 ? parseContentRange(response.headers.get('content-range')) : null
      const length = found ? found.length : contentLength(response)
      const stat = statOf(response, sizeOf(response), response.status === 206)
      const wrong = mismatchOf(response, range, found, expected)
      if (wrong) {
        await response.body?.cancel()
        throw problem('read', wrong.code, wrong.code === 'source_changed' ? null : response.status, wrong.reason)
      }
      const body: ReadableStream<Uint8Array> = response.body ?? new Blob([]).stream()
      return {
        ...stat,
        // A connection that closes early would look like the end of the file.
        body: length === null ? body : body.pipeThrough(new FixedLengthStream(length)),
        isPartial: found !== null,
        offset: found ? found.offset : 0,
        length,
      }
    },
  }
}

function mismatchOf(
  response: Response,
  range: ByteRange | null,
  found: { offset: number; length: number } | null,
  pin: FileVersion | null,
): { code: StoreErrorCode; reason?: string } | null {
  if (response.status === 206) {
    if (!range) return { code: 'invalid', reason: 'answers with part of the file although all of it was requested' }
    const asked = range.length ?? Number.POSITIVE_INFINITY
    const said = contentLength(response)
    if (!found || found.offset !== range.offset || found.length > asked || (said !== null && said !== found.length)) {
      return { code: 'invalid', reason: 'answers with a different range from the one requested' }
    }
  }
  if (!pin) return null
  const now = { size: sizeOf(response), etag: response.headers.get('etag'), lastModified: lastModified(response) }
  // A missing value cannot contradict. For a strong ETag, If-Match was sent as well.
  const changed = (['size', 'etag', 'lastModified'] as const).some(
    (name) => pin[name] !== null && now[name] !== null && pin[name] !== now[name],
  )
  return changed ? { code: 'source_changed' } : null
}

function statOf(response: Response, size: number | null, ranges: boolean): SourceStat {
  const etag = response.headers.get('etag')
  return {
    size,
    etag: etag && isStrong(etag) ? etag : versionEtag({ size, etag, lastModified: lastModified(response) }),
    contentType: response.headers.get('content-type'),
    ranges,
  }
}

/** Size of the whole file, if the response contains it. */
function sizeOf(response: Response): number | null {
  return response.status === 206
    ? (parseContentRange(response.headers.get('content-range'))?.total ?? null)
    : contentLength(response)
}

function contentLength(response: Response): number | null {
  const text = response.headers.get('content-length')
  return text !== null && /^\d+$/.test(text.trim()) ? Number(text) : null
}

function lastModified(response: Response): string | null {
  return response.headers.get('last-modified')
}

function isStrong(etag: string): boolean {
  return /^"[^"]*"$/.test(etag)
}

const VERSION_ETAG = /^"version-([A-Za-z0-9_-]+)"$/

/**
 * An ETag made here, for a file without a strong one: its size, date and weak ETag, compared with every answer.
 * Null if the server sends nothing that can be compared.
 */
function versionEtag(version: FileVersion): string | null {
  if (version.size === null && version.lastModified === null && version.etag === null) return null
  const fields = [version.size, version.lastModified, version.etag]
  return `"version-${toBase64Url(JSON.stringify(fields))}"`
}

function parseVersionEtag(etag: string): FileVersion {
  const bytes = fromBase64Url(VERSION_ETAG.exec(etag)?.[1] ?? '')
  try {
    const [size, modified, weak] = JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array())) as unknown[]
    return {
      size: typeof size === 'number' ? size : null,
      lastModified: typeof modified === 'string' ? modified : null,
      etag: typeof weak === 'string' ? weak : null,
    }
  } catch {
    return { size: null, lastModified: null, etag }
  }
}

function rangeHeader({ offset, length }: ByteRange): string {
  return `bytes=${offset}-${length === undefined ? '' : offset + length - 1}`
}

/** RFC 7617 §2.1: user-id and password in UTF-8. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${toBase64(`${username}:${password}`)}`
}
