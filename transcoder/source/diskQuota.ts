// In charge of: how much of a disk a source may occupy: its server may send without end.
// Not in charge of: space for the outputs (workspace.ts), the minimum rate (minimumRate.ts).
import { statfs } from 'node:fs/promises'
import { TaskError } from '#contract/taskError.ts'

const CHECK_EVERY_BYTES = 32 * 1024 * 1024

export interface DiskQuotaOptions {
  /** Share of the free space at the beginning, from 0 to 1. */
  share: number
  /** Limit in bytes, however much is free. */
  maxBytes: number
}

/** The bytes that one source may write, counted while they are written. */
export class DiskQuota {
  /** The quota, computed from the free space at the beginning. */
  readonly bytes: number
  readonly #minFree: number
  readonly #freeNow: () => Promise<number>
  #written = 0
  #checkAt = CHECK_EVERY_BYTES

  /** `freeNow` returns the number of free bytes. */
  private constructor(free: number, options: DiskQuotaOptions, freeNow: () => Promise<number>) {
    this.bytes = Math.floor(Math.min(free * options.share, options.maxBytes))
    this.#minFree = free * (1 - options.share)
    this.#freeNow = freeNow
  }

  static async open(
    directory: string,
    options: DiskQuotaOptions,
    freeNow: () => Promise<number> = () => freeBytes(directory),
  ): Promise<DiskQuota> {
    return new DiskQuota(await freeNow(), options, freeNow)
  }

  /** The bytes that may still be written. */
  get left(): number {
    return Math.max(0, this.bytes - this.#written)
  }

  /** Call before `bytes` more are written. Throws source_too_large; disk_full if others have used up the free space. */
  async reserve(bytes: number): Promise<void> {
    this.#written += bytes
    if (this.#written > this.bytes) {
      const why = 'The source is larger than the space that this transcoder may use for one source.'
      throw new TaskError('source_too_large', why, { details: { bytes: this.#written, room_bytes: this.bytes } })
    }
    if (this.#written < this.#checkAt) return
    this.#checkAt = this.#written + CHECK_EVERY_BYTES
    if ((await this.#freeNow()) < this.#minFree) {
      throw new TaskError('disk_full', 'The source does not fit on this transcoder’s disk.')
    }
  }

  /** Returns the bytes of data that was written and then discarded. */
  release(bytes: number): void {
    this.#written -= bytes
  }
}

async function freeBytes(directory: string): Promise<number> {
  const disk = await statfs(directory)
  return disk.bavail * disk.bsize
}
