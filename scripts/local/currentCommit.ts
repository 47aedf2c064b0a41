// In charge of: the commit of the source tree, for /health and /metrics.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './localSettings.ts'

/** 12 digits; empty for a copy without git. */
export async function currentCommit(): Promise<string> {
  if (!existsSync(join(ROOT, '.git'))) return ''
  try {
    const { stdout } = await promisify(execFile)('git', ['-C', ROOT, 'rev-parse', '--short=12', 'HEAD'])
    return stdout.trim()
  } catch {
    return ''
  }
}
