// In charge of: whether the service can be reached at the address that a task names, before the task is accepted.
// Not in charge of: requests (taskApi/taskClient.ts), which retry.
import { connect } from 'node:net'

/** A service that is merely slow is asked by the attempt itself. */
const PATIENCE_MS = 2_000

/** @returns why nothing can be reached there; null = something accepts connections, or it takes longer to know */
export function whyUnreachable(address: string): Promise<string | null> {
  const { protocol, hostname, port, origin } = new URL(address)
  // In a container the platform leads requests by this name; there is nothing to connect to.
  if (hostname.endsWith('.internal')) return Promise.resolve(null)
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
    const end = (problem: string | null): void => {
      socket.destroy()
      resolve(problem)
    }
    socket.setTimeout(PATIENCE_MS, () => end(null))
    socket.once('connect', () => end(null))
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      end(`This transcoder cannot reach the service at ${origin} (${code ?? message}).`),
    )
  })
}
