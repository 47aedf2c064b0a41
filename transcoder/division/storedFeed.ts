// In charge of: the streams that parts of a divided job encoded, written to the pipes of the process that copies them.
// Not in charge of: which they are (joinParts.ts), one stream (upload/workObjects.ts).
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Attempt } from '../attempt.ts'
import { readWorkObjects, type WorkObject } from '../upload/workObjects.ts'
import type { PipeFeed } from '../ffmpeg/run.ts'
import type { JoinedPieces } from '../pipeline/encode.ts'

export class StoredFeed implements JoinedPieces {
  readonly fraction = 0
  readonly #attempt: Pick<Attempt, 'taskClient' | 'controller'>
  readonly #streams: readonly (readonly WorkObject[])[]
  #waiting = 0

  constructor(attempt: Pick<Attempt, 'taskClient' | 'controller'>, streams: readonly (readonly WorkObject[])[]) {
    this.#attempt = attempt
    this.#streams = streams
  }

  /** May be written again, from the beginning. */
  pipeFeed(): PipeFeed {
    return {
      count: this.#streams.length,
      write: async (pipes, ended) => {
        const signal = AbortSignal.any([ended, this.#attempt.controller.signal])
        await Promise.all(this.#streams.map((objects, index) => this.#copy(objects, pipes[index]!, signal)))
      },
    }
  }

  /** True while ffmpeg waits for a stream. */
  get isStarving(): boolean {
    return this.#waiting > 0
  }

  /** A pipe is not destroyed with an error of the store: it would look like one that ffmpeg closed. */
  async #copy(objects: readonly WorkObject[], pipe: Writable, signal: AbortSignal): Promise<void> {
    const pieces = readWorkObjects(this.#attempt.taskClient, objects, signal)
    for (;;) {
      this.#waiting += 1
      const { value, done } = await pieces.next().finally(() => (this.#waiting -= 1))
      if (done === true) break
      if (!pipe.write(value)) await once(pipe, 'drain', { signal })
    }
    pipe.end()
  }
}
