// In charge of: process groups, and reading /proc.
// Not in charge of: which processes should run.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Sends a signal to a whole group. A group that has ended is not an error. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch {
    // It has ended already.
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Waits until all processes of the group have ended. @returns false if some are left after `timeoutMs` */
export async function waitForGroupExit(leader: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    if (!isAlive(-leader)) return true
    if (Date.now() >= deadline) return false
    await pause(25)
  }
}

export interface ProcessEntry {
  pid: number
  /** argv[0] without its directories. */
  program: string
  argv: string[]
}

/** Fields of /proc/<pid>/stat from the third one on: the second, the command, may contain any character. */
function statFields(pid: number | string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** proc(5): times are in units of 1/100 s on every Linux. */
const TICK_MS = 10

/** Processor time that a process and its descendants have used, in milliseconds; 0 without /proc. */
export function processorTime(pid: number): number {
  let own = 0
  try {
    // utime, stime, and those of children that have ended.
    for (const ticks of statFields(pid).slice(11, 15)) own += Number(ticks) * TICK_MS
  } catch {
    // It has ended.
  }
  return childrenOf(pid).reduce((sum, child) => sum + processorTime(child.pid), own)
}

/** The child processes of a process; empty without /proc. */
export function childrenOf(parent: number): ProcessEntry[] {
  let entries: string[]
  try {
    entries = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
  return entries.flatMap((name) => {
    try {
      const [state, ppid] = statFields(name)
      if (Number(ppid) !== parent || state === 'Z') return []
      const argv = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').slice(0, -1)
      return [{ pid: Number(name), program: argv[0]?.split('/').at(-1) ?? '', argv }]
    } catch {
      return [] // ended in the meantime
    }
  })
}
