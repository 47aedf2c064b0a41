// In charge of: when an answer of the front door ends whose request has not come whole yet.
// Not in charge of: taking the rest of that request (reverseProxy.ts).
import type { ServerResponse } from 'node:http'

/**
 * Behind the last answer of a connection Node closes it at once, and what the client is still sending then meets a reset, which
 * may take the answer with it (RFC 9112, 9.6): the end waits for the end of the request.
 */
export function endAfterRequest(response: ServerResponse): void {
  const { req: incoming } = response
  if (response.shouldKeepAlive || incoming.complete || incoming.destroyed) {
    response.end()
    return
  }
  response.flushHeaders()
  incoming.once('close', () => response.end())
}
