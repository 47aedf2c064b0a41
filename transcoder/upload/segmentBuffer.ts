// In charge of: one segment while it is written, and its digest: in memory while it is small, then in a file of the
// workspace.
// Not in charge of: sending it (uploadQueue.ts, tarUpload.ts).
import { createHash } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { TaskError } from '#contract/taskError.ts'
import type { FileSlice } from '../taskApi/taskClient.ts'

/** Audio and init segments stay in memory, video goes to the disk. */
const MAX_MEMORY_BYTES = 512 * 1024

/** The bytes of one finished object. They are removed when the last holder has released them. */
export class StoredBytes {
  readonly bytes: number
  readonly sha256: string
  readonly body: Uint8Array | FileSlice
  #references = 0

  constructor(bytes: number, sha256: string, body: Uint8Array | FileSlice) {
    this.bytes = bytes
    this.sha256 = sha256
    this.body = body
  }

  retain(): void {
    this.#references += 1
  }

  async release(): Promise<void> {
    this.#references -= 1
    if (this.#references === 0 && 'path' in this.body) await rm(this.body.path, { force: true })
  }
}

export class SegmentBuffer {
  readonly #path: string
  readonly #hash = createHash('sha256')
  #parts: Uint8Array[] = []
  #bytes = 0
  #file: FileHandle | null = null

  /** `path`: the file to use for a segment that does not stay in memory; must not exist. */
  constructor(path: string) {
    this.#path = path
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    this.#parts.push(bytes)
    if (this.#file === null && this.#bytes <= MAX_MEMORY_BYTES) return
    await this.#flush()
  }

  async finish(): Promise<StoredBytes> {
    const sha256 = this.#hash.digest('hex')
    if (this.#file === null) return new StoredBytes(this.#bytes, sha256, Buffer.concat(this.#parts))
    await this.#file.close()
    return new StoredBytes(this.#bytes, sha256, { path: this.#path, start: 0, end: this.#bytes })
  }

  /** Called if the segment will not be completed. */
  async discard(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }

  async #flush(): Promise<void> {
    try {
      this.#file ??= await open(this.#path, 'wx')
      const parts = this.#parts.splice(0)
      await this.#file.appendFile(Buffer.concat(parts))
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') throw error
      throw new TaskError('disk_full', 'The transcoder ran out of disk space.', { cause: error })
    }
  }
}
