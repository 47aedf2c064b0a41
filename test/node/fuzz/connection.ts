// In charge of: sending a request and collecting its answer, one connection each, with a time limit. Node's parser is strict:
// an answer with an invalid head or framing is reported, not repaired.
// Not in charge of: what is sent (generators/request.ts), whether an answer is correct (responseRules.ts).
import { request as send, type IncomingMessage } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { encode } from './generators/body.ts'
import type { Fill, Request } from './generators/request.ts'

export interface Response {
  status: number
  /** In order; names in lower case. */
  headers: [name: string, value: string][]
  /** Decoded. */
  body: Buffer
}

export interface Heard {
  /** null: none, or none that is whole; then `why` says it. */
  answer: Response | null
  why: string
  /** All that was received, to search it for forbidden content. */
  raw: Buffer
}

/** Sends a request, and collects what is answered. */
export type Connection = (request: Request, fill: Fill) => Promise<Heard>

/** Far more than any request takes, even on a busy machine. */
const NO_RESPONSE_MS = 60_000

export const headerOf = (answer: Response, name: string): string | null =>
  answer.headers.find(([each]) => each === name)?.[1] ?? null

export const isJson = (answer: Response): boolean =>
  /^application\/json\b/i.test(headerOf(answer, 'content-type') ?? '')

/** @throws Error if the body is not in its content coding */
function decoded(body: Buffer, coding: string | null): Buffer {
  if (coding === 'gzip' && body.length > 0) return gunzipSync(body)
  return coding === 'br' && body.length > 0 ? brotliDecompressSync(body) : body
}

export function connectTo(base: string): Connection {
  const { hostname, port, host } = new URL(base)
  return ({ method, target, headers, body, sender }, fill) =>
    new Promise((resolve) => {
      const sent = body === null ? null : encode(body, fill)
      const all = [
        ['Host', host],
        ['Connection', 'close'],
        ...(sender.header === null ? [] : [['Authorization', fill(sender.header)]]),
        ...headers.map(([name, value]) => [name, fill(value)]),
        ...(sent?.headers ?? []),
      ]
      const options = { hostname, port, method, path: fill(target), agent: false, timeout: NO_RESPONSE_MS }
      const outgoing = send({ ...options, headers: all.flat() })
      const none = (why: string): void => resolve({ answer: null, why, raw: Buffer.alloc(0) })
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer came')))
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code?.startsWith('HPE_')) none('the answer is no HTTP')
        else none(error.message === 'no answer came' ? error.message : 'the connection was closed without an answer')
      })
      outgoing.on('response', (incoming) => void readAnswer(incoming).then(resolve))
      outgoing.end(sent?.bytes)
    })
}

async function readAnswer(incoming: IncomingMessage): Promise<Heard> {
  const { statusCode = 0, statusMessage = '', rawHeaders } = incoming
  const lines = Array.from({ length: rawHeaders.length / 2 }, (_, at) => rawHeaders.slice(2 * at, 2 * at + 2))
  const head = Buffer.from(`${statusCode} ${statusMessage}\n${lines.map((line) => line.join(': ')).join('\n')}\n\n`)
  const chunks: Buffer[] = []
  const answer: Response = {
    status: statusCode,
    headers: lines.map(([name = '', value = '']) => [name.toLowerCase(), value]),
    body: Buffer.alloc(0),
  }
  const raw = (): Buffer => Buffer.concat([head, ...chunks])
  // Server-Sent Events of a running job have no end: only the head is awaited.
  if (/^text\/event-stream/i.test(headerOf(answer, 'content-type') ?? '')) {
    incoming.destroy()
    return { answer, why: '', raw: raw() }
  }
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    answer.body = decoded(Buffer.concat(chunks), headerOf(answer, 'content-encoding'))
    return { answer, why: '', raw: Buffer.concat([raw(), answer.body]) }
  } catch {
    return { answer: null, why: 'the answer is no HTTP', raw: raw() }
  }
}
