// In charge of: detecting the growth of files that are being written.
// Not in charge of: what to do about it.
import { stat } from 'node:fs/promises'

export interface GrowthPoller {
  /** Checks now: ffmpeg has just reported progress. */
  pollNow(): void
  /** Resolves when the last check has ended; nothing is reported afterwards. */
  stop(): Promise<void>
}

/** Reports each file's size whenever it changed; one check at a time, at least every `everyMs`. */
export function pollGrowth(
  files: readonly string[],
  onSize: (index: number, size: number) => void,
  everyMs = 250,
): GrowthPoller {
  const sizes = files.map(() => 0)
  let looking: Promise<void> | null = null
  let stopped = false

  const look = async (): Promise<void> => {
    for (const [index, file] of files.entries()) {
      const size = await stat(file).then(
        (found) => found.size,
        () => 0, // does not exist yet
      )
      if (stopped || size === sizes[index]) continue
      sizes[index] = size
      onSize(index, size)
    }
  }
  const poke = (): void => {
    if (stopped) return
    looking ??= look().finally(() => {
      looking = null
    })
  }
  const timer = setInterval(poke, everyMs)
  return {
    pollNow: poke,
    async stop() {
      stopped = true
      clearInterval(timer)
      await looking
    },
  }
}
