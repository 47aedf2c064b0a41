// In charge of: a durable list of the uploads and objects that the attempts of a job write. Each entry is stored before
// the write begins, so that all of them can be removed when an attempt ends (I8).
// Not in charge of: when they are removed (jobMonitor.ts), how a store deletes (storage/).
import { MAX_DELETE_BATCH, type Sink } from '../storage/objectStore.ts'

interface JournaledUpload {
  attempt: number
  path: string
}

const UPLOAD_PREFIX = 'upload/'
const OBJECT_PREFIX = 'object/'

/** Zero-padded, so that keys sort by attempt. */
function objectPrefix(attempt: number): string {
  return `${OBJECT_PREFIX}${String(attempt).padStart(10, '0')}/`
}

/**
 * One pass over the objects to be removed. lost: objects of attempts before the current one; end: after the job has
 * ended; late: some time after that, for PUTs that were still in flight. Each pass covers all entries, so entries are
 * not deleted one by one: they are deleted together with the rest of the job's state.
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

  /** Adding the same path again is no error. */
  async addObject(attempt: number, path: string): Promise<void> {
    await this.#storage.put(objectPrefix(attempt) + path, true)
  }

  /** Aborts the uploads of attempts before `beforeAttempt`; null = all. @throws StoreError */
  async abortUploads(sink: () => Promise<Sink | null>, beforeAttempt: number | null): Promise<void> {
    const journal = await this.#storage.list<JournaledUpload>({ prefix: UPLOAD_PREFIX })
    for (const [key, upload] of journal) {
      if (beforeAttempt !== null && upload.attempt >= beforeAttempt) continue
      await (await sink())?.abortUpload(upload.path, key.slice(UPLOAD_PREFIX.length))
      await this.#storage.delete(key)
    }
  }

  /** Whether attempts before `beforeAttempt` (null = any) have objects. */
  async hasObjects(beforeAttempt: number | null): Promise<boolean> {
    return (await this.#list(beforeAttempt, {}, 1)).size > 0
  }

  /**
   * Removes one batch of the objects of attempts before `beforeAttempt` (null = all) and stores the position reached.
   * @returns true when the pass is complete
   * @throws StoreError; the next call then repeats the batch
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
