// In charge of: connections from the front door to the runtime's socket.
// Not in charge of: what is sent over them (reverseProxy.ts).
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'

/** The runtime closes after 5 s. */
const IDLE_MS = 2_000

/** Kept and used again. One may be closed at that very moment, so these are for what can be sent once more. */
export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: Infinity, timeout: IDLE_MS })
}

/**
 * One for each request with a body. keepAlive, because the runtime then reads on for a moment behind an answer that it gave
 * before the end of the body, and closes at once without.
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
 * Who has closed may have answered before, and the answer is still to be read. Node throws it away when a write fails. Here
 * what cannot be written is dropped, and the reading side says how it ends: with an answer, or without.
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
