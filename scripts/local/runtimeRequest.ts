// In charge of: one request directly to the runtime, without the reverse proxy: a health probe, or its cron.
// Not in charge of: when it is sent (processes/workerProbe.ts, workerProcess.ts).
import { get } from 'node:http'

/** Resolves with the status after the answer was read. */
export function requestRuntime(socketPath: string, path: string, signal?: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path, headers: { host: 'localhost' }, agent: false, ...(signal && { signal }) }, (answer) => {
      answer.resume()
      answer.once('error', reject)
      answer.once('end', () => resolve(answer.statusCode ?? 0))
    }).once('error', reject)
  })
}
