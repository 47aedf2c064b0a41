// In charge of: processes that an earlier, killed service left running on the same state directory: waits for them,
// then ends them.
// Not in charge of: whether that service itself is running (stateLock.ts).
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** A transcoder without its service gives its task back first (transcoderProcess.ts). */
const PATIENCE_MS = 12_000
const END_MS = 5_000

/** An argument of each child process that names its state directory. */
export function processMarker(runDir: string): string {
  return `--of=${runDir}`
}

/**
 * Two runtimes on the same data would corrupt it: each assumes that it is the only one. @param markers any of them in
 * an argument
 */
export async function killOrphans(markers: readonly string[], report: (line: string) => void): Promise<void> {
  const find = (): number[] => processesWith(markers)
  if (find().length === 0) return
  report('A previous run on this data was killed; waiting for its remaining processes to end …')
  if (await gone(find, PATIENCE_MS)) return
  for (const pid of find()) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended in the meantime, or belongs to another user.
    }
  }
  if (!(await gone(find, END_MS)))
    throw new Error(`These processes of a previous run cannot be stopped: ${find().join(', ')}.`)
}

async function gone(find: () => number[], ms: number): Promise<boolean> {
  const deadline = Date.now() + ms
  while (find().length > 0) {
    if (Date.now() > deadline) return false
    await pause(100)
  }
  return true
}

function processesWith(markers: readonly string[]): number[] {
  const isOne = (argv: string): boolean => markers.some((sign) => argv.includes(sign))
  return commandLines()
    .filter(({ pid, argv }) => pid !== process.pid && isOne(argv))
    .map(({ pid }) => pid)
}

function commandLines(): { pid: number; argv: string }[] {
  let entries: string[]
  try {
    entries = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return listed()
  }
  return entries.flatMap((name) => {
    try {
      return [{ pid: Number(name), argv: readFileSync(`/proc/${name}/cmdline`, 'utf8') }]
    } catch {
      return [] // ended in the meantime
    }
  })
}

/** For systems without /proc. */
function listed(): { pid: number; argv: string }[] {
  try {
    const text = execFileSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
    return text.split('\n').flatMap((line) => {
      const found = /^\s*(\d+)\s(.*)$/.exec(line)
      return found === null ? [] : [{ pid: Number(found[1]), argv: found[2] ?? '' }]
    })
  } catch {
    return []
  }
}
