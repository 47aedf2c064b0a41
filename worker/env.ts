// In charge of: reading environment variables into typed values. Secrets are not included; units are part of the names.
// Not in charge of: what a setting does.

/** The host name that leads from a container to the task API; the only one that it reaches. */
/** The name is older than the term "task API". It stays, because running containers are connected to it. */
export const TASK_API_HOST = 'door.splicepoint.internal'

declare global {
  // Set by the start script or by hand, never needed in production.
  interface Env {
    /** Proves to the local egress proxy that a request comes from this service. */
    INTERNAL_TOKEN?: string
    /** Shared with the local transcoders, so that only this service can start work there. */
    TRANSCODER_SECRET?: string
    /** The platform's own rate limit, if wrangler.toml binds one. */
    RATE_LIMIT?: RateLimit
  }
}

export interface Settings {
  /**
   * Messages about invalid settings. While there is one, requests with a key are refused (http/authenticate.ts),
   * because a limit could only be guessed.
   */
  problems: readonly string[]
  egress: 'platform' | 'pinned' | 'listed'
  /** host:port pairs in private networks that clients' addresses may reach. */
  allowPrivateHosts: ReadonlySet<string>
  /** Local transcoders; empty = Cloudflare Containers. */
  transcoderUrls: readonly string[]
  maxSlots: number
  /** Address of the task API for transcoders. */
  taskApiUrl: string
  leaseMs: number
  /** Maximum number of unfinished jobs of an account. */
  maxActiveJobs: number
  /** Maximum stored bytes of an account's uploads; null = no limit. */
  maxStoredUploadBytes: number | null
  /** For a key without a limit of its own; null = no limit. */
  requestsPerMinute: number | null
  /** Configured public address without a trailing slash; null = the address of the request. */
  baseUrl: string | null
  /** A proxy in front of the service sends the called address in X-Forwarded-Proto and X-Forwarded-Host. */
  trustProxy: boolean
}

function list(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

type NumberName = 'MAX_SLOTS' | 'LEASE_SECONDS' | 'MAX_ACTIVE_JOBS' | 'MAX_STORED_UPLOAD_BYTES' | 'REQUESTS_PER_MINUTE'

/** A variable in wrangler.toml may be a number. */
const trimmedText = (value: string | number | undefined): string => String(value ?? '').trim()

/** Settings that are numbers; an empty one has the value `unset`. */
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
    taskApiUrl: (env.TASK_API_URL || `http://${TASK_API_HOST}`).replace(/\/+$/, ''),
    leaseMs: positive('LEASE_SECONDS', 30) * 1000,
    maxActiveJobs: whole('MAX_ACTIVE_JOBS', 10_000, 0),
    maxStoredUploadBytes: whole('MAX_STORED_UPLOAD_BYTES', null, 0),
    requestsPerMinute: whole('REQUESTS_PER_MINUTE', null, 1),
    baseUrl: env.BASE_URL ? env.BASE_URL.replace(/\/+$/, '') : null,
    trustProxy: readTrustProxy(env, problems),
  }
  cache.set(env, made)
  for (const error of problems) console.error(JSON.stringify({ level: 'error', msg: 'invalid setting', error }))
  return made
}
