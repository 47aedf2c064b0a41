// In charge of: telling a run that works from one that hangs.
// Not in charge of: ending it (run.ts).
import { statSync } from 'node:fs'

/** What grows as long as a run works, besides its reports. */
export interface SignsOfWork {
  /** Bytes that it wrote to pipes and read from them. */
  pipeBytes: () => number
  /** Files that it writes. */
  files: readonly string[]
  /** Bytes that it read of its source. */
  bytesRead?: (() => number) | undefined
  /** True while a reader of an output waits for something other than the run. */
  isBlocked?: (() => boolean) | undefined
}

/**
 * Calls `onStall` once nothing has moved for `stallMs`. The reports of ffmpeg alone do not show it: version 5 sends none
 * before each of its outputs has begun, and a sheet of thumbnails, captions or a still may begin after many minutes.
 */
export class Watchdog {
  readonly #signs: SignsOfWork
  readonly #stallMs: number
  readonly #onStall: () => void
  #seen: number
  #timer: NodeJS.Timeout

  constructor(signs: SignsOfWork, stallMs: number, onStall: () => void) {
    this.#signs = signs
    this.#stallMs = stallMs
    this.#onStall = onStall
    this.#seen = this.#bytes()
    this.#timer = setTimeout(this.#check, stallMs)
  }

  /** A report has moved. */
  moved(): void {
    clearTimeout(this.#timer)
    this.#seen = this.#bytes()
    this.#timer = setTimeout(this.#check, this.#stallMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  readonly #check = (): void => {
    if (this.#signs.isBlocked?.() === true || this.#bytes() > this.#seen) this.moved()
    else this.#onStall()
  }

  #bytes(): number {
    const { pipeBytes, files, bytesRead } = this.#signs
    const written = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
    return pipeBytes() + written + (bytesRead?.() ?? 0)
  }
}
