// In charge of: connections from the reverse proxy to the runtime's socket.
// Not in charge of: what is sent over them (reverseProxy.ts).
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'

/** Shorter than the runtime's own timeout of 5 s. */
const IDLE_MS = 2_000

/** For requests that can be repeated: a kept-alive connection may be closed just when it is used again. */
export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: Infinity, timeout: IDLE_MS })
}

/**
 * A new connection for each request with a body. keepAlive is set because the runtime, after an early answer, then
 * reads the body for a moment; without it, the runtime closes the connection at once.
 */
export class RetryingAgent extends Agent {
  constructor() {
    super({ keepAlive: true, maxSockets: Infinity })
  }

  override createConnection({ socketPath }: { socketPath?: string }): Socket {
    return retryWrites(connect({ path: socketPath ?? '' }))
  }

  override keepSocketAlive(): boolean {
    return false
  }
}

type Written = (error?: NodeJS.ErrnoException | null) => void

/**
 * The runtime may send an answer and close the connection while the body is still being sent. Node discards the answer
 * if a write fails with EPIPE, so such errors are ignored here; the reading side finds out whether there is an answer.
 */
function retryWrites(socket: Socket): Socket {
  const write = socket._write.bind(socket)
  const writev = socket._writev?.bind(socket)
  const dropping =
    (done: Written): Written =>
    (error) =>
      done(error?.code === 'EPIPE' ? null : error)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, dropping(done))
  if (writev !== undefined) socket._writev = (chunks, done) => writev(chunks, dropping(done))
  return socket
}
