// In charge of: reading the environment, once, into a typed value; how many threads this machine really grants.
// Not in charge of: finding ffmpeg (ffmpeg/locate.ts).
import { readFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'

export interface Settings {
  host: string
  /** 0 = any free port. */
  port: number
  /** Shared secret that /run and /cancel must carry; null = none asked. */
  secret: string | null
  workDir: string
  /** Threads for each codec; 0 = as many as ffmpeg likes, which is right where the machine shows what it grants. */
  threads: number
  version: string
}

export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const port = Number(env['PORT'] ?? '0')
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`PORT must be a number from 0 to 65535, not "${env['PORT']}".`)
  return {
    host: env['HOST'] || '127.0.0.1',
    port,
    secret: env['TRANSCODER_SECRET'] || null,
    workDir: env['WORK_DIR'] || tmpdir(),
    threads: grantedThreads(availableParallelism(), readCpuMax()),
    version: env['SPLICEPOINT_VERSION'] || '0.1.0',
  }
}

/**
 * A container sees the host's cores, not its quota: ffmpeg would start a thread for each and spend its time being throttled.
 * `cpuMax` is the text of cgroup v2's cpu.max: "<quota> <period>" in microseconds, or "max <period>".
 */
export function grantedThreads(cores: number, cpuMax: string | null): number {
  const [quota, period] = (cpuMax ?? '').trim().split(/\s+/).map(Number)
  if (quota === undefined || period === undefined || !(quota > 0) || !(period > 0)) return 0
  const granted = Math.max(1, Math.ceil(quota / period))
  return granted < cores ? granted : 0
}

function readCpuMax(): string | null {
  try {
    return readFileSync('/sys/fs/cgroup/cpu.max', 'utf8')
  } catch {
    return null // cgroup v1, or not Linux
  }
}
