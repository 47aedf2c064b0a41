// In charge of: the CPU time of a service by process: the programs that the transcoder runs, the transcoder, the
// Worker.
// Not in charge of: the total (stopwatch.ts).
import { readdirSync, readFileSync } from 'node:fs'

/** CPU seconds; NaN without /proc. */
export interface CpuByProcess {
  /** ffmpeg and ffprobe, including the processes that start them. */
  ffmpeg: number
  /** The transcoder's own process. */
  transcoder: number
  /** Everything that runs the Worker, its database and its store locally, including the supervisor. */
  worker: number
}

export interface Pids {
  transcoder: number
  worker: readonly number[]
}

/** Measures from now until the returned function is called. */
export function measureCpuByProcess(pids: Pids): () => CpuByProcess {
  const before = read(pids)
  return () => {
    const after = read(pids)
    return {
      ffmpeg: after.ffmpeg - before.ffmpeg,
      transcoder: after.transcoder - before.transcoder,
      worker: after.worker - before.worker,
    }
  }
}

function read({ transcoder, worker }: Pids): CpuByProcess {
  try {
    const { own, children } = timesOf(transcoder)
    return {
      ffmpeg: children + below(transcoder),
      transcoder: own,
      worker: worker.reduce((sum, pid) => sum + timesOf(pid).own, 0),
    }
  } catch {
    return { ffmpeg: Number.NaN, transcoder: Number.NaN, worker: Number.NaN }
  }
}

/** USER_HZ: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/** CPU time of the process, and of its children that have ended and were waited for. */
function timesOf(pid: number): { parent: number; own: number; children: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // proc(5): the fields from the third on follow the last parenthesis. 4 = parent; 14 to 17 = own and children's time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number)
  return {
    parent: Number(fields[1]),
    own: (user + system) / TICKS_PER_SECOND,
    children: (childUser + childSystem) / TICKS_PER_SECOND,
  }
}

/** CPU time of the descendants that are still running. */
function below(parent: number): number {
  return readdirSync('/proc').reduce((sum, name) => {
    if (!/^\d+$/.test(name)) return sum
    try {
      const times = timesOf(Number(name))
      return times.parent === parent ? sum + times.own + times.children : sum
    } catch {
      return sum // ended in the meantime
    }
  }, 0)
}
