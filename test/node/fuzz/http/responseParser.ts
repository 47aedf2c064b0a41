// In charge of: parsing HTTP/1.1 answers strictly: invalid framing is reported, not repaired.
// Not in charge of: sending (connection.ts), whether an answer is correct (responseRules.ts).
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

export interface Response {
  status: number
  /** In order; names in lower case. */
  headers: [name: string, value: string][]
  body: Buffer
  /** All its bytes, to search them for forbidden content. */
  raw: Buffer
}

/**
 * The content of a connection. `broken`: why the bytes are not valid answers; `left`: bytes after the last complete
 * answer.
 */
export interface ParsedStream {
  answers: Response[]
  left: Buffer
  broken: string | null
}

/** Decodes the content coding that the request accepted. */
function decoded(body: Buffer, coding: string | undefined): Buffer | null {
  try {
    if (coding === 'gzip') return gunzipSync(body)
    return coding === 'br' ? brotliDecompressSync(body) : body
  } catch {
    return null
  }
}

export const headerOf = (answer: Response, name: string): string | null =>
  answer.headers.find(([each]) => each === name)?.[1] ?? null

const BREAK = '\r\n\r\n'

/**
 * @param method of the request: an answer to HEAD has no body, whatever its headers say
 * @param ended whether the server has closed its side
 */
export function parseResponses(bytes: Buffer, method: string, ended: boolean): ParsedStream {
  const answers: Response[] = []
  let at = 0
  while (at < bytes.length) {
    const one = readAnswer(bytes.subarray(at), method, ended)
    if (typeof one === 'string') return { answers, left: bytes.subarray(at), broken: one }
    if (one === null) break
    at += one.raw.length
    // 100 Continue and other 1xx come before an answer (RFC 9110, 15.2).
    if (one.status >= 200) answers.push(one)
  }
  return { answers, left: bytes.subarray(at), broken: null }
}

/** Null: more bytes are needed. A text: the problem. */
function readAnswer(bytes: Buffer, method: string, ended: boolean): Response | string | null {
  const end = bytes.indexOf(BREAK)
  if (end < 0) return ended ? 'the head of the answer breaks off' : null
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.[01] ([1-5]\d\d)(?: [\t\x20-\x7e]*)?$/.exec(first)?.[1] ?? Number.NaN)
  if (Number.isNaN(status)) return `the status line is ${JSON.stringify(first.slice(0, 80))}`
  const headers: [string, string][] = []
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    if (name === undefined || value === undefined) return `a header line is ${JSON.stringify(line.slice(0, 80))}`
    headers.push([name.toLowerCase(), value])
  }
  const start = end + BREAK.length
  const coding = headers.find(([name]) => name === 'content-encoding')?.[1]
  const made = (length: number, coded: Buffer): Response | string => {
    const body = coded.length > 0 ? decoded(coded, coding) : coded
    return body === null ? `its body is no ${coding}` : { status, headers, body, raw: bytes.subarray(0, length) }
  }
  const whole = (length: number) => made(start + length, bytes.subarray(start, start + length))
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return whole(0)
  const all = (name: string) => headers.filter(([each]) => each === name).map(([, value]) => value)
  const [codings, lengths] = [all('transfer-encoding'), all('content-length')]
  if (codings.length + lengths.length > 1) return 'its length is told twice'
  if (codings.length > 0) {
    if (codings[0]?.toLowerCase() !== 'chunked') return `its transfer coding is ${codings[0]}`
    const chunks = readChunks(bytes.subarray(start))
    if (chunks === 'short') return ended ? 'its chunks break off' : null
    return typeof chunks === 'string' ? chunks : made(start + chunks.length, chunks.body)
  }
  if (lengths.length > 0) {
    if (!/^\d+$/.test(lengths[0] ?? '')) return `its length is ${lengths[0]}`
    const length = Number(lengths[0])
    if (bytes.length - start >= length) return whole(length)
    return ended ? `its body breaks off at ${bytes.length - start} of ${length} bytes` : null
  }
  return ended ? whole(bytes.length - start) : null
}

function readChunks(bytes: Buffer): { body: Buffer; length: number } | string {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return 'short'
    const size = bytes.subarray(at, end).toString('latin1')
    if (!/^[0-9a-f]{1,8}$/i.test(size)) return `a chunk's size is ${JSON.stringify(size.slice(0, 40))}`
    const [from, length] = [end + 2, Number.parseInt(size, 16)]
    if (bytes.length < from + length + 2) return 'short'
    if (bytes.subarray(from + length, from + length + 2).toString('latin1') !== '\r\n') return 'a chunk has no end'
    parts.push(bytes.subarray(from, from + length))
    at = from + length + 2
    if (length === 0) return { body: Buffer.concat(parts), length: at }
  }
}
