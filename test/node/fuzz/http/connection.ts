// In charge of: sending bytes to the service and collecting what comes back, one connection each, with a time limit.
// Node's own client refuses to send most of what is sent here.
// Not in charge of: what is sent (generators/request.ts, generators/rawRequests.ts), parsing it (responseParser.ts).
import { connect, type Socket } from 'node:net'
import { headerOf, parseResponses, type Response, type ParsedStream } from './responseParser.ts'

/** `silent`: the time limit passed without a complete answer. */
export interface HeardStream extends ParsedStream {
  silent: boolean
  /** All received bytes. */
  raw: Buffer
}

export interface SentBytes {
  bytes: Buffer
  /** Methods of the requests in it, in order. */
  methods: readonly string[]
  /** Close our side after the last byte. */
  half?: boolean
  /** Wait for the end of the connection, since one request must not get two answers. */
  toTheEnd?: boolean
}

/** Sends bytes and collects the answers. */
export type Connection = (sent: SentBytes) => Promise<HeardStream>

/** Far more than any request takes, even on a busy machine. */
export const NO_RESPONSE_MS = 60_000

export function connectTo(base: string, hangMs = NO_RESPONSE_MS): Connection {
  const { hostname, port } = new URL(base)
  return ({ bytes, methods, half = false, toTheEnd = false }) =>
    new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      let came: Buffer[] = []
      const bound = setTimeout(() => end(false, true), hangMs)
      const received = (ended: boolean): ParsedStream & { raw: Buffer } => {
        const raw = Buffer.concat(came)
        came = [raw]
        return { ...parseResponses(raw, methods, ended), raw }
      }
      function end(ended: boolean, silent = false): void {
        clearTimeout(bound)
        const all = received(ended)
        socket.destroy()
        resolve({ ...all, silent: silent && all.answers.length < methods.length })
      }
      socket.on('data', (chunk) => {
        came.push(chunk)
        const { answers, broken, raw } = received(false)
        if (broken !== null || (!toTheEnd && answers.length >= methods.length) || isStream(raw)) end(false)
      })
      socket.on('end', () => end(true))
      socket.on('error', () => end(true))
      socket.on('connect', () => {
        socket.write(bytes)
        if (half) socket.end()
      })
    })
}

/** Server-Sent Events of a running job have no end: only the head is awaited. */
function isStream(raw: Buffer): boolean {
  const head = raw.subarray(0, 4096).toString('latin1')
  return head.includes('\r\n\r\n') && /^content-type: *text\/event-stream/im.test(head)
}

/** Opens connections that stay idle until `close`. */
export async function holdOpen(base: string, bytes: readonly Buffer[]): Promise<{ close: () => void }> {
  const { hostname, port } = new URL(base)
  const sockets = await Promise.all(
    bytes.map(
      (each) =>
        new Promise<Socket>((resolve) => {
          const socket = connect({ host: hostname, port: Number(port) })
          socket.on('error', () => resolve(socket))
          socket.on('connect', () => socket.write(each, () => resolve(socket)))
        }),
    ),
  )
  return { close: () => sockets.forEach((socket) => socket.destroy()) }
}

export const isJson = (answer: Response): boolean =>
  /^application\/json\b/i.test(headerOf(answer, 'content-type') ?? '')
