// In charge of: sending bytes to the service and collecting what comes back, one connection each, with a time limit.
// Node's own client refuses to send most of what is sent here.
// Not in charge of: what is sent (generators/request.ts), parsing it (responseParser.ts).
import { connect } from 'node:net'
import { headerOf, parseResponses, type Response, type ParsedStream } from './responseParser.ts'

/** `silent`: the time limit passed without a complete answer. */
export interface HeardStream extends ParsedStream {
  silent: boolean
  /** All received bytes. */
  raw: Buffer
}

/** Sends a request, and collects what is answered. */
export type Connection = (bytes: Buffer, method: string) => Promise<HeardStream>

/** Far more than any request takes, even on a busy machine. */
const NO_RESPONSE_MS = 60_000

export function connectTo(base: string): Connection {
  const { hostname, port } = new URL(base)
  return (bytes, method) =>
    new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      let came: Buffer[] = []
      const bound = setTimeout(() => end(false, true), NO_RESPONSE_MS)
      const received = (ended: boolean): ParsedStream & { raw: Buffer } => {
        const raw = Buffer.concat(came)
        came = [raw]
        return { ...parseResponses(raw, method, ended), raw }
      }
      function end(ended: boolean, silent = false): void {
        clearTimeout(bound)
        const all = received(ended)
        socket.destroy()
        resolve({ ...all, silent: silent && all.answers.length === 0 })
      }
      socket.on('data', (chunk) => {
        came.push(chunk)
        const { answers, broken, raw } = received(false)
        if (broken !== null || answers.length > 0 || isStream(raw)) end(false)
      })
      socket.on('end', () => end(true))
      socket.on('error', () => end(true))
      socket.on('connect', () => socket.write(bytes))
    })
}

/** Server-Sent Events of a running job have no end: only the head is awaited. */
function isStream(raw: Buffer): boolean {
  const head = raw.subarray(0, 4096).toString('latin1')
  return head.includes('\r\n\r\n') && /^content-type: *text\/event-stream/im.test(head)
}

export const isJson = (answer: Response): boolean =>
  /^application\/json\b/i.test(headerOf(answer, 'content-type') ?? '')
