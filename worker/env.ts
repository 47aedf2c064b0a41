// In charge of: reading environment variables into typed values. Secrets are not included; units are part of the names.
// Not in charge of: which values are valid (contract/serviceVariables.ts), what a setting does.
import { MIN_TRANSCODER_SECRET } from '#contract/task/registration.ts'
import { RETENTION_DAYS, type RetentionDays } from '#contract/limits.ts'
import type { LogLevel } from '#contract/logLevels.ts'
import { isValidVariable, variableProblems, variableText } from '#contract/serviceVariables.ts'
import { parsePriceList, type PriceList } from '#contract/usage/priceList.ts'
import { log, setLogLevel } from './log.ts'

declare global {
  // Set by the start script or by hand, never needed in production.
  interface Env {
    /** Proves to the local egress proxy that a request comes from this service. */
    INTERNAL_TOKEN?: string
    /** Shared with transcoders that are not containers: only this service can start work there, and only they can register. */
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
  /** listed: the transcoders of TRANSCODER_URLS. registered: transcoders that registered themselves. */
  transcoders: 'containers' | 'listed' | 'registered'
  /** Empty unless they are listed. */
  transcoderUrls: readonly string[]
  /** Number of containers or listed transcoders; transcoders/capacity.ts counts registered ones. */
  maxSlots: number
  /** How many of these, the last ones, take dry runs alone. One at least takes everything. */
  dryRunSlots: number
  /** Address of the task API for transcoders; null = not configured (transcoders/taskApiUrl.ts). */
  taskApiUrl: string | null
  leaseMs: number
  /** Jobs that one transcoder would take longer for are divided, if they do not say how; null = none of them. */
  divideAboveSeconds: number | null
  /** Maximum number of unfinished jobs of an account. */
  maxActiveJobs: number
  /** Maximum stored bytes of an account's uploads; null = no limit. */
  maxStoredUploadBytes: number | null
  /** The most seconds of a source of which a job may make outputs; null = no limit. */
  maxSourceSeconds: number | null
  /** For a key without a limit of its own; null = no limit. */
  requestsPerMinute: number | null
  retentionDays: RetentionDays
  /** Configured public address without a trailing slash; null = the address of the request. */
  baseUrl: string | null
  /** The lines of the log that are written: this level and more severe ones. */
  logLevel: LogLevel
  /** The commit that was deployed; null = unknown. */
  commit: string | null
  /** A proxy in front of the service sends the called address in X-Forwarded-Proto and X-Forwarded-Host. */
  trustProxy: boolean
  /** What accounts are charged for; null = no price list. */
  prices: PriceList | null
}

function list(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** null where the variable is empty or invalid. */
function numberOf(
  env: Env,
  name:
    | 'MAX_SLOTS'
    | 'DRY_RUN_SLOTS'
    | 'LEASE_SECONDS'
    | 'DIVIDE_ABOVE_SECONDS'
    | 'MAX_ACTIVE_JOBS'
    | 'MAX_STORED_UPLOAD_BYTES'
    | 'MAX_SOURCE_SECONDS'
    | 'REQUESTS_PER_MINUTE'
    | 'KEEP_UPLOADS_DAYS'
    | 'KEEP_OUTPUTS_DAYS'
    | 'KEEP_JOBS_DAYS',
) {
  return isValidVariable(name, env[name]) ? Number(env[name]) : null
}

function priceList(text: string): PriceList | null {
  const parsed = text === '' ? null : parsePriceList(text)
  return parsed === null || 'problem' in parsed ? null : parsed
}

function registrationProblems(env: Env, urls: readonly string[]): string[] {
  return [
    ...(urls.length > 0 ? ['TRANSCODER_URLS must be empty with TRANSCODER_REGISTRATION'] : []),
    ...((env.TRANSCODER_SECRET ?? '').length < MIN_TRANSCODER_SECRET
      ? [`TRANSCODER_SECRET must have ${MIN_TRANSCODER_SECRET} characters or more with TRANSCODER_REGISTRATION`]
      : []),
  ]
}

/** Far above the start of a chunk, and below the time for which a host can be expected to last. */
const DIVIDE_ABOVE_SECONDS = 600

function divideAboveSeconds(env: Env): number | null {
  if (variableText(env.DIVIDE_ABOVE_SECONDS) === 'off') return null
  return numberOf(env, 'DIVIDE_ABOVE_SECONDS') ?? DIVIDE_ABOVE_SECONDS
}

const cache = new WeakMap<object, Settings>()

export function settings(env: Env): Settings {
  const known = cache.get(env)
  if (known) return known
  const transcoderUrls = list(env.TRANSCODER_URLS).map((url) => url.replace(/(?<!\/)\/+$/, ''))
  const isRegistered = variableText(env.TRANSCODER_REGISTRATION) === '1'
  const problems = [...variableProblems({ ...env }), ...(isRegistered ? registrationProblems(env, transcoderUrls) : [])]
  const maxSlots = transcoderUrls.length > 0 ? transcoderUrls.length : (numberOf(env, 'MAX_SLOTS') ?? 1)
  const made: Settings = {
    problems,
    egress: env.EGRESS === 'pinned' || env.EGRESS === 'listed' ? env.EGRESS : 'platform',
    allowPrivateHosts: new Set(list(env.ALLOW_PRIVATE_HOSTS).map((host) => host.toLowerCase())),
    transcoders: isRegistered ? 'registered' : transcoderUrls.length > 0 ? 'listed' : 'containers',
    transcoderUrls,
    maxSlots,
    dryRunSlots: Math.min(numberOf(env, 'DRY_RUN_SLOTS') ?? 0, maxSlots - 1),
    taskApiUrl: env.TASK_API_URL ? env.TASK_API_URL.replace(/(?<!\/)\/+$/, '') : null,
    leaseMs: (numberOf(env, 'LEASE_SECONDS') ?? 30) * 1000,
    divideAboveSeconds: divideAboveSeconds(env),
    maxActiveJobs: numberOf(env, 'MAX_ACTIVE_JOBS') ?? 10_000,
    maxStoredUploadBytes: numberOf(env, 'MAX_STORED_UPLOAD_BYTES'),
    maxSourceSeconds: numberOf(env, 'MAX_SOURCE_SECONDS'),
    requestsPerMinute: numberOf(env, 'REQUESTS_PER_MINUTE'),
    retentionDays: {
      ...RETENTION_DAYS,
      uploads: numberOf(env, 'KEEP_UPLOADS_DAYS') ?? RETENTION_DAYS.uploads,
      outputs: numberOf(env, 'KEEP_OUTPUTS_DAYS') ?? RETENTION_DAYS.outputs,
      jobs: numberOf(env, 'KEEP_JOBS_DAYS') ?? RETENTION_DAYS.jobs,
    },
    baseUrl: env.BASE_URL ? env.BASE_URL.replace(/(?<!\/)\/+$/, '') : null,
    trustProxy: variableText(env.TRUST_PROXY) === '1',
    logLevel: isValidVariable('LOG_LEVEL', env.LOG_LEVEL) ? (variableText(env.LOG_LEVEL) as LogLevel) : 'info',
    prices: priceList(variableText(env.USAGE_PRICES)),
    commit: isValidVariable('COMMIT', env.COMMIT) ? variableText(env.COMMIT) : null,
  }
  cache.set(env, made)
  setLogLevel(made.logLevel)
  for (const error of problems) log.error('invalid setting', { error })
  return made
}
