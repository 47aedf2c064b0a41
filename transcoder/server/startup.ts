// In charge of: the checks of this machine before the first run of ffmpeg, made while the transcoder is already
// listening.
// Not in charge of: the checks themselves (ffmpeg/locate.ts, ffmpeg/engineCache.ts, ffmpeg/sandboxProbe.ts,
// workspace.ts).
import { WITHOUT_FIXES } from '#contract/task/registration.ts'
import { probeSandbox, type SandboxReport } from '../ffmpeg/sandboxProbe.ts'
import { locateEngine, type Engine } from '../ffmpeg/locate.ts'
import { readEngineCache } from '../ffmpeg/engineCache.ts'
import type { Log } from '../log.ts'
import { removeStaleWorkspaces } from '../workspace.ts'
import { connect } from 'node:net'

export interface PreparedEngine {
  engine: Engine
  /** The version of ffmpeg, as /health and the diagnosis show it. */
  name: string
  sandbox: SandboxReport
}

/** @throws Error that says why ffmpeg cannot be used, and what to install */
export async function startEngine(
  env: Record<string, string | undefined>,
  workDir: string,
  log: Log,
): Promise<PreparedEngine> {
  const located = await cachedEngine(env, log)
  if (located.isFromNpm === true)
    log.warn("npm's ffmpeg decodes the sources: a build of April 2024, without later security fixes", {
      version: located.version,
      remedy: 'install a newer ffmpeg, or set FFMPEG_PATH and FFPROBE_PATH',
    })
  const name = located.isFromNpm === true ? `${located.version} ${WITHOUT_FIXES}` : located.version
  // Probed on the machine that runs: the machine that built the image says nothing about it.
  const { sandbox, report } = await probeSandbox(located, workDir)
  // Files for the sandbox's user are readable by its group (that user's) and by no one else.
  if (sandbox.user !== null) process.umask(0o027)
  const missing = Object.entries(report.missing).map(([name, why]) => `${name}: ${why}`)
  log.info('sandbox of ffmpeg', { in_force: report.in_force.join(', '), missing: missing.join('; ') })
  const swept = await removeStaleWorkspaces(workDir)
  if (swept > 0) log.warn('directories of earlier processes removed', { count: swept })
  return { engine: { ...located, sandbox }, name, sandbox: report }
}

/**
 * Uses the record in the image about its programs (prewarm.ts). Without a record, or with one of other programs, the
 * programs are run to find out.
 */
async function cachedEngine(env: Record<string, string | undefined>, log: Log): Promise<Engine> {
  const path = env['FFMPEG_RECORD']
  if (!path) return locateEngine(env)
  try {
    return await readEngineCache(path, env)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    log.warn('ffmpeg is probed: its stored record is not valid', { why })
    return locateEngine(env)
  }
}

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
