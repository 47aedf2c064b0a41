// In charge of: how a program is started in its cell: its environment, its limits, what it gives up before its first instruction,
// and which few files it is handed.
// Not in charge of: what this machine permits (sandboxProbe.ts), starting it (run.ts).
import { access, chmod, chown, constants, open, readdir, stat } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'

/** Limits of one process, held by the kernel where `prlimit` exists. 0 = none, but for `fileBytes`, where null is none. */
export interface SandboxLimits {
  addressSpaceBytes: number
  /** What it may have of its own in memory, stacks included (RLIMIT_DATA); the cell's own number where this is 0. */
  memoryBytes: number
  /** The largest file that may be written; 0 = it writes none. */
  fileBytes: number | null
  openFiles: number
  /** Of processor time, over all threads. */
  cpuSeconds: number
}

/** 4 h of processor time: more than any look at a source takes. An encode has a number of its own (plan/estimate/deadline.ts). */
export const defaultLimits: SandboxLimits = {
  addressSpaceBytes: 32 * 2 ** 30,
  memoryBytes: 0,
  fileBytes: null,
  openFiles: 256,
  cpuSeconds: 4 * 3600,
}

/** A user that nobody else is: its files and its processes are those of one transcoder's programs. */
export interface SandboxUser {
  uid: number
  gid: number
}

/** What holds on this machine, found out by sandboxProbe.ts. Paths are absolute, null = not there. */
export interface Sandbox {
  prlimit: string | null
  setpriv: string | null
  /** Flags of setpriv that were tried. */
  privileges: readonly string[]
  /** Programs with their flags that raise the odds of being ended first and lower the priority. */
  humble: readonly string[]
  /** What starts a program without any network; null = not possible. */
  offline: readonly string[] | null
  user: SandboxUser | null
  /** 0 = no limit. */
  memoryBytes: number
  /** Processes and threads of `user` at once. Counted by user, so that without one of its own there is no limit. */
  processes: number
}

/** SIGXCPU first, which ffmpeg answers by ending; this much later SIGKILL. */
const CPU_GRACE_SECONDS = 10
/** A transcoder that is killed outright takes ffmpeg with it: nobody would read its output (prctl(2), PR_SET_PDEATHSIG). */
export const PDEATHSIG_FLAGS = ['--pdeathsig', 'KILL'] as const

/** For programs that run before the machine was looked at. */
export async function minimalSandbox(): Promise<Sandbox> {
  const [setpriv, prlimit] = await Promise.all([findOnPath('setpriv'), findOnPath('prlimit')])
  const none = { humble: [], offline: null, user: null, memoryBytes: 0, processes: 0 }
  return { ...none, setpriv, prlimit, privileges: setpriv === null ? [] : PDEATHSIG_FLAGS }
}

/** `unshare … nice … setpriv … prlimit … program args`: each replaces itself by the next, so the process stays one. Pure. */
export function sandboxedCommand(
  cell: Sandbox,
  program: string,
  args: readonly string[],
  { limits, cwd }: { limits: SandboxLimits; cwd: string },
): [string, ...string[]] {
  const { memoryBytes, cpuSeconds, fileBytes } = limits
  const memory = memoryBytes > 0 ? memoryBytes : cell.memoryBytes
  const flag = (name: string, value: number | null) => (value !== null && value > 0 ? [`--${name}=${value}`] : [])
  // Only the gateway's addresses are http: without one there is nothing to connect to.
  const networked = args.some((arg) => arg.startsWith('http://'))
  const [command = program, ...words] = [
    ...(networked ? [] : (cell.offline ?? [])),
    ...cell.humble,
    ...(cell.setpriv === null || cell.privileges.length === 0 ? [] : [cell.setpriv, ...cell.privileges, '--']),
    ...(cell.prlimit === null
      ? []
      : [
          cell.prlimit,
          // No core files: they would hold the customer's media.
          '--core=0',
          ...flag('as', limits.addressSpaceBytes),
          ...flag('data', memory),
          ...(fileBytes === null ? [] : [`--fsize=${Math.max(0, fileBytes)}`]),
          ...flag('nofile', limits.openFiles),
          ...flag('nproc', cell.user === null ? 0 : cell.processes),
          ...(cpuSeconds > 0 ? [`--cpu=${Math.ceil(cpuSeconds)}:${Math.ceil(cpuSeconds) + CPU_GRACE_SECONDS}`] : []),
          '--',
        ]),
    program,
    // The directories above the attempt's own may be closed to everybody else. The process is started inside, so that what is
    // beside it is reached from there.
    ...(cell.user === null ? args : args.map((arg) => arg.replaceAll(`${dirname(cwd)}/`, '../'))),
  ]
  return [command, ...words]
}

/** A directory that the cell's user may go into, neither list nor change; what is made in it is for that user to read. */
export async function grantTraversal(directory: string, user: SandboxUser | null): Promise<void> {
  if (user === null) return
  await chown(directory, -1, user.gid)
  await chmod(directory, 0o2710)
}

/** Empty files that the cell's user may write: it can make none itself, so neither is a link ever found in their place. */
export async function createOutputFiles(files: readonly string[], user: SandboxUser | null): Promise<void> {
  if (user === null) return
  for (const path of files) {
    const file = await open(path, 'w', 0o660)
    try {
      await file.chown(-1, user.gid)
      await file.chmod(0o660)
    } finally {
      await file.close()
    }
  }
}

/** Ends whatever runs as the cell's user, also what left its process group. */
export async function killUserProcesses(user: SandboxUser | null): Promise<void> {
  if (user === null) return
  for (const pid of await processesOf(user.uid)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended meanwhile.
    }
  }
}

export async function processesOf(uid: number): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [] as string[])
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && pid > 1)
  const owners = await Promise.all(pids.map((pid) => stat(`/proc/${pid}/status`).catch(() => null)))
  return pids.filter((_pid, index) => owners[index]?.uid === uid)
}

/**
 * Nothing of ours: no credentials, no proxies, no LD_PRELOAD. GCONV_PATH names no directory: character set modules would be
 * loaded for a name inside a transport stream, and a statically linked ffprobe crashes on the machine's (every .ts, measured).
 */
export function sandboxEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', LC_ALL: 'C', GCONV_PATH: '/nonexistent' }
}

/** The absolute path of a program on PATH; null where there is none. */
export async function findOnPath(name: string, path: string = process.env['PATH'] ?? ''): Promise<string | null> {
  for (const directory of path.split(delimiter)) {
    if (!directory.startsWith('/')) continue
    const candidate = join(directory, name)
    const usable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (usable) return candidate
  }
  return null
}
