// In charge of: reading the environment once, at the edge, into typed values. Secrets apart, units in names.
// Not in charge of: what a setting does.

declare global {
  // Set by the start script or by hand, never needed in production.
  interface Env {
    /** Proves to the local egress that a request is the service's own. */
    INTERNAL_TOKEN?: string
    /** Shared with the local transcoders, so that only this service starts work there. */
    TRANSCODER_SECRET?: string
    /** The platform's own rate limit, where wrangler.toml binds one. */
    RATE_LIMIT?: RateLimit
  }
}

export interface Settings {
  egress: 'platform' | 'pinned' | 'listed'
  /** host:port pairs on private networks that client-named addresses may reach. */
  allowPrivateHosts: ReadonlySet<string>
  /** Local transcoders; empty = Cloudflare Containers. */
  transcoderUrls: readonly string[]
  maxSlots: number
  /** Where transcoders reach the task door. */
  doorUrl: string
  leaseMs: number
  /** Jobs of an account that have not ended. */
  maxActiveJobs: number
  /** Bytes that the stored uploads of an account may take; null = no bound. */
  maxStoredUploadBytes: number | null
  /** Of a key that has no bound of its own; null = none. */
  requestsPerMinute: number | null
  /** Configured public address without a slash at the end, or null = that of the request. */
  baseUrl: string | null
}

function list(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function positive(value: string | undefined, fallback: number): number {
  const parsed = Number(value)
  return Number.isFinite(parsed) && parsed > 0 ? parsed : fallback
}

const cache = new WeakMap<object, Settings>()

export function settings(env: Env): Settings {
  const known = cache.get(env)
  if (known) return known
  const transcoderUrls = list(env.TRANSCODER_URLS).map((url) => url.replace(/\/+$/, ''))
  const made: Settings = {
    egress: env.EGRESS === 'pinned' || env.EGRESS === 'listed' ? env.EGRESS : 'platform',
    allowPrivateHosts: new Set(list(env.ALLOW_PRIVATE_HOSTS).map((host) => host.toLowerCase())),
    transcoderUrls,
    maxSlots: transcoderUrls.length > 0 ? transcoderUrls.length : positive(env.MAX_SLOTS, 1),
    // Containers have no internet; a request to this name is handed to the Worker by the outbound handler (container.ts).
    doorUrl: (env.DOOR_URL || 'http://door.splicepoint.internal').replace(/\/+$/, ''),
    leaseMs: positive(env.LEASE_SECONDS, 30) * 1000,
    maxActiveJobs: positive(env.MAX_ACTIVE_JOBS, 10_000),
    maxStoredUploadBytes: env.MAX_STORED_UPLOAD_BYTES ? positive(env.MAX_STORED_UPLOAD_BYTES, 1e12) : null,
    requestsPerMinute: env.REQUESTS_PER_MINUTE ? positive(env.REQUESTS_PER_MINUTE, 600) : null,
    baseUrl: env.BASE_URL ? env.BASE_URL.replace(/\/+$/, '') : null,
  }
  cache.set(env, made)
  return made
}
