// In charge of: handling SIGINT, SIGTERM and SIGHUP in a program that runs a local service.
// Not in charge of: stopping the service (localService.ts).
import type { LocalService } from '../localService.ts'

/**
 * The first signal stops the service in order and ends the program with exit code 0 (or `process.exitCode`). The second
 * one ends it at once. `after` runs when the service has stopped, for example to remove its data.
 */
export function stopOnSignals(
  local: LocalService,
  after: () => Promise<void> = () => Promise.resolve(),
): { received: () => boolean } {
  let received = false
  const stop = (): void => {
    if (received) {
      local.kill()
      return
    }
    received = true
    void local
      .stop()
      .then(after)
      .then(
        () => process.exit(),
        () => process.exit(1),
      )
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`)
    process.exitCode = 1
    stop()
  })
  return { received: () => received }
}
