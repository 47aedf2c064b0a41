// In charge of: reading the environment, once, into a typed value; how many threads this machine really grants.
// Not in charge of: finding ffmpeg (ffmpeg/locate.ts).
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { MIN_TRANSCODER_SECRET, TRANSCODER_ID, transcoderOrigin } from '#contract/task/registration.ts'
import { isLogLevel, LOG_LEVELS } from '#contract/logLevels.ts'
import type { Pricing } from './plan/estimate/costModel.ts'
import { listMachine, listPrices } from './plan/estimate/costConstants.ts'

export interface Settings {
  /** null = the address of the route to the service (registration/ownAddress.ts). */
  host: string | null
  /** 0 = any free port. */
  port: number
  /** Shared secret that requests to /run and /cancel must carry; null = none required. */
  secret: string | null
  /** null = the service knows this transcoder by its address (TRANSCODER_URLS), or is its parent process. */
  registration: RegistrationSettings | null
  workDir: string
  /**
   * Threads for each codec; 0 = ffmpeg decides, which is right if the machine reports its real number of processors.
   */
  threads: number
  /** The most bytes that are read of a source without a stated length. */
  maxUnknownSizeBytes: number
  /** How long an attempt may continue after SIGTERM if that is enough to finish it (server/drain.ts). */
  drainSeconds: number
  /** The workspace of an attempt that did not succeed stays on disk, for debugging. */
  keepWork: boolean
  version: string
  /** The resources of this machine; estimates and deadlines are computed with them. */
  machine: Pricing['machine']
  /** US dollars; estimates are computed with them. */
  prices: Pricing['prices']
}

/** For a transcoder that registers itself at a service. */
export interface RegistrationSettings {
  /** Origin of the service as seen from here; the task API is below it. */
  serviceUrl: string
  secret: string
  /** null = host name and port. */
  id: string | null
  /** Where the service reaches this transcoder; null = where it listens. */
  advertiseUrl: string | null
}

/** As large as the disk of the largest container. */
const MAX_UNKNOWN_SIZE_BYTES = 20e9
/** For a start from a terminal, where a person waits; the image sets a longer time. */
const DRAIN_SECONDS = 5

export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const port = Number(env['PORT'] ?? '0')
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`PORT must be a number from 0 to 65535, not "${env['PORT']}".`)
  const maxUnknownSizeBytes = Number(env['MAX_UNSIZED_BYTES'] || MAX_UNKNOWN_SIZE_BYTES)
  if (!Number.isSafeInteger(maxUnknownSizeBytes) || maxUnknownSizeBytes < 1)
    throw new Error(`MAX_UNSIZED_BYTES must be a whole number of bytes, not "${env['MAX_UNSIZED_BYTES']}".`)
  const drainSeconds = Number(env['DRAIN_SECONDS'] || DRAIN_SECONDS)
  if (!(drainSeconds >= 0 && drainSeconds <= 86_400))
    throw new Error(`DRAIN_SECONDS must be a number from 0 to 86400, not "${env['DRAIN_SECONDS']}".`)
  if (!isLogLevel(env['LOG_LEVEL'] || 'info'))
    throw new Error(`LOG_LEVEL must be ${LOG_LEVELS.join(', ')}, not "${env['LOG_LEVEL']}".`)
  const keepWork = env['KEEP_WORK'] || '0'
  if (keepWork !== '0' && keepWork !== '1') throw new Error(`KEEP_WORK must be 0 or 1, not "${keepWork}".`)
  // Node's own number respects the CPU quota on some systems, ffmpeg's never does: the lower of the two counts.
  const threads = Math.min(availableThreads(cpus().length, readCpuMax()), availableParallelism())
  const registration = readRegistration(env)
  return {
    host: env['HOST'] || (registration === null ? '127.0.0.1' : null),
    port,
    secret: env['TRANSCODER_SECRET'] || null,
    registration,
    workDir: env['WORK_DIR'] || tmpdir(),
    threads,
    maxUnknownSizeBytes,
    drainSeconds,
    keepWork: keepWork === '1',
    version: env['SPLICEPOINT_VERSION'] || readOwnVersion(),
    ...readPricing(env['ESTIMATE_PRICES'], threads === 0 ? availableParallelism() : threads),
  }
}

function readRegistration(env: Readonly<Record<string, string | undefined>>): RegistrationSettings | null {
  const origin = (name: string, example: string): string | null => {
    const text = env[name]
    if (!text) return null
    const found = transcoderOrigin(text)
    if (found === null) throw new Error(`${name} must be an address without a path, like ${example}, not "${text}".`)
    return found
  }
  const advertiseUrl = origin('TRANSCODER_ADVERTISE_URL', 'http://10.0.0.5:8788')
  const serviceUrl = origin('SERVICE_URL', 'https://video.example.com')
  const id = env['TRANSCODER_ID'] || null
  if (id !== null && !TRANSCODER_ID.test(id))
    throw new Error(
      `TRANSCODER_ID must have 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or a digit, not "${id}".`,
    )
  if (serviceUrl === null) {
    const alone = [advertiseUrl && 'TRANSCODER_ADVERTISE_URL', id && 'TRANSCODER_ID'].find((name) => name !== null)
    if (alone)
      throw new Error(`${alone} needs SERVICE_URL: the address of the service where this transcoder registers.`)
    return null
  }
  const secret = env['TRANSCODER_SECRET'] ?? ''
  if (secret.length < MIN_TRANSCODER_SECRET)
    throw new Error(
      `TRANSCODER_SECRET must have ${MIN_TRANSCODER_SECRET} characters or more, the same as at the service of SERVICE_URL.`,
    )
  return { serviceUrl, secret, id, advertiseUrl }
}

/** The image and a checkout both have package.json beside the transcoder's directory. */
function readOwnVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/**
 * `text` is a JSON object with any of `vcpu_second`, `memory_gib_second`, `disk_gb_second`, `store_writes_per_million`
 * (US dollars) and `memory_gib`, `disk_gb` (of this machine). Missing members have the values of Cloudflare's price
 * list.
 * Throws for anything else: an estimate with an unintended price would be worse than none.
 */
export function readPricing(text: string | undefined, vcpus: number): Pricing {
  const all: Record<string, number> = { ...listPrices, ...listMachine }
  const given: unknown = text ? JSON.parse(text) : {}
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Error('ESTIMATE_PRICES must be a JSON object.')
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(all, name) || typeof value !== 'number' || !(value >= 0))
      throw new Error(`ESTIMATE_PRICES: ${name} must be one of ${Object.keys(all).join(', ')}, and a number from 0.`)
    all[name] = value
  }
  const { memory_gib = 0, disk_gb = 0, ...prices } = all
  return { machine: { vcpus, memory_gib, disk_gb }, prices: { ...listPrices, ...prices } }
}

/**
 * A container sees all cores of the host, not its quota: ffmpeg would start a thread for each and be throttled most of
 * the time.
 * `cpuMax` is the text of cgroup v2's cpu.max: "<quota> <period>" in microseconds, or "max <period>".
 */
export function availableThreads(cores: number, cpuMax: string | null): number {
  const [quota, period] = (cpuMax ?? '').trim().split(/\s+/).map(Number)
  if (quota === undefined || period === undefined || !(quota > 0) || !(period > 0)) return 0
  const granted = Math.max(1, Math.ceil(quota / period))
  return granted < cores ? granted : 0
}

/** Returns the format of cgroup v2. cgroup v1 has the same values in two files, with -1 for no limit. */
function readCpuMax(): string | null {
  const read = (path: string): string => readFileSync(`/sys/fs/cgroup/${path}`, 'utf8')
  try {
    return read('cpu.max')
  } catch {
    try {
      return `${read('cpu/cpu.cfs_quota_us').trim()} ${read('cpu/cpu.cfs_period_us')}`
    } catch {
      return null // not Linux
    }
  }
}
