// In charge of: wiring the transcoder together, and shutting it down in order.
// Not in charge of: any step of the work.
import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import type { RunRequest } from '#contract/task/protocol.ts'
import { ControlServer } from './server/controlServer.ts'
import { HARD_EXIT_MS } from './server/drain.ts'
import { whyUnreachable } from './server/startup.ts'
import { stdoutLog as log } from './log.ts'
import { findOwnAddress } from './registration/ownAddress.ts'
import { Registrar } from './registration/registrar.ts'
import { readSettings } from './settings.ts'

// Media blocks are short-lived: a young generation that does not grow frees them soon (2 GiB through the loopback
// server: 179 MiB resident at the peak instead of 223, at the same speed). V8 reads the limit alone too early for a
// change here.
setFlagsFromString('--max-semi-space-size=2')
setFlagsFromString('--semi-space-growth-factor=1')

// Whoever reads the log may have ended: no attempt is lost for that.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  const settings = readSettings(process.env)
  const { registration } = settings
  const instance = randomBytes(16).toString('base64url')
  let registrar: Registrar | null = null
  const stopped = new AbortController()
  const listening = Promise.withResolvers<void>()
  // Listening needs neither ffmpeg nor the modules that use it: both are prepared afterwards.
  const preparing = listening.promise.then(async () => {
    const { startEngine: prepare } = await import('./server/startup.ts')
    // The checks of the machine run in child processes; the modules that use their results are loaded meanwhile.
    const [prepared] = await Promise.all([prepare(process.env, settings.workDir, log), import('./runTask.ts')])
    return prepared
  })
  const engine = preparing.then((prepared) => prepared.engine)
  engine.catch(() => undefined) // reported below, and by every attempt that waits for it
  // The service may know itself by an address that does not exist on this machine.
  const taskApiOf = (request: RunRequest): string => registration?.serviceUrl ?? request.task_api_url
  const control = new ControlServer({
    ...settings,
    instance,
    engine: preparing.then((prepared) => ({ version: prepared.name, sandbox: prepared.sandbox })),
    log,
    run: async (request, controller, outlook) => {
      const [{ runTask }, { guardAttempt: guard }] = await Promise.all([
        import('./runTask.ts'),
        import('./pipeline/attemptGuard.ts'),
      ])
      await runTask(
        { ...request, task_api_url: taskApiOf(request) },
        { engine, settings, log, controller, outlook, guard },
      )
    },
    whyUnreachable: (request) => whyUnreachable(taskApiOf(request)),
  })

  // Without a handler, Node as process 1 ignores SIGTERM.
  let signals = 0
  const stop = (signal: string): void => {
    signals++
    stopped.abort()
    log.info('stopping', { signal, signals })
    if (signals > 1) control.hurry()
    const lastMs = signals > 1 ? HARD_EXIT_MS : settings.drainSeconds * 1000 + HARD_EXIT_MS
    setTimeout(() => process.exit(1), lastMs).unref()
    // The startup checks remove their own files before the process exits.
    if (signals === 1) {
      const ended = Promise.allSettled([control.stop(settings.drainSeconds), preparing])
      // Before the attempt has ended: no other one is sent here meanwhile.
      registrar?.renew()
      void ended.then(() => registrar?.leave()).then(() => process.exit())
    }
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  const url = await control.listen(
    settings.host ?? (await findOwnAddress(registration?.serviceUrl ?? '', log, stopped.signal)),
  )
  if (registration !== null) {
    const report = () => control.report()
    registrar = new Registrar({ ...registration, listenUrl: url, instance, version: settings.version, log, report })
  }
  const announce = (transcoder: 'listening' | 'ready'): void => {
    // Milliseconds since the process started.
    const line = { transcoder, url, pid: process.pid, after_ms: Math.round(performance.now()) }
    process.stdout.write(`${JSON.stringify(line)}\n`)
  }
  announce('listening')
  listening.resolve()
  await preparing.then(
    () => announce('ready'),
    async (error: unknown) => {
      fail(error)
      await control.close()
    },
  )
  if (process.exitCode === undefined) registrar?.start()
} catch (error) {
  fail(error)
}

function fail(error: unknown): void {
  log.error('the transcoder cannot start', { error: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
