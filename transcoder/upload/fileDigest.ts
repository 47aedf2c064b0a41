// In charge of: the SHA-256 of a file, in one pass, as far as its bytes are final.
// Not in charge of: knowing which bytes are final (objectUpload.ts).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

export class FileDigest {
  readonly #path: string
  readonly #signal: AbortSignal
  readonly #hash = createHash('sha256')
  readonly #observe: ((chunk: Uint8Array) => void) | undefined
  #done = 0
  #target = 0
  #running: Promise<void> | null = null

  /** `observe` receives every byte once, in order. */
  constructor(path: string, signal: AbortSignal, observe?: (chunk: Uint8Array) => void) {
    this.#path = path
    this.#signal = signal
    this.#observe = observe
  }

  /** The first `bytes` bytes are final: hash them in the background. Errors are thrown by `end`. */
  advance(bytes: number): void {
    this.#target = Math.max(this.#target, bytes)
    if (this.#running !== null || this.#done >= this.#target) return
    this.#running = this.#follow()
    this.#running.catch(() => undefined)
  }

  /** Hex digest of the whole file of `size` bytes. */
  async finish(size: number): Promise<string> {
    // #follow clears #running when it has caught up, so this loop ends; after a failure it stays set and throws here.
    while (this.#done < size) {
      this.advance(size)
      await this.#running
    }
    return this.#hash.digest('hex')
  }

  async #follow(): Promise<void> {
    while (this.#done < this.#target) {
      const upTo = this.#target
      const slice = createReadStream(this.#path, {
        start: this.#done,
        end: upTo - 1,
        highWaterMark: 1024 * 1024,
        signal: this.#signal,
      })
      for await (const chunk of slice) {
        this.#hash.update(chunk as Buffer)
        this.#observe?.(chunk as Buffer)
        this.#done += (chunk as Buffer).length
      }
      if (this.#done < upTo) throw new Error('a file became shorter while it was hashed')
    }
    this.#running = null
  }
}
