// In charge of: where transcoders reach the task API.
// Not in charge of: what it answers (taskApi/taskRoutes.ts).
import { settings } from '../env.ts'

/**
 * The host name that leads from a container to the task API (taskApi/outbound.ts); the only one that it reaches. The name is older
 * than the term "task API". It stays, because running containers are connected to it.
 */
export const TASK_API_HOST = 'door.splicepoint.internal'

let ownAddress: string | null = null

/**
 * `wrangler dev` serves at a port that only its clients know. Only addresses of this machine are noted: any other could be a
 * name of a client's choice, and attempts' tokens are sent to it.
 */
export function noteOwnAddress(url: string): void {
  const { hostname, origin } = new URL(url)
  if (hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]') ownAddress = origin
}

/** @returns null if it is unknown: TASK_API_URL is empty, and no request has come yet */
export function taskApiUrl(env: Env): string | null {
  const { taskApiUrl: configured, transcoders } = settings(env)
  // Those that registered themselves use the address of their registration.
  return configured ?? (transcoders === 'listed' ? ownAddress : `http://${TASK_API_HOST}`)
}
