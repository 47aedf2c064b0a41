// In charge of: one run of a hand-written command (baseline/) on the local disk.
// Not in charge of: comparing the service with it (comparison.ts).
import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../scripts/local/localSettings.ts'
import type { Engine } from '../transcoder/ffmpeg/locate.ts'
import { stopwatch, type ResourceUsage } from './stopwatch.ts'

const run = promisify(execFile)

export async function runPlainCommand(
  engine: Engine,
  script: string,
  source: string,
  directory: string,
): Promise<ResourceUsage> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory)
  const read = stopwatch()
  await run('sh', [join(ROOT, 'bench', 'baseline', script), source, directory], {
    env: { ...process.env, FFMPEG: engine.ffmpeg },
  })
  return read()
}
