// In charge of: running the docker command.
// Not in charge of: what is built or run.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Limit for the output of a build. */
const MAX_OUTPUT = 64 * 1024 * 1024

/** @returns standard output without the final line break; rejects with docker's message */
export async function docker(...args: string[]): Promise<string> {
  const { stdout } = await run('docker', args, { maxBuffer: MAX_OUTPUT })
  return stdout.trim()
}

/** The version of the Docker engine; null if there is no engine or no client. */
export async function engineVersion(): Promise<string | null> {
  return run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )
}

export function succeeds(...args: string[]): Promise<boolean> {
  return docker(...args).then(
    () => true,
    () => false,
  )
}
