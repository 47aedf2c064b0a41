// In charge of: asking the Docker engine of this machine.
// Not in charge of: what is built or run.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** What a build says. */
const MAX_OUTPUT = 64 * 1024 * 1024

/** @returns standard output without the end of its last line; rejects with what docker said */
export async function docker(...args: string[]): Promise<string> {
  const { stdout } = await run('docker', args, { maxBuffer: MAX_OUTPUT })
  return stdout.trim()
}

/** The engine's version; null where none answers, or where there is no client. */
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
