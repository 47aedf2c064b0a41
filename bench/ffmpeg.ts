// In charge of: running ffmpeg to create and inspect benchmark material.
// Not in charge of: the service's ffmpeg, the baseline commands (baseline/).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { execFile } from 'node:child_process'
import { mkdir, rename, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** @returns standard error. @throws Error with its last lines */
export async function ffmpeg(program: string, args: readonly string[]): Promise<string> {
  const command = ['-nostdin', '-hide_banner', '-nostats', '-y', ...args]
  try {
    return (await run(program, command, { maxBuffer: 64 * 1024 * 1024 })).stderr
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw new Error(`ffmpeg failed: ${stderr.trim().split('\n').slice(-8).join('\n')}`, { cause: error })
  }
}

/** Number of frames in the only video stream of a file. */
export async function countFrames(ffprobe: string, path: string): Promise<number> {
  const { stdout } = await run(ffprobe, [
    ...['-v', 'error', '-select_streams', 'v:0', '-count_packets'],
    ...['-show_entries', 'stream=nb_read_packets', '-of', 'csv=p=0', `file:${path}`],
  ])
  return Number(stdout.trim())
}

/** The colour matrix in the tags of a file's video; bt709 without a tag. */
export async function colorMatrix(ffprobe: string, path: string): Promise<string> {
  const show = ['-select_streams', 'v:0', '-show_entries', 'stream=color_space', '-of', 'csv=p=0']
  const { stdout } = await run(ffprobe, ['-v', 'error', ...show, `file:${path}`])
  const name = stdout.trim()
  return name === '' || name === 'unknown' ? 'bt709' : name
}

/** Creates a file once and keeps it for later benchmarks. An incomplete file is never used. */
export async function cached(name: string, make: (path: string) => Promise<unknown>): Promise<string> {
  const path = join(tmpdir(), 'splicepoint-bench', name)
  if (await stat(path).catch(() => null)) return path
  await mkdir(dirname(path), { recursive: true })
  const draft = join(dirname(path), `${process.pid}-${name}`)
  await make(draft)
  await rename(draft, path)
  return path
}
