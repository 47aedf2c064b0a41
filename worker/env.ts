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
  /** Sentences about what cannot be read. While there is one no request of a key is taken (http/authenticate.ts): a bound would be a guess. */
  problems: readonly string[]
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
  /** A proxy stands in front and says in X-Forwarded-Proto and X-Forwarded-Host how it was called. */
  trustProxy: boolean
}

function list(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

type NumberName = 'MAX_SLOTS' | 'LEASE_SECONDS' | 'MAX_ACTIVE_JOBS' | 'MAX_STORED_UPLOAD_BYTES' | 'REQUESTS_PER_MINUTE'

/** A variable of wrangler.toml may be a number itself. */
const trimmedText = (value: string | number | undefined): string => String(value ?? '').trim()

/** Settings that are numbers; what is empty is `unset`. */
function readNumbers(env: Env, problems: string[]) {
  function read<T>(name: NumberName, unset: T, isFine: (value: number) => boolean, expects: string): number | T {
    const text = trimmedText(env[name])
    if (text === '' || isFine(Number(text))) return text === '' ? unset : Number(text)
    problems.push(`${name} must be ${expects}, or empty for its default (docs/operating.md)`)
    return unset
  }
  return {
    above0: <T>(name: NumberName, unset: T) =>
      read(name, unset, (value) => value > 0 && Number.isFinite(value), 'a number above 0'),
    whole: <T>(name: NumberName, unset: T, least: number) =>
      read(
        name,
        unset,
        (value) => Number.isSafeInteger(value) && value >= least,
        `a whole number of at least ${least}`,
      ),
  }
}

/** Empty = the platform's. */
function readEgress(env: Env, problems: string[]): Settings['egress'] {
  const egress: string = env.EGRESS || 'platform'
  if (egress === 'platform' || egress === 'pinned' || egress === 'listed') return egress
  problems.push('EGRESS must be platform, pinned or listed (docs/operating.md)')
  return 'platform'
}

function readTrustProxy(env: Env, problems: string[]): boolean {
  const text = trimmedText(env.TRUST_PROXY)
  if (text !== '' && text !== '1') problems.push('TRUST_PROXY must be 1 or empty (docs/operating.md)')
  return text === '1'
}

const cache = new WeakMap<object, Settings>()

export function settings(env: Env): Settings {
  const known = cache.get(env)
  if (known) return known
  const transcoderUrls = list(env.TRANSCODER_URLS).map((url) => url.replace(/\/+$/, ''))
  const problems: string[] = []
  const { above0: positive, whole } = readNumbers(env, problems)
  const made: Settings = {
    problems,
    egress: readEgress(env, problems),
    allowPrivateHosts: new Set(list(env.ALLOW_PRIVATE_HOSTS).map((host) => host.toLowerCase())),
    transcoderUrls,
    maxSlots: transcoderUrls.length > 0 ? transcoderUrls.length : whole('MAX_SLOTS', 1, 1),
    // Containers have no internet; a request to this name is led to the task API (taskApi/outbound.ts).
    doorUrl: (env.DOOR_URL || 'http://door.splicepoint.internal').replace(/\/+$/, ''),
    leaseMs: positive('LEASE_SECONDS', 30) * 1000,
    maxActiveJobs: whole('MAX_ACTIVE_JOBS', 10_000, 0),
    maxStoredUploadBytes: whole('MAX_STORED_UPLOAD_BYTES', null, 0),
    requestsPerMinute: whole('REQUESTS_PER_MINUTE', null, 1),
    baseUrl: env.BASE_URL ? env.BASE_URL.replace(/\/+$/, '') : null,
    trustProxy: readTrustProxy(env, problems),
  }
  cache.set(env, made)
  for (const error of problems) console.error(JSON.stringify({ level: 'error', msg: 'setting refused', error }))
  return made
}
