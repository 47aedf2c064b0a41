// In charge of: one private directory per attempt, and removing the directories of dead processes.
// Not in charge of: the files in it.
import { mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, statfs } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TaskError } from '#contract/taskError.ts'
import { grantTraversal, killUserProcesses, type SandboxUser } from './ffmpeg/sandbox.ts'

const PREFIX = 'splicepoint-'
/** Matches the first argument of a command line in /proc, where each argument ends in NUL. */
const FFMPEG = /^[^\0]*ff(mpeg|probe)/

export interface Workspace {
  root: string
  /** ffmpeg's working directory: empty, so that a relative name in a hostile file finds nothing. */
  cwd: string
  /** Where the outputs are written. */
  out: string
  remove(): Promise<void>
  /** Stops what still runs in it and renames it to `kept-<name>-…`, which nothing removes later. Returns the new path. */
  keep(name: string): Promise<string>
}

/**
 * When a process started, in clock ticks since boot. Process ids repeat in a container (often 1); together with this
 * they are unique.
 */
function startedAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may contain spaces: count from after it. Field 22 is
    // starttime.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

function isAlive(pid: number, started: string): boolean {
  const now = startedAt(pid)
  if (now !== null) return now === started
  try {
    process.kill(pid, 0)
    return started === '0' // no /proc on this system: all that is known is that the id is in use
  } catch {
    return false
  }
}

/** `user` is the user that ffmpeg runs as; null = the user of this process. */
export async function openWorkspace(workDir: string, user: SandboxUser | null = null): Promise<Workspace> {
  await mkdir(workDir, { recursive: true })
  // mkdtemp makes the directory with mode 0700.
  const root = await mkdtemp(join(workDir, `${PREFIX}${process.pid}-${startedAt(process.pid) ?? '0'}-`))
  const cwd = join(root, 'cwd')
  const out = join(root, 'out')
  await mkdir(cwd, { mode: 0o700 })
  await mkdir(out, { mode: 0o700 })
  for (const directory of [root, cwd, out]) await grantTraversal(directory, user)
  const remove = async (): Promise<void> => {
    await killUserProcesses(user)
    await rm(root, { recursive: true, force: true, maxRetries: 3 })
  }
  const keep = async (name: string): Promise<string> => {
    await killUserProcesses(user)
    const suffix = root.slice(root.lastIndexOf('-'))
    const kept = join(workDir, `kept-${name.replaceAll(/[^\w-]/g, '_')}${suffix}`)
    await rename(root, kept)
    return kept
  }
  return { root, cwd, out, remove, keep }
}

/**
 * Removes the directories of dead processes and kills an ffmpeg that outlived its process. Returns how many directories
 * were removed.
 */
export async function removeStaleWorkspaces(workDir: string): Promise<number> {
  let removed = 0
  for (const name of await readdir(workDir).catch(() => [] as string[])) {
    const match = /^splicepoint-(\d+)-(\d+)-/.exec(name)
    if (!match || isAlive(Number(match[1]), match[2]!)) continue
    const root = join(workDir, name)
    await killOrphans(root)
    await rm(root, { recursive: true, force: true }).then(
      () => removed++,
      () => undefined, // another user's directory: leave it
    )
  }
  return removed
}

/**
 * Without setpriv, an ffmpeg survives a parent that was killed with SIGKILL. It is recognised by its program name and
 * its working directory, whose name is never used twice; a stored process id could belong to another process by now.
 */
async function killOrphans(root: string): Promise<void> {
  for (const entry of await readdir('/proc').catch(() => [] as string[])) {
    const pid = Number(entry)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    try {
      const cwd = await readlink(`/proc/${pid}/cwd`)
      if (cwd === join(root, 'cwd') && FFMPEG.test(await readFile(`/proc/${pid}/cmdline`, 'utf8')))
        process.kill(pid, 'SIGKILL')
    } catch {
      // gone, or another user's process
    }
  }
}

/** Kept free next to the outputs: for logs, the kernel, the beginning of a second task. */
const RESERVED_BYTES = 64 * 1024 * 1024

/** Rejects a task whose outputs cannot fit before time is spent on encoding. */
export async function requireDiskSpace(directory: string, expectedBytes: number): Promise<void> {
  const disk = await statfs(directory)
  const freeBytes = disk.bavail * disk.bsize
  if (expectedBytes + RESERVED_BYTES <= freeBytes) return
  throw new TaskError('disk_full', 'The outputs would not fit on this transcoder’s disk.', {
    details: { expected_bytes: Math.ceil(expectedBytes), free_bytes: freeBytes },
  })
}
