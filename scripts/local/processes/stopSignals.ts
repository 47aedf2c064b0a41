// In charge of: what SIGINT, SIGTERM and SIGHUP do to a program that holds a local service.
// Not in charge of: how the service stops (localService.ts).
import type { LocalService } from '../localService.ts'

/**
 * The first signal stops in order and ends the program with exit code 0 (or `process.exitCode`), the second one at once.
 * `after` runs when the service is down, for example to remove its data.
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
