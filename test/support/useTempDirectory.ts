// In charge of: one temporary directory for all tests of a file.
// Not in charge of: what tests put into it.
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

export interface TempDirectory {
  path: string
  file: (name: string) => string
}

/** Called at the top of a file or a `describe`; the directory is there at once, and removed after its last test. */
export function useTempDirectory(): TempDirectory {
  const path = mkdtempSync(join(tmpdir(), 'splicepoint-'))
  afterAll(() => rm(path, { recursive: true, force: true }))
  return { path, file: (name) => join(path, name) }
}
