// In charge of: what must be known of this machine before the first ffmpeg runs, found out while the transcoder listens already.
// Not in charge of: how (ffmpeg/locate.ts, ffmpeg/engineCache.ts, ffmpeg/sandboxProbe.ts, workspace.ts).
import { probeSandbox, type SandboxReport } from '../ffmpeg/sandboxProbe.ts'
import { locateEngine, type Engine } from '../ffmpeg/locate.ts'
import { readEngineCache } from '../ffmpeg/engineCache.ts'
import type { Log } from '../log.ts'
import { removeStaleWorkspaces } from '../workspace.ts'

export interface PreparedEngine {
  engine: Engine
  cell: SandboxReport
}

/** @throws Error that says why ffmpeg cannot be used, and what to install */
export async function startEngine(
  env: Record<string, string | undefined>,
  workDir: string,
  log: Log,
): Promise<PreparedEngine> {
  const located = await cachedEngine(env, log)
  // Of the machine that it runs on: what an image was built on says nothing about it.
  const { cell, report } = await probeSandbox(located, workDir)
  // What is written for another user's programs is for them and nobody else to read.
  if (cell.user !== null) process.umask(0o027)
  const missing = Object.entries(report.missing).map(([name, why]) => `${name}: ${why}`)
  log.info('the cell of ffmpeg', { in_force: report.in_force.join(', '), missing: missing.join('; ') })
  const swept = await removeStaleWorkspaces(workDir)
  if (swept > 0) log.warn('left-over directories removed', { count: swept })
  return { engine: { ...located, cell }, cell: report }
}

/** What the image knows of its programs (prewarm.ts); they are asked where there is no record, or one of other programs. */
async function cachedEngine(env: Record<string, string | undefined>, log: Log): Promise<Engine> {
  const path = env['FFMPEG_RECORD']
  if (!path) return locateEngine(env)
  try {
    return await readEngineCache(path, env)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    log.warn('ffmpeg is asked what it can do: the record of it does not hold', { why })
    return locateEngine(env)
  }
}
