// In charge of: the health probe of each local transcoder, and ending one that no longer responds, so that it is
// restarted. A stopped process, or one in an endless loop, cannot be detected in another way.
// Not in charge of: its task (the lease in the Worker expires), remote transcoders.
import { setTimeout as pause } from 'node:timers/promises'

export interface ProbedTranscoder {
  name: string
  /** null while it is being restarted. */
  pid: number | null
  url: string
  kill: () => void
}

/** The timeout for the answer is long because ffmpeg may use every core. The answer itself needs no I/O. */
const INTERVALS = { askEveryMs: 2_000, answerMs: 10_000 }
/** More than half a minute without an answer. */
const MAX_MISSED_ANSWERS = 3

/** Runs until the signal. */
export async function probeTranscoder(
  one: () => ProbedTranscoder,
  report: (line: string) => void,
  signal: AbortSignal,
  { askEveryMs, answerMs } = INTERVALS,
): Promise<void> {
  let silent = 0
  let asked: number | null = null
  let task = ''
  try {
    while (!signal.aborted) {
      await pause(askEveryMs, undefined, { signal })
      const { name, pid, url, kill } = one()
      // A new process starts with a new count.
      if (pid === null || pid !== asked) silent = 0
      asked = pid
      const answer = pid === null ? '' : await askTask(url, answerMs)
      if (answer !== null) {
        task = answer
        silent = 0
        continue
      }
      silent++
      if (silent < MAX_MISSED_ANSWERS || one().pid !== pid || signal.aborted) continue
      report(`Restarting the ${name}: it has not responded for ${(MAX_MISSED_ANSWERS * answerMs) / 1000} s${task}.`)
      silent = 0
      kill()
    }
  } catch {
    // Aborted by the signal.
  }
}

/** What it works on, for people; '' = nothing, null = no answer. Any answer is sufficient. */
async function askTask(url: string, timeoutMs: number): Promise<string | null> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(timeoutMs) })
    const health = (await response.json().catch(() => ({}))) as { task_id?: string; attempt?: number }
    return health.task_id === undefined ? '' : `, while it worked on attempt ${health.attempt} at ${health.task_id}`
  } catch {
    return null
  }
}
