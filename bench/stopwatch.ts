// In charge of: medians, and how much CPU time a period took: of this process, and of others.
// Not in charge of: what is measured.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export interface ResourceUsage {
  seconds: number
  /** CPU seconds of this process and all its descendants; NaN without /proc. */
  cpuSeconds: number
  /** Cores that other processes used meanwhile. Above a limit, the wall time is unreliable. */
  otherCores: number
}

/** Measures from now until the returned function is called. */
export function stopwatch(): () => ResourceUsage {
  const began = performance.now()
  const [own, busy] = [ownTicks(), busyTicks()]
  return () => {
    const seconds = (performance.now() - began) / 1000
    const cpuSeconds = (ownTicks() - own) / TICKS_PER_SECOND
    return { seconds, cpuSeconds, otherCores: ((busyTicks() - busy) / TICKS_PER_SECOND - cpuSeconds) / seconds }
  }
}

/** Waits until other processes are idle for two seconds, or until the timeout. @returns whether they were */
export async function waitForIdleMachine(otherCores: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const read = stopwatch()
    await pause(2000)
    if (!(read().otherCores > otherCores)) return true
    if (Date.now() > deadline) return false
  }
}

/** USER_HZ: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

function busyTicks(): number {
  try {
    const [line] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (line ?? '').split(/\s+/).slice(1).map(Number)
    return user + nice + system + irq + softirq
  } catch {
    return Number.NaN
  }
}

/** Ticks of this process and its descendants, including those that have ended and were waited for. */
function ownTicks(): number {
  try {
    const ticks = new Map<number, number>()
    const parents = new Map<number, number>()
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        // proc(5): the fields from the third on follow the last parenthesis. 4 = parent; 14 to 17 = own and children's
        // time.
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        parents.set(Number(name), Number(fields[1]))
        ticks.set(
          Number(name),
          fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
        )
      } catch {
        // Ended in the meantime; its time was added to its parent's.
      }
    }
    const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(parents.get(pid) ?? 0))
    return [...ticks].reduce((sum, [pid, own]) => (isOurs(pid) ? sum + own : sum), 0)
  } catch {
    return Number.NaN
  }
}
