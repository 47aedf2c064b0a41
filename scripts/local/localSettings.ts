// In charge of: reading the local service's environment variables, once, into a typed value.
// Not in charge of: secrets (localSecrets.ts), the effect of a setting.
import { tmpdir } from 'node:os'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { MIN_TRANSCODER_SECRET } from '#contract/task/registration.ts'
import { isLogLevel, LOG_LEVELS, type LogLevel } from '#contract/logLevels.ts'
import { parseTrustedProxies, type TrustedProxies } from './proxy/clientAddress.ts'
import { variableProblems } from '#contract/serviceVariables.ts'
import type { LogLimits } from './processes/processLog.ts'

/** Root of the source tree, which contains wrangler.toml. */
export const ROOT = resolve(import.meta.dirname, '../..')

/**
 * The user's current directory: npm changes to the package's directory before it runs a script, and stores the previous
 * one here.
 */
export const STARTED_FROM = process.env['INIT_CWD'] ?? process.cwd()

export type Environment = Readonly<Record<string, string | undefined>>

export interface RemoteTranscoders {
  urls: string[]
  /** The TRANSCODER_SECRET of those transcoders. */
  secret: string
  /** The Worker's address as seen by the transcoders; null = the address that it listens on. */
  taskApiUrl: string | null
}

export interface LocalSettings {
  /** The address to listen on. */
  host: string
  /** 0 = any free port. */
  port: number
  /** Absolute path of everything permanent: database, objects, queues, secrets, logs. */
  stateDir: string
  /** Scratch space of the transcoders. */
  workDir: string
  /** 0 only if others register. */
  transcoders: number
  /** Further ones, which take dry runs alone. */
  dryRunTranscoders: number
  /** Transcoders on other machines register themselves with this secret; null = none may. */
  registrationSecret: string | null
  /** Transcoders that were started elsewhere, for example in containers; null = they are started here. */
  remote: RemoteTranscoders | null
  /** A given API key; null = one is generated and stored. */
  apiKey: string | null
  /** host:port pairs, comma-separated, in the Worker's format. */
  allowPrivateHosts: string
  /** Pairs of host:port: requests for the first are sent to the second, over http (egressProxy.ts). */
  connectTo: [from: string, to: string][]
  /** The service's address for clients, without a trailing slash; null = as in each request. */
  baseUrl: string | null
  /** Whose forwarding headers are believed: addresses and networks; 'all' = every peer; empty = nobody's. */
  trustedProxies: TrustedProxies
  /** Settings of the Worker that are set here, by name. */
  workerVariables: Record<string, string>
  /** How long a running attempt may continue when the service stops, if that is enough to finish it. */
  drainSeconds: number
  /** The lines of the logs that are written, of Worker and transcoders. */
  logLevel: LogLevel
  logLimits: LogLimits
  /** Environment variables that every child process gets: paths of programs and language settings only. */
  inherited: Record<string, string>
  /** Environment variables for the transcoders only. */
  engine: Record<string, string>
}

/** Programs, certificates and language; never keys or tokens that happen to be in the environment. */
const INHERITED = [
  ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'],
  ['LD_LIBRARY_PATH', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
].flat()

/** Those that have no meaning of their own for a local service. */
const WORKER_VARIABLES = [
  ['LEASE_SECONDS', 'DIVIDE_ABOVE_SECONDS', 'USAGE_PRICES'],
  ['KEEP_UPLOADS_DAYS', 'KEEP_OUTPUTS_DAYS', 'KEEP_JOBS_DAYS'],
].flat()

/** @throws Error that says which variable is wrong */
export function readSettings(
  env: Environment,
  defaults: { port: number; stateDir: string } = { port: 8787, stateDir: resolve(ROOT, '.wrangler/state') },
): LocalSettings {
  const stateDir = env['STATE_DIR'] ? resolve(STARTED_FROM, env['STATE_DIR']) : defaults.stateDir
  const remote = remoteTranscoders(env)
  const registrationSecret = remote === null ? secretForRegistration(env) : null
  const host = hostAddress(env)
  return {
    host,
    port: whole(env, 'PORT', defaults.port, 0, 65_535),
    stateDir,
    workDir: env['WORK_DIR'] ? resolve(STARTED_FROM, env['WORK_DIR']) : resolve(stateDir, 'work'),
    transcoders: whole(env, 'TRANSCODERS', 1, registrationSecret === null ? 1 : 0, 64),
    dryRunTranscoders: registrationSecret === null ? whole(env, 'DRY_RUN_TRANSCODERS', 1, 0, 64) : 0,
    registrationSecret,
    remote,
    apiKey: apiKey(env),
    allowPrivateHosts: env['ALLOW_PRIVATE_HOSTS'] ?? '',
    connectTo: connectTo(env),
    baseUrl: publicAddress(env),
    trustedProxies: trustedProxies(env, host),
    workerVariables: workerVariables(env),
    drainSeconds: whole(env, 'DRAIN_SECONDS', 5, 0, 86_400),
    logLevel: logLevel(env),
    logLimits: {
      maxBytes: whole(env, 'LOG_MAX_BYTES', 20 * 1024 * 1024, 1000, 1e12),
      files: whole(env, 'LOG_FILES', 5, 1, 100),
    },
    inherited: { TMPDIR: tmpdir(), ...pick(env, INHERITED) },
    engine: pick(env, ['FFMPEG_PATH', 'FFPROBE_PATH', 'MAX_UNSIZED_BYTES', 'ESTIMATE_PRICES', 'KEEP_WORK']),
  }
}

function logLevel(env: Environment): LogLevel {
  const text = env['LOG_LEVEL'] || 'info'
  if (!isLogLevel(text)) throw invalidSetting('LOG_LEVEL', LOG_LEVELS.join(', '), env)
  return text
}

function workerVariables(env: Environment): Record<string, string> {
  const given = pick(env, WORKER_VARIABLES)
  const [problem] = variableProblems(given)
  if (problem !== undefined) throw new Error(`${problem}.`)
  return given
}

/** The dashboard and the shared pages are at the root of the address, so it must not have a path. */
function publicAddress(env: Environment): string | null {
  const text = env['BASE_URL']
  if (!text) return null
  const url = URL.parse(text)
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (!isOrigin) throw invalidSetting('BASE_URL', 'an address without a path, like https://video.example.com', env)
  return url.origin
}

function remoteTranscoders(env: Environment): RemoteTranscoders | null {
  const urls = (env['TRANSCODER_URLS'] ?? '')
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '')
  if (urls.length === 0) return null
  const origin = (text: string, name: string): string => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/')
      throw invalidSetting(name, 'http addresses without a path, like http://127.0.0.1:8788', env)
    return url.origin
  }
  const secret = env['TRANSCODER_SECRET'] ?? ''
  // The secret permits starting work on the transcoder. Generated ones have 43 characters.
  if (secret.length < MIN_TRANSCODER_SECRET)
    throw new Error(
      'TRANSCODER_SECRET must have 32 characters or more, the same as at the transcoders of TRANSCODER_URLS.',
    )
  return {
    urls: urls.map((url) => origin(url, 'TRANSCODER_URLS')),
    secret,
    taskApiUrl: env['TASK_API_URL'] ? origin(env['TASK_API_URL'], 'TASK_API_URL') : null,
  }
}

function secretForRegistration(env: Environment): string | null {
  const secret = env['TRANSCODER_SECRET'] || null
  if (secret !== null && secret.length < MIN_TRANSCODER_SECRET)
    throw new Error(
      `TRANSCODER_SECRET must have ${MIN_TRANSCODER_SECRET} characters or more, the same as at the transcoders that register themselves.`,
    )
  return secret
}

function hostAddress(env: Environment): string {
  const host = (env['HOST'] || '127.0.0.1').replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 0)
    throw invalidSetting('HOST', 'an address of this machine, like 127.0.0.1, 10.0.0.1 or 0.0.0.0', env)
  return host
}

function trustedProxies(env: Environment, host: string): TrustedProxies {
  const isAll = whole(env, 'TRUST_PROXY', 0, 0, 1) === 1
  const named = parseTrustedProxies(env['TRUSTED_PROXIES'] ?? '')
  if (named === null)
    throw invalidSetting(
      'TRUSTED_PROXIES',
      'addresses and networks, like 127.0.0.1,10.0.0.0/24, separated by commas',
      env,
    )
  if (isAll && named.length > 0) throw new Error('Set TRUST_PROXY or TRUSTED_PROXIES, not both.')
  if (isAll && !/^(127\.|::1$)/.test(host))
    throw new Error(
      `TRUST_PROXY=1 believes everyone who reaches ${host}. Name the proxies instead: TRUSTED_PROXIES=10.0.0.2 (docs/operating.md).`,
    )
  return isAll ? 'all' : named
}

function connectTo(env: Environment): [from: string, to: string][] {
  const pairs = (env['CONNECT_TO'] ?? '').split(',').filter((pair) => pair.trim() !== '')
  return pairs.map((pair) => {
    const found = /^([\w.-]+:\d{1,5})=([\w.-]+:\d{1,5})$/.exec(pair.trim().toLowerCase())
    if (!found) throw invalidSetting('CONNECT_TO', 'pairs like s3.example.com:443=127.0.0.1:9000, with commas', env)
    return [found[1]!, found[2]!]
  })
}

function apiKey(env: Environment): string | null {
  const key = env['API_KEY'] || null
  // RFC 7617: the user name of HTTP Basic ends at the first colon. The Worker accepts at most 200 characters.
  if (key !== null && !/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(key))
    throw new Error('API_KEY must be 1 to 200 visible characters without a colon.')
  return key
}

function whole(env: Environment, name: string, fallback: number, least: number, most: number): number {
  const text = env[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalidSetting(name, `a whole number from ${least} to ${most}`, env)
  return value
}

function invalidSetting(name: string, expected: string, env: Environment): Error {
  return new Error(`${name} must be ${expected}, not "${env[name]}".`)
}

function pick(env: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}
