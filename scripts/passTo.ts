// In charge of: continuing as another program of the repository: its input, output and exit code are this process's.
// Not in charge of: which (long.ts, build.ts).
import { spawn } from 'node:child_process'
import { ROOT } from './local/localSettings.ts'

/** @param env defaults: the environment of the caller wins */
export function passTo(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...env, ...process.env } })
  // A terminal sends Ctrl-C to both processes.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('close', (code) => (process.exitCode = code ?? 1))
}
