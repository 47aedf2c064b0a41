// In charge of: when to end an answer of the reverse proxy that was given before the request was complete.
// Not in charge of: reading the rest of that request (reverseProxy.ts).
import type { ServerResponse } from 'node:http'

/**
 * After the last answer of a connection, Node closes it at once. If the client is still sending, it gets a reset, which
 * may destroy the answer too (RFC 9112, 9.6). So the answer ends only when the request has ended.
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
