// In charge of: the reverse proxy's own error answers, in the service's error format, and one for a connection without
// a readable request.
// Not in charge of: when they are sent (reverseProxy.ts).
import type { Duplex } from 'node:stream'
import { STATUS_CODES, type ServerResponse } from 'node:http'
import { errorHelp } from '#contract/errorAdvice.ts'
import { requestErrorStatus, type RequestErrorCode } from '#contract/errorCodes.ts'
import { endAfterRequest } from './earlyResponse.ts'

export interface ProxyError {
  code: RequestErrorCode
  message: string
  headers?: Record<string, string>
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export const proxyErrors = {
  noAddress: {
    code: 'not_found',
    message: 'There is no such route in this version. /docs lists all of them.',
  },
  method: {
    code: 'method_not_allowed',
    message: `No route accepts this method. Allowed: ${METHODS.join(', ')}.`,
    headers: { allow: METHODS.join(', ') },
  },
  host: { code: 'invalid_request', message: 'The Host header is missing or is not a host name with an optional port.' },
  target: { code: 'invalid_request', message: 'The request target cannot be parsed.' },
  message: { code: 'invalid_request', message: 'The request is not valid HTTP.' },
  cut: { code: 'invalid_request', message: 'The body ended before it was complete.' },
  late: { code: 'invalid_request', message: 'The headers did not arrive in time.' },
  headers: { code: 'too_large', message: 'The headers are larger than 128 KiB.' },
  away: {
    code: 'unavailable',
    message: 'The service is starting. Try again in a moment.',
    headers: { 'retry-after': '1' },
  },
  full: {
    code: 'unavailable',
    message:
      'The disk of the service is full: nothing can be stored. Its operator has to free space; what runs goes on then. Try again in a minute.',
    headers: { 'retry-after': '60' },
  },
  broken: { code: 'internal', message: 'Something went wrong on our side.' },
} as const satisfies Record<string, ProxyError>

export function isSupportedMethod(method: string | undefined): boolean {
  return METHODS.includes(method ?? '')
}

const bodyOf = ({ code, message }: ProxyError): string =>
  JSON.stringify({ error: { code, message, ...errorHelp(code) } })

/** Does nothing if an answer has begun. */
export function sendError(response: ServerResponse, refusal: ProxyError): void {
  if (response.headersSent || response.destroyed) return
  const body = bodyOf(refusal)
  response.writeHead(requestErrorStatus[refusal.code], {
    ...refusal.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.write(body)
  endAfterRequest(response)
}

/** Sends the error and closes the connection. */
export function sendConnectionError(socket: Duplex, refusal: ProxyError): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = bodyOf(refusal)
  const status = requestErrorStatus[refusal.code]
  const headers = {
    ...refusal.headers,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
