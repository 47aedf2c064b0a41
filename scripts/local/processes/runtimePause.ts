// In charge of: stopping the runtime of a service for a moment, in which none of its files changes.
// Not in charge of: what happens meanwhile (../emptyObjects.ts, ../../backup/snapshot.ts).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { childrenOf, isAlive } from './processGroup.ts'

interface PauseLimits {
  /** How long to wait for another pause to end. */
  turnMs: number
  /** How long to wait until the runtime stands still. */
  stopMs: number
}

/**
 * The workerd process of the running service.
 *
 * @throws Error with a message for people
 */
export function findRuntime(runDir: string): number {
  const service = Number.parseInt(readFileSync(join(runDir, 'pid'), 'utf8'), 10)
  const hosts = childrenOf(service).filter(({ argv }) => argv.some((part) => part.endsWith('workerProcess.ts')))
  const [runtime] = hosts.flatMap(({ pid }) => childrenOf(pid)).filter(({ program }) => program === 'workerd')
  if (runtime === undefined)
    throw new Error(
      `The service (process ${service}) is starting, or its processes are not visible from here. Repeat this when it runs, as the same user on the same host (in the same container), or stop the service.`,
    )
  return runtime.pid
}

/**
 * Nothing of the service changes its data while `work` runs. One pause at a time, because the end of one would end the other.
 * `work` does not wait for anything, so no signal ends this
 * process before the runtime continues. If this process is killed, the service restarts its runtime after half a minute.
 *
 * @returns the milliseconds during which it was stopped
 * @throws Error if it cannot be stopped within the limits, or was restarted meanwhile. Then `work` may have run
 */
export function whilePaused(
  runDir: string,
  runtime: number,
  { turnMs, stopMs }: PauseLimits,
  work: () => void,
): number {
  // A lock of the kernel, which ends with the process that has it.
  using turn = new DatabaseSync(join(runDir, 'pause.sqlite'), { timeout: turnMs })
  turn.exec('BEGIN EXCLUSIVE')
  const began = performance.now()
  process.kill(runtime, 'SIGSTOP')
  try {
    while (!isStopped(runtime))
      if (performance.now() - began > stopMs)
        throw new Error(`The runtime (process ${runtime}) does not stop. Repeat it later.`)
    work()
    // If the runtime was killed meanwhile, the service has started another runtime, which was not stopped.
    if (!isAlive(runtime)) throw new Error('The service restarted meanwhile. Repeat it.')
  } finally {
    if (isAlive(runtime)) process.kill(runtime, 'SIGCONT')
  }
  return performance.now() - began
}

/** proc(5): T = stopped. Each thread stops by itself, after the write that it was in. */
function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
  })
}
