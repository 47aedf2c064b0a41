// In charge of: running a program to its end and collecting what it prints.
// Not in charge of: programs that a test watches while they run.
import { execFile, type ExecFileOptions } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../../scripts/local/localSettings.ts'
import { JOB_TIMEOUT_MS } from './timeouts.ts'

export interface ProgramResult {
  /** null: it was ended by a signal, or could not be started. */
  code: number | null
  stdout: string
  stderr: string
}

interface RunOptions extends Pick<ExecFileOptions, 'cwd' | 'uid' | 'gid'> {
  /** In addition to the variables of this process. */
  env?: NodeJS.ProcessEnv
  /** For its standard input. */
  input?: Buffer | string
}

/** Whatever the exit code. The program is killed after a generous time limit. */
export function runProgram(program: string, args: readonly string[], options: RunOptions = {}): Promise<ProgramResult> {
  const { input, env, ...rest } = options
  return new Promise((done) => {
    const given = { maxBuffer: 256 << 20, timeout: JOB_TIMEOUT_MS, env: { ...process.env, ...env }, ...rest }
    const child = execFile(program, [...args], given, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null
      done({ code, stdout, stderr: error !== null && code === null ? `${stderr}${error.message}\n` : stderr })
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

/**
 * Runs a script in bash; another exit code than 0 is an error. Without --norc, bash reads its rc files where standard
 * input is a socket, as Node's is, and what they print is added to the script's output.
 */
export async function runBash(script: string, options: RunOptions = {}): Promise<ProgramResult> {
  const result = await runProgram('bash', ['--norc', '-euc', script], options)
  if (result.code !== 0) throw new Error(`exit code ${result.code} of:\n${script}\n${result.stdout}${result.stderr}`)
  return result
}

/** The command of this checkout. */
export const SPLICEPOINT = join(ROOT, 'cli/splicepoint.js')
