// In charge of: the CPU time of an attempt, and the free space of its disk.
// Not in charge of: limits (ffmpeg/sandbox.ts, workspace.ts), reporting them (progress.ts, reportFailure.ts).
import { readdirSync, readFileSync, statfsSync } from 'node:fs'

export interface ResourceUsage {
  /** Since this object was made: this process and all that it started. Absent without /proc. */
  cpu_seconds?: number
  disk_free_bytes?: number
  /** Bytes read of the source and of other files of the client. */
  bytes_read?: number
}

/** The kernel's USER_HZ, which is the same on all architectures that Linux runs on today. */
const TICKS_PER_SECOND = 100

/** Meters one attempt: a transcoder runs one at a time. */
export class ResourceMeter {
  readonly #directory: string
  readonly #atStart: number | null
  #highest = 0

  /** @param directory on the disk whose free space is reported */
  constructor(directory: string) {
    this.#directory = directory
    this.#atStart = processTreeSeconds()
  }

  /** The CPU time never decreases, though programs that have just ended may be missing until they are reaped. */
  usage(): ResourceUsage {
    const now = this.#atStart === null ? null : processTreeSeconds()
    if (now !== null) this.#highest = Math.max(this.#highest, now - this.#atStart!)
    const free = freeBytes(this.#directory)
    return {
      ...(now === null ? {} : { cpu_seconds: Math.round(this.#highest * TICKS_PER_SECOND) / TICKS_PER_SECOND }),
      ...(free === null ? {} : { disk_free_bytes: free }),
    }
  }
}

function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return null
  }
}

interface ProcessTimes {
  parent: number
  /** CPU time of the process and of its ended children, in ticks. */
  ticks: number
}

/** null without /proc. */
function processTreeSeconds(): number | null {
  const own = readTimes(process.pid)
  if (own === null) return null
  const childrenOf = childReader()
  let ticks = own.ticks
  const left = childrenOf(process.pid)
  for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
    ticks += readTimes(pid)?.ticks ?? 0
    left.push(...childrenOf(pid))
  }
  return ticks / TICKS_PER_SECOND
}

/** The kernel's list of a process's children, or where it has none, the parents of all processes. */
function childReader(): (pid: number) => number[] {
  try {
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`)
    return listedChildren
  } catch {
    const parents = readdirSync('/proc')
      .map(Number)
      .filter((pid) => Number.isInteger(pid))
      .map((pid) => [pid, readTimes(pid)?.parent] as const)
    return (of) => parents.filter(([, parent]) => parent === of).map(([pid]) => pid)
  }
}

/** Programs are started by the first thread. */
function listedChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** null for a process that has just ended. */
function readTimes(pid: number): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may contain spaces: count from after it. Fields 14 to 17 are
    // utime, stime, cutime and cstime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), ticks }
  } catch {
    return null
  }
}
