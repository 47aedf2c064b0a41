// In charge of: caching bytes of the source on disk: the inspections (probe, captions, still) read its beginning and
// its index, and so does the encode, and each read of a store costs time and money.
// Not in charge of: requesting the source (sourceReader.ts), checking the bytes: only bytes that were passed to a
// reader are stored.
import { open, rm, type FileHandle } from 'node:fs/promises'

/** Enough for the longest inspection of video (streamDetails.ts) and for the indexes of long files. */
const MAX_BYTES = 24 * 1024 * 1024
const READ_BYTES = 64 * 1024

export class ReadCache {
  readonly #path: string
  /** Ascending; they neither overlap nor touch. `end` is exclusive. */
  #ranges: { start: number; end: number }[] = []
  #file: Promise<FileHandle> | null = null
  #budget: number

  /** `path` must not exist. Bytes have the same offsets in this file as in the source: it is sparse. */
  constructor(path: string, mostBytes = MAX_BYTES) {
    this.#path = path
    this.#budget = mostBytes
  }

  /** The end, exclusive, of the cached bytes that begin at `at`; `at` itself if there are none. */
  cachedUntil(at: number): number {
    const range = this.#ranges.find(({ start, end }) => start <= at && at < end)
    return range?.end ?? at
  }

  /** Resolves once the bytes are on the disk. Never rejects: if the disk is full, nothing more is cached. */
  async store(at: number, bytes: Uint8Array): Promise<void> {
    if (bytes.length > this.#budget || this.cachedUntil(at) >= at + bytes.length) return
    this.#budget -= bytes.length
    try {
      this.#file ??= open(this.#path, 'wx+', 0o600)
      const file = await this.#file
      for (let done = 0; done < bytes.length;)
        done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
      this.#addRange(at, at + bytes.length)
    } catch {
      this.#budget = 0
    }
  }

  /** From now on nothing is added: no later reader needs it. */
  seal(): void {
    this.#budget = 0
  }

  /** `from` to `to`, exclusive. If the disk fails, it ends early and empties the cache. */
  async *read(from: number, to: number): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to;) {
      const block = await this.#readBlock(at, Math.min(READ_BYTES, to - at)).catch(() => null)
      if (block === null || block.length === 0) {
        this.#ranges = []
        this.#budget = 0
        return
      }
      at += block.length
      yield block
    }
  }

  async #readBlock(at: number, bytes: number): Promise<Uint8Array> {
    const file = await this.#file
    const buffer = Buffer.allocUnsafe(bytes)
    const { bytesRead } = (await file?.read(buffer, 0, bytes, at)) ?? { bytesRead: 0 }
    return buffer.subarray(0, bytesRead)
  }

  async close(): Promise<void> {
    this.#budget = 0
    this.#ranges = []
    const file = await this.#file?.catch(() => null)
    await file?.close()
    if (file) await rm(this.#path, { force: true })
  }

  #addRange(start: number, end: number): void {
    const apart = this.#ranges.filter((range) => range.end < start || range.start > end)
    const joined = this.#ranges.filter((range) => range.end >= start && range.start <= end)
    this.#ranges = [
      ...apart,
      {
        start: Math.min(start, ...joined.map((range) => range.start)),
        end: Math.max(end, ...joined.map((range) => range.end)),
      },
    ].toSorted((a, b) => a.start - b.start)
  }
}
