// In charge of: how much of a disk a source may take: whoever sends it may never come to an end.
// Not in charge of: room for the outputs (workspace.ts), how fast it must come (minimumRate.ts).
import { statfs } from 'node:fs/promises'
import { TaskError } from '#contract/taskError.ts'

const CHECK_EVERY_BYTES = 32 * 1024 * 1024

export interface DiskQuotaOptions {
  /** Of what is free at the beginning, from 0 to 1. */
  share: number
  /** Bytes, however much is free. */
  mostBytes: number
}

/** What one source may write, counted while it is written. */
export class DiskQuota {
  /** As it looked at the beginning. */
  readonly bytes: number
  readonly #leastFree: number
  readonly #freeNow: () => Promise<number>
  #written = 0
  #checkAt = CHECK_EVERY_BYTES

  /** `freeNow` tells the bytes that are free. */
  private constructor(free: number, options: DiskQuotaOptions, freeNow: () => Promise<number>) {
    this.bytes = Math.floor(Math.min(free * options.share, options.mostBytes))
    this.#leastFree = free * (1 - options.share)
    this.#freeNow = freeNow
  }

  static async open(
    directory: string,
    options: DiskQuotaOptions,
    freeNow: () => Promise<number> = () => freeBytes(directory),
  ): Promise<DiskQuota> {
    return new DiskQuota(await freeNow(), options, freeNow)
  }

  /** Before `bytes` more are written. Throws source_too_large; disk_full where others have taken what was free. */
  async reserve(bytes: number): Promise<void> {
    this.#written += bytes
    if (this.#written > this.bytes) {
      const why = 'The source is larger than the space that this transcoder may use for one source.'
      throw new TaskError('source_too_large', why, { details: { bytes: this.#written, room_bytes: this.bytes } })
    }
    if (this.#written < this.#checkAt) return
    this.#checkAt = this.#written + CHECK_EVERY_BYTES
    if ((await this.#freeNow()) < this.#leastFree) {
      throw new TaskError('disk_full', 'The source does not fit on this transcoder’s disk.')
    }
  }

  /** What was written and is thrown away again. */
  release(bytes: number): void {
    this.#written -= bytes
  }
}

async function freeBytes(directory: string): Promise<number> {
  const disk = await statfs(directory)
  return disk.bavail * disk.bsize
}
