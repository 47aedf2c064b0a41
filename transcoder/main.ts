// In charge of: wiring the transcoder together, and ending it properly.
// Not in charge of: anything else.
import { setFlagsFromString } from 'node:v8'
import { ControlServer } from './server/controlServer.ts'
import { stdoutLog as log } from './log.ts'
import { readSettings } from './settings.ts'

// Chunks of media die young: a young generation that does not grow frees them soon (2 GiB through the gateway: 179 MiB resident
// at the peak instead of 223, as fast). The limit alone is read too early to be changed here.
setFlagsFromString('--max-semi-space-size=2')
setFlagsFromString('--semi-space-growth-factor=1')

/**
 * From giving an attempt back to being gone: the end of ffmpeg and the last words to the Worker. DRAIN_SECONDS and this are
 * less than the platform grants between SIGTERM and SIGKILL; what is not told by then will be found by its lease.
 */
const HARD_EXIT_MS = 25_000

try {
  const settings = readSettings(process.env)
  const listening = Promise.withResolvers<void>()
  // Neither ffmpeg nor the modules that work with it are needed to listen: both are looked at afterwards.
  const preparing = listening.promise.then(async () => {
    const { startEngine: prepare } = await import('./server/startup.ts')
    // The machine is asked by programs of their own: meanwhile there is time to read what works with the answers.
    const [prepared] = await Promise.all([prepare(process.env, settings.workDir, log), import('./pipeline/runTask.ts')])
    return prepared
  })
  const engine = preparing.then((prepared) => prepared.engine)
  engine.catch(() => undefined) // told below, and by every attempt that waits for it
  const control = new ControlServer({
    ...settings,
    engine: preparing.then((prepared) => ({ version: prepared.engine.version, cell: prepared.cell })),
    log,
    run: async (request, halt, outlook) => {
      const { runTask } = await import('./pipeline/runTask.ts')
      await runTask(request, { engine, settings, log, halt, outlook })
    },
  })

  // Without a handler, Node as process 1 ignores SIGTERM.
  let signals = 0
  const stop = (signal: string): void => {
    signals++
    log.info('stopping', { signal, signals })
    if (signals > 1) control.hurry()
    const lastMs = signals > 1 ? HARD_EXIT_MS : settings.drainSeconds * 1000 + HARD_EXIT_MS
    setTimeout(() => process.exit(1), lastMs).unref()
    // What looks at the machine tidies up behind itself.
    if (signals === 1)
      void Promise.allSettled([control.stop(settings.drainSeconds), preparing]).then(() => process.exit())
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  const url = await control.listen()
  const say = (transcoder: 'listening' | 'ready'): void => {
    // Since the start of the process.
    const line = { transcoder, url, pid: process.pid, after_ms: Math.round(performance.now()) }
    process.stdout.write(`${JSON.stringify(line)}\n`)
  }
  say('listening')
  listening.resolve()
  await preparing.then(
    () => say('ready'),
    async (error: unknown) => {
      fail(error)
      await control.close()
    },
  )
} catch (error) {
  fail(error)
}

function fail(error: unknown): void {
  log.error('the transcoder cannot start', { error: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
