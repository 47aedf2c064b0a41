// In charge of: wiring the transcoder together, and ending it properly.
// Not in charge of: anything else.
import { setFlagsFromString } from 'node:v8'
import { Control } from './control.ts'
import { openCell } from './ffmpeg/isolation.ts'
import { locateEngine } from './ffmpeg/locate.ts'
import { stdoutLog as log } from './log.ts'
import { runTask } from './run.ts'
import { readSettings } from './settings.ts'
import { sweepWorkspaces } from './workspace.ts'

// Chunks of media die young: a young generation that does not grow frees them soon (2 GiB through the gateway: 179 MiB resident
// at the peak instead of 223, as fast). The limit alone is read too early to be changed here.
setFlagsFromString('--max-semi-space-size=2')
setFlagsFromString('--semi-space-growth-factor=1')

/** A platform sends SIGKILL some time after SIGTERM; a run that cannot be given back in this time will be found by its lease. */
const HARD_EXIT_MS = 25_000

try {
  const settings = readSettings(process.env)
  const located = await locateEngine(process.env)
  const { cell, report } = await openCell(located, settings.workDir)
  const engine = { ...located, cell }
  // What is written for another user's programs is for them and nobody else to read.
  if (cell.user !== null) process.umask(0o027)
  const missing = Object.entries(report.missing).map(([name, why]) => `${name}: ${why}`)
  log.info('the cell of ffmpeg', { in_force: report.in_force.join(', '), missing: missing.join('; ') })
  const swept = await sweepWorkspaces(settings.workDir)
  if (swept > 0) log.warn('left-over directories removed', { count: swept })

  const control = new Control({
    ...settings,
    ffmpegVersion: engine.version,
    cell: report,
    log,
    run: (request, halt, ending) => runTask(request, { engine, settings, log, halt, ending }),
  })

  // Without a handler, Node as process 1 ignores SIGTERM.
  let stopping = false
  const stop = (signal: string): void => {
    if (stopping) return
    stopping = true
    log.info('stopping', { signal })
    setTimeout(() => process.exit(1), HARD_EXIT_MS).unref()
    void control.stop().then(() => process.exit(0))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  const url = await control.listen()
  process.stdout.write(`${JSON.stringify({ transcoder: 'ready', url, pid: process.pid })}\n`)
} catch (error) {
  log.error('the transcoder cannot start', { error: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
