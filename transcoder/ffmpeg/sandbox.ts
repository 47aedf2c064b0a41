// In charge of: how a program is started in its sandbox: its environment, its limits, the privileges that it drops
// before its first instruction, and the few files that it may write.
// Not in charge of: what this machine supports (sandboxProbe.ts), starting the program (run.ts).
import { access, chmod, chown, constants, open, readdir, stat } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'

/**
 * Limits of one process, enforced by the kernel if `prlimit` exists. 0 = none, except for `fileBytes`, where null is
 * none.
 */
export interface SandboxLimits {
  addressSpaceBytes: number
  /** Private memory, stacks included (RLIMIT_DATA); 0 = the sandbox's own limit. */
  memoryBytes: number
  /** The largest file that may be written; 0 = it writes no file. */
  fileBytes: number | null
  openFiles: number
  /** Processor time, over all threads. */
  cpuSeconds: number
}

/**
 * 4 h of processor time: more than any inspection of a source takes. An encode has a limit of its own
 * (plan/estimate/deadline.ts).
 */
export const defaultLimits: SandboxLimits = {
  addressSpaceBytes: 32 * 2 ** 30,
  memoryBytes: 0,
  fileBytes: null,
  openFiles: 256,
  cpuSeconds: 4 * 3600,
}

/** A user that is used for nothing else: its files and its processes belong to the programs of one transcoder. */
export interface SandboxUser {
  uid: number
  gid: number
}

/** The measures that work on this machine, found out by sandboxProbe.ts. Paths are absolute, null = not installed. */
export interface Sandbox {
  prlimit: string | null
  setpriv: string | null
  /** Flags of setpriv that were found to work. */
  privileges: readonly string[]
  /** Programs with flags that lower the priority and let the kernel end the process first if memory runs out. */
  niceCommand: readonly string[]
  /** The command that starts a program without any network; null = not possible. */
  noNetworkCommand: readonly string[] | null
  /** The command that starts a program with empty directories of its own where anyone may write; null = not possible. */
  ownTempCommand: readonly string[] | null
  user: SandboxUser | null
  /** 0 = no limit. */
  memoryBytes: number
  /** Processes and threads of `user` at once. They are counted by user: without a user of its own there is no limit. */
  maxProcesses: number
}

/** SIGXCPU is sent first, on which ffmpeg ends; SIGKILL this much later. */
const CPU_GRACE_SECONDS = 10
/** If the transcoder is killed, so is ffmpeg: no one would read its output (prctl(2), PR_SET_PDEATHSIG). */
export const PDEATHSIG_FLAGS = ['--pdeathsig', 'KILL'] as const

const OWN_TEMP_BYTES = '16m'
/** All directories of Debian in which every user may create files. What is in them, and shared memory, ends with the run. */
const SHARED_DIRECTORIES = '/tmp /var/tmp /dev/shm /dev/mqueue /run/lock'

/**
 * Mounts an empty file system over each of them, in a namespace of the run. Only root may do that. The directory of the
 * attempt may be below one of them: the program starts in it, and reaches it by relative paths.
 */
export function ownTempCommand(unshare: string, mount: string): string[] {
  const options = `size=${OWN_TEMP_BYTES},mode=1777,nosuid,nodev,noexec`
  const script = [
    // Never in the transcoder's own namespace, whatever `unshare` did.
    'if [ /proc/self/ns/mnt -ef /proc/$PPID/ns/mnt ]; then exit 1; fi',
    `for at in ${SHARED_DIRECTORIES}; do [ ! -d $at ] || ${mount} -t tmpfs -o ${options} tmpfs $at || exit 1; done`,
    'exec "$@"',
  ].join('; ')
  return [unshare, '--mount', '--ipc', '--', '/bin/sh', '-c', script, 'sh']
}

/** For programs that run before the machine was probed. */
export async function minimalSandbox(): Promise<Sandbox> {
  const [setpriv, prlimit] = await Promise.all([findOnPath('setpriv'), findOnPath('prlimit')])
  const commands = { niceCommand: [], noNetworkCommand: null, ownTempCommand: null }
  const none = { ...commands, user: null, memoryBytes: 0, maxProcesses: 0 }
  return { ...none, setpriv, prlimit, privileges: setpriv === null ? [] : PDEATHSIG_FLAGS }
}

/**
 * `unshare … unshare … sh … nice … setpriv … prlimit … program args`: each replaces itself with the next, so it remains
 * one process. Pure.
 */
export function sandboxedCommand(
  sandbox: Sandbox,
  program: string,
  args: readonly string[],
  { limits, cwd }: { limits: SandboxLimits; cwd: string },
): [string, ...string[]] {
  const { memoryBytes, cpuSeconds, fileBytes } = limits
  const memory = memoryBytes > 0 ? memoryBytes : sandbox.memoryBytes
  const flag = (name: string, value: number | null) => (value !== null && value > 0 ? [`--${name}=${value}`] : [])
  // Only addresses of the loopback server are http: without one there is nothing to connect to.
  const networked = args.some((arg) => arg.startsWith('http://'))
  const [command = program, ...rest] = [
    ...(networked ? [] : (sandbox.noNetworkCommand ?? [])),
    ...(sandbox.ownTempCommand ?? []),
    ...sandbox.niceCommand,
    ...(sandbox.setpriv === null || sandbox.privileges.length === 0
      ? []
      : [sandbox.setpriv, ...sandbox.privileges, '--']),
    ...(sandbox.prlimit === null
      ? []
      : [
          sandbox.prlimit,
          // No core files: they would contain the customer's media.
          '--core=0',
          ...flag('as', limits.addressSpaceBytes),
          ...flag('data', memory),
          ...(fileBytes === null ? [] : [`--fsize=${Math.max(0, fileBytes)}`]),
          ...flag('nofile', limits.openFiles),
          ...flag('nproc', sandbox.user === null ? 0 : sandbox.maxProcesses),
          ...(cpuSeconds > 0 ? [`--cpu=${Math.ceil(cpuSeconds)}:${Math.ceil(cpuSeconds) + CPU_GRACE_SECONDS}`] : []),
          '--',
        ]),
    program,
    // The directories above the attempt's own may be closed to other users. The process starts inside, and reaches the
    // neighbouring files by a relative path.
    ...(sandbox.user === null ? args : args.map((arg) => arg.replaceAll(`${dirname(cwd)}/`, '../'))),
  ]
  return [command, ...rest]
}

/**
 * Lets the sandbox's user enter a directory, but neither list nor change it; files created in it are readable by that
 * user's group.
 */
export async function grantTraversal(directory: string, user: SandboxUser | null): Promise<void> {
  if (user === null) return
  await chown(directory, -1, user.gid)
  await chmod(directory, 0o2710)
}

/**
 * Creates empty files that the sandbox's user may write. It cannot create any itself, and so cannot put links in their
 * place.
 */
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

/** Kills all processes of the sandbox's user, including those that left their process group. */
export async function killUserProcesses(user: SandboxUser | null): Promise<void> {
  if (user === null) return
  for (const pid of await processesOf(user.uid)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended in the meantime.
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
 * The environment contains nothing of the transcoder's: no credentials, no proxies, no LD_PRELOAD. GCONV_PATH names no
 * directory: a name in a transport stream would otherwise load character set modules, and a statically linked ffprobe
 * crashes on those of the machine (every .ts, measured).
 */
export function sandboxEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', LC_ALL: 'C', GCONV_PATH: '/nonexistent' }
}

/** The absolute path of a program on PATH; null if there is none. */
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
