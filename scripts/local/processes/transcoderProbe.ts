// In charge of: asking each transcoder that was started here whether it answers, and ending one that goes on not answering:
// it is started again as after any other death. A process that is stopped, or turns in a circle, looks alive otherwise.
// Not in charge of: its task (the Worker's lease ends that), transcoders that someone else runs.
import { setTimeout as pause } from 'node:timers/promises'

export interface ProbedTranscoder {
  name: string
  /** null while it is being started. */
  pid: number | null
  url: string
  kill: () => void
}

const ASK_EVERY_MS = 2_000
/** Generous: ffmpeg may hold every core. It answers from memory. */
const ANSWER_MS = 10_000
/** Half a minute and more without a word. */
const MAX_MISSED_ANSWERS = 3

/** Until the signal. */
export async function probeTranscoder(
  one: () => ProbedTranscoder,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let silent = 0
  let asked: number | null = null
  try {
    while (!signal.aborted) {
      await pause(ASK_EVERY_MS, undefined, { signal })
      const { name, pid, url, kill } = one()
      // Another process starts anew, also in patience.
      if (pid === null || pid !== asked) silent = 0
      asked = pid
      if (pid === null || (await answers(url))) {
        silent = 0
        continue
      }
      silent++
      if (silent < MAX_MISSED_ANSWERS || one().pid !== pid || signal.aborted) continue
      report(`Restarting the ${name}: it has not responded for ${(MAX_MISSED_ANSWERS * ANSWER_MS) / 1000} s.`)
      silent = 0
      kill()
    }
  } catch {
    // The signal.
  }
}

/** Any answer will do. */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(ANSWER_MS) })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
