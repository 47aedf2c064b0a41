// In charge of: finding out, once, when the process starts, which measures of the sandbox work on this machine, by
// trying them; and reporting which work and why the others do not.
// Not in charge of: the measures themselves (sandbox.ts).
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import {
  grantTraversal,
  minimalSandbox,
  ownTempCommand,
  PDEATHSIG_FLAGS,
  createOutputFiles,
  findOnPath,
  processesOf,
  type Sandbox,
  type SandboxUser,
} from './sandbox.ts'
import { BRIEF_RUN, FfprobeError, runFfprobe, type FfmpegPrograms } from './run.ts'

/**
 * The measures that work, and the reason for each that does not. The names are stable: they are in the log and in
 * /health.
 */
export interface SandboxReport {
  in_force: string[]
  missing: Record<string, string>
}

/** systemd's range for users that are created for one service: no account is in it. */
const FIRST_UID = 61_184
const UIDS = 4096
/**
 * Added to the score by which the kernel chooses what to end when memory runs out (−1000 to 1000): ffmpeg is ended
 * first, and the transcoder reports it.
 */
const OOM_SCORE = '500'
const NICE = '5'
const MEMORY_SHARE = 0.8
const MIN_MEMORY_BYTES = 2 * 2 ** 30
const MIN_PROCESSES = 1024
const PROCESSES_PER_CORE = 64

/**
 * Tries each measure in a directory of `workDir`; those that do not work are left out, so that they never fail a job.
 */
export async function probeSandbox(
  programs: FfmpegPrograms,
  workDir: string,
): Promise<{ sandbox: Sandbox; report: SandboxReport }> {
  await mkdir(workDir, { recursive: true })
  const root = await mkdtemp(join(workDir, 'splicepoint-cell-'))
  const cwd = join(root, 'cwd')
  await mkdir(cwd, { mode: 0o700 })
  const report: SandboxReport = { in_force: ['process_group', 'environment'], missing: {} }
  const probe = async (names: string[], sandbox: Sandbox, script = 'exit 0'): Promise<boolean> => {
    try {
      await runFfprobe({ ...programs, ffprobe: '/bin/sh', sandbox }, ['-c', script, 'sh'], {
        cwd,
        ...BRIEF_RUN,
      })
    } catch (error) {
      for (const name of names) report.missing[name] = reason(error)
      return false
    }
    report.in_force.push(...names)
    return true
  }
  try {
    const plain: Sandbox = { ...(await minimalSandbox()), prlimit: null, privileges: [] }
    const sandbox: Sandbox = { ...plain, memoryBytes: memoryLimit(), maxProcesses: 0 }
    // Each is tried alone and all at the same time: one that fails must not affect the others, and the start must not
    // take a second.
    await Promise.all([
      probeLimits(sandbox, probe, report),
      probePrivileges(sandbox, probe, report),
      probeUser(sandbox, programs, root, probe, report).then((user) => (sandbox.user = user)),
      probeNetwork(sandbox, probe, report),
      probeOwnTemp(sandbox, probe, report),
      probePriority(sandbox, probe, report),
    ])
    if (sandbox.user === null && sandbox.ownTempCommand !== null) {
      sandbox.ownTempCommand = null
      report.in_force = report.in_force.filter((name) => name !== 'own_temp')
      report.missing['own_temp'] = 'it needs a separate user'
    }
    if (sandbox.user !== null) {
      sandbox.privileges = [...sandbox.privileges, ...asUser(sandbox.user)]
      sandbox.maxProcesses = MIN_PROCESSES + PROCESSES_PER_CORE * availableParallelism()
    }
    await probeCombined(sandbox, programs, probe, report)
    if (sandbox.user !== null && sandbox.prlimit !== null) report.in_force.push('processes')
    else report.missing['processes'] = 'processes are counted per user: this needs a separate user and prlimit'
    report.in_force.sort()
    report.missing['network'] = 'ffmpeg reads the source over loopback, so it runs without a network namespace'
    return { sandbox, report }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/**
 * Each measure worked alone, but may not work in combination: for example a user of its own inside a user namespace.
 * The more valuable measures are kept.
 */
async function probeCombined(
  sandbox: Sandbox,
  programs: FfmpegPrograms,
  probe: Probe,
  report: SandboxReport,
): Promise<void> {
  const give = (names: string[], why: string): void => {
    report.in_force = report.in_force.filter((name) => !names.includes(name))
    for (const name of names) report.missing[name] = why
  }
  const { noNetworkCommand, ownTempCommand: ownTemp } = sandbox
  const none = { noNetworkCommand: null, ownTempCommand: null }
  for (const commands of [
    { noNetworkCommand, ownTempCommand: ownTemp },
    { ...none, noNetworkCommand },
    { ...none, ownTempCommand: ownTemp },
    none,
  ]) {
    if (!(await probe([], { ...sandbox, ...commands }, reachable(programs)))) continue
    const left = [
      ...(commands.noNetworkCommand === noNetworkCommand ? [] : ['no_network_for_local_files']),
      ...(commands.ownTempCommand === ownTemp ? [] : ['own_temp']),
    ]
    give(left, 'it does not work together with the other measures')
    Object.assign(sandbox, commands)
    return
  }
  Object.assign(sandbox, { ...withoutMeasures(sandbox), memoryBytes: sandbox.memoryBytes, processes: 0 })
  const unconditional = new Set(['process_group', 'environment'])
  give(
    report.in_force.filter((name) => !unconditional.has(name)),
    'the measures do not work together',
  )
}

/** A script that fails where the programs cannot be run. */
function reachable({ ffmpeg, ffprobe }: FfmpegPrograms): string {
  const reach = [ffmpeg, ffprobe].map(
    (path) => `[ -x ${quoted(path)} ] || { echo "it cannot run "${quoted(path)} >&2; exit 3; }`,
  )
  return reach.join('\n')
}

/** The sandbox in which a single measure is tried. */
const withoutMeasures = (sandbox: Sandbox): Sandbox => ({
  ...sandbox,
  prlimit: null,
  privileges: [],
  niceCommand: [],
  noNetworkCommand: null,
  ownTempCommand: null,
  user: null,
})

type Probe = (names: string[], sandbox: Sandbox, script?: string) => Promise<boolean>

/** Limits of the kernel, read back by a process that is subject to them. */
async function probeLimits(sandbox: Sandbox, probe: Probe, report: SandboxReport): Promise<void> {
  const names = ['cpu_time', 'file_size', 'memory', 'open_files', 'no_core_files']
  const prlimit = await findOnPath('prlimit')
  if (prlimit === null) for (const name of names) report.missing[name] = 'prlimit (util-linux) is not installed'
  // The units differ between shells; 0 is 0 in all of them.
  else if (
    await probe(
      names,
      { ...withoutMeasures(sandbox), prlimit },
      '[ "$(ulimit -c)$(ulimit -f)" = 00 ] && [ "$(ulimit -t)" -le 80 ]',
    )
  )
    sandbox.prlimit = prlimit
}

async function probePrivileges(sandbox: Sandbox, probe: Probe, report: SandboxReport): Promise<void> {
  const measures: Record<string, readonly string[]> = {
    dies_with_transcoder: PDEATHSIG_FLAGS,
    no_new_privileges: ['--no-new-privs'],
    // Only root has capabilities to drop; with no_new_privileges other users cannot gain any.
    ...(process.getuid?.() === 0 ? { no_capabilities: ['--bounding-set=-all', '--inh-caps=-all'] } : {}),
  }
  const holding = await Promise.all(
    Object.entries(measures).map(async ([name, flags]) => {
      if (sandbox.setpriv !== null)
        return (await probe([name], { ...withoutMeasures(sandbox), privileges: flags })) ? flags : []
      report.missing[name] = 'setpriv (util-linux) is not installed'
      return []
    }),
  )
  sandbox.privileges = holding.flat()
  if (measures['no_capabilities'] === undefined && report.in_force.includes('no_new_privileges'))
    report.in_force.push('no_capabilities')
}

const asUser = ({ uid, gid }: SandboxUser): string[] => ['--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups']

/**
 * Returns a free user id if this process may change to it, and if that user can run the programs and reach its files
 * but no others.
 */
async function probeUser(
  sandbox: Sandbox,
  programs: FfmpegPrograms,
  root: string,
  probe: Probe,
  report: SandboxReport,
): Promise<SandboxUser | null> {
  const names = ['own_user', 'read_only_files']
  const refuse = (why: string): null => {
    for (const name of names) report.missing[name] = why
    return null
  }
  if (process.getuid?.() !== 0) return refuse('the transcoder is not root')
  if (sandbox.setpriv === null) return refuse('setpriv (util-linux) is not installed')
  let uid = FIRST_UID + (process.pid % UIDS)
  while ((await processesOf(uid)).length > 0) uid = FIRST_UID + ((uid + 1 - FIRST_UID) % UIDS)
  const user = { uid, gid: uid }
  const [mine, secret] = [join(root, 'mine'), join(root, 'secret')]
  await writeFile(secret, 'x', { mode: 0o600 })
  try {
    for (const directory of [root, join(root, 'cwd')]) await grantTraversal(directory, user)
    await createOutputFiles([mine], user)
  } catch (error) {
    return refuse(reason(error))
  }
  const candidate = { ...withoutMeasures(sandbox), user, privileges: asUser(user) }
  const script = [
    reachable(programs),
    'echo x > ../mine || exit 6',
    'if cat ../secret > /dev/null 2>&1; then echo "files of other users are readable" >&2; exit 4; fi',
    // In a subshell: a failed redirection ends the shell.
    'if (: > ../more) 2> /dev/null; then echo "files can be created outside the output files" >&2; exit 5; fi',
    'exit 0',
  ]
  return (await probe(names, candidate, script.join('\n'))) ? user : null
}

/** No network for programs that read local files only: as root, or in a user namespace. */
async function probeNetwork(sandbox: Sandbox, probe: Probe, report: SandboxReport): Promise<void> {
  const name = 'no_network_for_local_files'
  const unshare = await findOnPath('unshare')
  if (unshare === null) {
    report.missing[name] = 'unshare (util-linux) is not installed'
    return
  }
  for (const kind of [['--net'], ['--user', '--net']]) {
    const noNetworkCommand = [unshare, ...kind, '--']
    if (!(await probe([name], { ...withoutMeasures(sandbox), noNetworkCommand }))) continue
    sandbox.noNetworkCommand = noNetworkCommand
    delete report.missing[name]
    return
  }
}

/** As root only, and for a user of its own, who reaches the attempt's files by relative paths. */
async function probeOwnTemp(sandbox: Sandbox, probe: Probe, report: SandboxReport): Promise<void> {
  const name = 'own_temp'
  const [unshare, mount] = await Promise.all([findOnPath('unshare'), findOnPath('mount')])
  const refuse = (why: string): void => void (report.missing[name] = why)
  if (process.getuid?.() !== 0 || sandbox.setpriv === null) return refuse('it needs a separate user')
  if (unshare === null || mount === null) return refuse('unshare (util-linux) or mount is not installed')
  const command = ownTempCommand(unshare, mount)
  // Files of others are not there, and none that is made is seen outside.
  const script = '[ -z "$(ls -A /tmp)" ] && echo x > /tmp/probe'
  if (await probe([name], { ...withoutMeasures(sandbox), ownTempCommand: command }, script))
    sandbox.ownTempCommand = command
}

async function probePriority(sandbox: Sandbox, probe: Probe, report: SandboxReport): Promise<void> {
  const [nice, choom] = await Promise.all([findOnPath('nice'), findOnPath('choom')])
  const measures: [string, string | null, string[], string][] = [
    ['lower_priority', nice, ['-n', NICE], 'exit 0'],
    [
      'ended_first_without_memory',
      choom,
      ['-n', OOM_SCORE, '--'],
      `read score < /proc/self/oom_score_adj && [ "$score" -ge ${OOM_SCORE} ]`,
    ],
  ]
  const holding = await Promise.all(
    measures.map(async ([name, program, flags, script]) => {
      if (program !== null) {
        const command = [program, ...flags]
        return (await probe([name], { ...withoutMeasures(sandbox), niceCommand: command }, script)) ? command : []
      }
      report.missing[name] = `${name === 'lower_priority' ? 'nice' : 'choom'} is not installed`
      return []
    }),
  )
  sandbox.niceCommand = holding.flat()
}

/** Leaves the transcoder enough of the memory of this container or machine. */
function memoryLimit(): number {
  const granted = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  return Math.max(MIN_MEMORY_BYTES, Math.floor(granted * MEMORY_SHARE))
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`
}

function reason(error: unknown): string {
  if (error instanceof FfprobeError) return error.stderr.trim().split('\n').at(-1)?.slice(0, 200) || error.message
  return error instanceof Error ? error.message : String(error)
}
