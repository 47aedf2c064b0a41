// In charge of: what the test files of one run share: files that are made once (clips, ffmpeg's features), and the
// compiled code of the hundreds of Node processes that they start, which need a third of the processor time with it.
// Not in charge of: what is in them.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The directory of this run; without one (programs that are no tests) nothing is shared. */
const DIRECTORY = 'TEST_SHARED_DIR'

/** vitest's globalSetup: all test files of the run inherit the variable. */
export default async function setup(): Promise<() => Promise<void>> {
  const path = await mkdtemp(join(tmpdir(), 'splicepoint-shared-'))
  process.env[DIRECTORY] = path
  process.env['NODE_COMPILE_CACHE'] = join(path, 'compiled')
  // A process that was just ended may still write its compiled code.
  return () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}

/**
 * The path of a file that depends on nothing but `key`: the first caller makes it, and nobody changes it. Null without
 * a shared directory.
 */
export async function sharedFile(
  key: unknown,
  extension: string,
  make: (path: string) => Promise<unknown>,
): Promise<string | null> {
  const directory = process.env[DIRECTORY]
  if (directory === undefined) return null
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 24)
  const path = join(directory, `${name}.${extension}`)
  if (existsSync(path)) return path
  const unfinished = join(directory, `${name}-${crypto.randomUUID()}.${extension}`)
  await make(unfinished)
  await rename(unfinished, path)
  return path
}
