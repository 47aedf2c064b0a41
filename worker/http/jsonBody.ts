// In charge of: reading a JSON body of limited size, with errors that say what to send instead.
import type { Context } from 'hono'
import type { AppEnv } from './context.ts'
import { RequestError } from './requestError.ts'

/**
 * @param empty the value for an empty body; if missing, an empty body is an error
 * @returns the parsed value and its text
 * @throws RequestError 413, 415 or 400
 */
export async function readJson(
  c: Context<AppEnv>,
  maxBytes: number,
  empty?: unknown,
): Promise<{ value: unknown; text: string }> {
  const type = (c.req.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type !== '' && type !== 'application/json' && !type.endsWith('+json')) {
    throw new RequestError(
      'unsupported_media_type',
      'The body must be JSON: send the header "Content-Type: application/json" (curl: -H or --json).',
    )
  }
  const text = await readText(c.req.raw.body, Number(c.req.header('content-length') ?? 0), maxBytes)
  if (text === '' && empty !== undefined) return { value: empty, text }
  try {
    return { value: JSON.parse(text) as unknown, text }
  } catch (error) {
    // V8 quotes a part of the body in its message, and the body may contain a secret key.
    const position = /position \d+( \(line \d+ column \d+\))?/.exec(String(error))?.[0]
    throw new RequestError(
      'invalid_request',
      text.trim() === ''
        ? 'The body is empty; it must be a JSON object.'
        : `The body is not valid JSON${position === undefined ? ': it ends too early' : ` at ${position}`}.`,
    )
  }
}

/** The same, but a missing body means `{}`. A proxy may turn it into an empty chunked body without a length. */
export async function readOptionalJson(
  c: Context<AppEnv>,
  maxBytes: number,
): Promise<{ value: unknown; text: string }> {
  const isNone = c.req.raw.body === null || c.req.header('content-length') === '0'
  return isNone ? { value: {}, text: '' } : readJson(c, maxBytes, {})
}

/** A body may take this long, and as long as its largest size takes at 50 kB/s. */
const WAIT_MS = 30_000
const SLOWEST_BYTES_PER_MS = 50

async function readText(body: ReadableStream<Uint8Array> | null, announced: number, maxBytes: number): Promise<string> {
  const tooLarge = () => new RequestError('too_large', `The body may have at most ${maxBytes} bytes.`)
  if (announced > maxBytes) throw tooLarge()
  if (body === null) return ''
  const decoder = new TextDecoder()
  const reader = body.getReader()
  const waitMs = WAIT_MS + maxBytes / SLOWEST_BYTES_PER_MS
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void reader.cancel().catch(() => undefined)
  }, waitMs)
  try {
    let bytes = 0
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (isLate)
        throw new RequestError('invalid_request', `The body did not arrive within ${Math.round(waitMs / 1000)} s.`)
      if (done) return text + decoder.decode()
      bytes += value.byteLength
      if (bytes > maxBytes) throw tooLarge()
      text += decoder.decode(value, { stream: true })
    }
  } finally {
    clearTimeout(timer)
    await reader.cancel().catch(() => undefined)
  }
}
