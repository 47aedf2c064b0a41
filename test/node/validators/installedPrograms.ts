// In charge of: the paths of the validators' programs, and the message that says how to install a missing one.
// Not in charge of: installing them (test/validators/install.sh).
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ROOT } from '../../support/service.ts'

export const VALIDATORS_DIR = join(ROOT, 'test/validators')
export const PYTHON = join(VALIDATORS_DIR, 'python/bin/python')
/** The Python for which Debian's packages are installed. */
export const SYSTEM_PYTHON = '/usr/bin/python3'
export const goProgram = (name: string): string => join(VALIDATORS_DIR, 'bin', name)
export const scriptPath = (name: string): string => join(VALIDATORS_DIR, name)

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Null if all exist: programs by path or name, other files by path. */
export function missingPrograms(...wanted: readonly string[]): string | null {
  const absent = wanted.filter((one) => {
    if (one.includes('/')) return !existsSync(one)
    return !(process.env['PATH'] ?? '').split(delimiter).some((directory) => isProgram(join(directory, one)))
  })
  if (absent.length === 0) return null
  const names = absent.map((one) => one.replace(`${ROOT}/`, '')).join(', ')
  return `not installed: ${names}; run test/validators/install.sh as root on Debian`
}
