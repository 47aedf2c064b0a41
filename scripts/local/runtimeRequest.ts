// In charge of: one request to the runtime itself, past the front door: whether it answers, and its cron.
// Not in charge of: when (processes/workerProbe.ts, workerProcess.ts).
import { get } from 'node:http'

/** Resolves with the status when the answer was read. */
export function requestRuntime(socketPath: string, path: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path, headers: { host: 'localhost' }, agent: false, signal }, (answer) => {
      answer.resume()
      answer.once('error', reject)
      answer.once('end', () => resolve(answer.statusCode ?? 0))
    }).once('error', reject)
  })
}
