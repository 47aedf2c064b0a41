// In charge of: what the attempts of one job have begun to store, written down durably before they do, so that whoever
// ends an attempt can remove it (I8).
// Not in charge of: when that happens (jobMonitor.ts), how a store removes (storage/).
import type { Sink } from '../storage/objectStore.ts'
import { MAX_DELETE_BATCH } from '../storage/objectStore.ts'

interface JournaledUpload {
  attempt: number
  path: string
}

const UPLOAD_PREFIX = 'upload/'
const OBJECT_PREFIX = 'object/'

/** Entries of an attempt lie together, and attempts lie in order. */
function objectPrefix(attempt: number): string {
  return `${OBJECT_PREFIX}${String(attempt).padStart(10, '0')}/`
}

/**
 * One walk over the objects to be removed. lost: those of attempts before the current one; end: when the job has ended;
 * late: some time after that, for whatever PUT was still in flight. Each is complete in itself, so entries are never
 * removed one by one: they go together with everything else of the job.
 */
export type CleanUpPass = 'lost' | 'end' | 'late'

export class WriteJournal {
  readonly #storage: DurableObjectStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
  }

  async addUpload(attempt: number, upload: string, path: string): Promise<void> {
    await this.#storage.put(UPLOAD_PREFIX + upload, { attempt, path } satisfies JournaledUpload)
  }

  /** Again for the same path is no error. */
  async addObject(attempt: number, path: string): Promise<void> {
    await this.#storage.put(objectPrefix(attempt) + path, true)
  }

  /** Aborts the uploads of attempts before `below`; null = all. @throws StoreError */
  async abortUploads(sink: () => Promise<Sink | null>, beforeAttempt: number | null): Promise<void> {
    const journal = await this.#storage.list<JournaledUpload>({ prefix: UPLOAD_PREFIX })
    for (const [key, upload] of journal) {
      if (beforeAttempt !== null && upload.attempt >= beforeAttempt) continue
      await (await sink())?.abortUpload(upload.path, key.slice(UPLOAD_PREFIX.length))
      await this.#storage.delete(key)
    }
  }

  /** Whether attempts before `below` (null = any) have objects. */
  async hasObjects(beforeAttempt: number | null): Promise<boolean> {
    return (await this.#list(beforeAttempt, {}, 1)).size > 0
  }

  /**
   * Removes one batch of the objects of attempts before `below` (null = all) and remembers how far it came.
   * @returns true when the pass is over
   * @throws StoreError; the batch is then tried again by the next call
   */
  async deleteBatch(
    sink: () => Promise<Sink | null>,
    pass: CleanUpPass,
    beforeAttempt: number | null,
  ): Promise<boolean> {
    const cursor = `cursor/${pass}`
    const startAfter = await this.#storage.get<string>(cursor)
    const keys = [
      ...(await this.#list(beforeAttempt, startAfter === undefined ? {} : { startAfter }, MAX_DELETE_BATCH)).keys(),
    ]
    const last = keys.at(-1)
    if (last === undefined) return true
    await (await sink())?.deleteMany(keys.map((key) => key.slice(objectPrefix(0).length)))
    await this.#storage.put(cursor, last)
    return keys.length < MAX_DELETE_BATCH
  }

  #list(beforeAttempt: number | null, from: { startAfter?: string }, limit: number): Promise<Map<string, unknown>> {
    const end = beforeAttempt === null ? {} : { end: objectPrefix(beforeAttempt) }
    return this.#storage.list({ prefix: OBJECT_PREFIX, ...from, ...end, limit })
  }
}
