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
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The second field is the command in parentheses and may contain any character, so fields are counted from its
      // end. Field 4 is the parent.
      const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (Number(ppid) !== parent || state === 'Z') return []
      const argv = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').slice(0, -1)
      return [{ pid: Number(name), program: argv[0]?.split('/').at(-1) ?? '', argv }]
    } catch {
      return [] // ended in the meantime
    }
  })
}
