// In charge of: checking one response of the task API to a read of the source: which bytes it contains, or why it
// contains none.
// Not in charge of: retries (sourceReader.ts).
import { isJobErrorCode, isConnectionError, jobErrorPolicies } from '#contract/errorCodes.ts'
import { SOURCE_ERROR_HEADER } from '#contract/task/protocol.ts'
import { responseError } from '../taskApi/responseErrors.ts'
import { TaskError } from '#contract/taskError.ts'
import { TransientError } from '../taskApi/retry.ts'

/** What the first response stated. Every later one must agree: ffmpeg must never receive parts of two files as one. */
export interface SourceInfo {
  /** Bytes; null if the source does not state its size. */
  size: number | null
  etag: string | null
  /** False: one sequential stream, which cannot be resumed after a break. */
  ranges: boolean
}

export interface RangeResponse {
  /** Kept as long as its body: Node cancels an unread body when its response is garbage-collected. */
  response: Response
  body: ReadableStream<Uint8Array>
  first: number
  /** Number of bytes that the body must contain; null if only its end shows it. */
  length: number | null
}

export interface ByteRange {
  first: number
  /** Inclusive. */
  last: number
}

const sourceChanged = (what: string): TaskError =>
  new TaskError('source_changed', `The source changed while it was read: ${what}.`)

const invalidResponse = (what: string): TransientError =>
  new TransientError(new TaskError('source_unreachable', `The source could not be read: ${what}.`))

/** Checks the response to a first read from byte 0; later responses must match its facts. */
export async function checkFirstResponse(response: Response): Promise<{ facts: SourceInfo; delivery: RangeResponse }> {
  if (response.status === 416) {
    await response.body?.cancel()
    throw new TaskError('source_not_media', 'The source is empty.')
  }
  if (!response.ok) throw await sourceError(response)
  const etag = response.headers.get('etag')
  const body = bodyOf(response)
  if (response.status === 206) {
    const range = contentRange(response)
    if (range === null || range.total === null || range.first !== 0) {
      await response.body?.cancel()
      throw invalidResponse('its answer does not say which bytes it contains')
    }
    return {
      facts: { size: range.total, etag, ranges: true },
      delivery: { response, body, first: 0, length: range.last - range.first + 1 },
    }
  }
  const size = contentLength(response)
  if (size === 0) throw new TaskError('source_not_media', 'The source is empty.')
  const ranges = size !== null && response.headers.get('accept-ranges') === 'bytes'
  return { facts: { size, etag, ranges }, delivery: { response, body, first: 0, length: size } }
}

/** Checks a later response against the facts. `asked` null = the whole source was requested. */
export async function checkNextResponse(
  response: Response,
  facts: SourceInfo,
  asked: ByteRange | null,
): Promise<RangeResponse> {
  try {
    if (response.status === 412) throw sourceChanged('it has a different version')
    if (response.status === 416) throw sourceChanged('it became shorter')
    if (!response.ok) throw await sourceError(response)
    const etag = response.headers.get('etag')
    if (facts.etag !== null && etag !== null && etag !== facts.etag) throw sourceChanged('it has a different version')
    if (response.status === 206 && asked !== null) {
      const range = contentRange(response)
      if (range === null) throw invalidResponse('its answer does not say which bytes it contains')
      if (range.total !== null && range.total !== facts.size) throw sourceChanged('it has a different size')
      if (range.first !== asked.first || range.last > asked.last || range.last < range.first)
        throw invalidResponse('it answered with different bytes from those requested')
      return { response, body: bodyOf(response), first: range.first, length: range.last - range.first + 1 }
    }
    if (response.status === 206) throw invalidResponse('it answered with a part although the whole was requested')
    const size = contentLength(response)
    if (facts.size !== null && size !== null && size !== facts.size) throw sourceChanged('it has a different size')
    // A whole body in response to a range request can be used only if the range begins at byte 0.
    if (asked !== null && asked.first > 0) throw invalidResponse('it no longer answers range requests')
    return { response, body: bodyOf(response), first: 0, length: asked === null ? facts.size : asked.last + 1 }
  } catch (error) {
    if (!response.bodyUsed) await response.body?.cancel().catch(() => undefined)
    throw error
  }
}

async function sourceError(response: Response): Promise<Error> {
  const code = response.headers.get(SOURCE_ERROR_HEADER) ?? ''
  const error = await responseError(response, 'source_unreachable')
  if (!isJobErrorCode(code)) return error
  const sourceError = error instanceof TransientError ? error.finalError : error
  const { field, details } = sourceError instanceof TaskError ? sourceError : {}
  const named = new TaskError(code, sourceError.message || `The source answered ${response.status}.`, {
    field,
    details,
  })
  return jobErrorPolicies[code].permanent && !isConnectionError(code)
    ? named
    : new TransientError(named, error instanceof TransientError ? error.retryAfterMs : null, true)
}

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (response.body === null) throw invalidResponse('its answer has no body')
  return response.body
}

function contentLength(response: Response): number | null {
  const text = response.headers.get('content-length')
  return text !== null && /^\d+$/.test(text) ? Number(text) : null
}

function contentRange(response: Response): (ByteRange & { total: number | null }) | null {
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '')
  if (!match) return null
  return { first: Number(match[1]), last: Number(match[2]), total: match[3] === '*' ? null : Number(match[3]) }
}
