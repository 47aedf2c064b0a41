// In charge of: what a program that runs a local service does on SIGINT, SIGTERM and SIGHUP, on an unexpected error, and when
// nobody reads its output any more.
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
  // The service continues. Without this, the error would be written to the same stream below, and so on for ever.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`)
    process.exitCode = 1
    stop()
  })
  return { received: () => received }
}
