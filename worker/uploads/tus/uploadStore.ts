// In charge of: the stored data of one resumable upload: whole parts in R2, the remaining bytes in the Durable Object's
// SQLite, and its record. Each change of the record is one transaction.
// Not in charge of: receiving bytes (blockReceiver.ts), the protocol (tusRoutes.ts), D1 (resumableUpload.ts).
import { uploadPartBytes } from '#contract/limits.ts'
import { StoreError } from '../../storage/objectStore.ts'
import { r2Sink } from '../../storage/r2/r2Store.ts'

/** A SQLite value may have 2 MB. */
const TAIL_BLOCK_BYTES = 1024 * 1024

export interface UploadRecord {
  number: number
  account: string
  key: string
  name: string
  contentType: string
  /** Upload-Metadata as received. */
  metadata: string | null
  /** Size of the file, and number of bytes stored. */
  length: number
  offset: number
  /** R2's upload id, from the first whole part on. */
  upload: string | null
  /** ETag of the finished object; null before. */
  etag: string | null
  expiresAt: number
  state: 'open' | 'ready' | 'gone'
}

export interface UploadedPart {
  n: number
  etag: string
}

export class UploadStore {
  readonly #storage: DurableObjectStorage
  readonly #sink: ReturnType<typeof r2Sink>

  constructor(storage: DurableObjectStorage, bucket: R2Bucket) {
    this.#storage = storage
    this.#sink = r2Sink(bucket, '')
  }

  get record(): UploadRecord | null {
    return this.#storage.kv.get<UploadRecord>('record') ?? null
  }

  create(record: UploadRecord): void {
    this.#storage.transactionSync(() => {
      this.#storage.sql.exec('CREATE TABLE parts (n INTEGER PRIMARY KEY, etag TEXT NOT NULL)')
      this.#storage.sql.exec('CREATE TABLE tail (i INTEGER PRIMARY KEY, bytes BLOB NOT NULL)')
      this.#storage.kv.put('record', record)
    })
  }

  update(change: Partial<UploadRecord>): UploadRecord {
    const record = { ...this.#requireRecord(), ...change }
    this.#storage.kv.put('record', record)
    return record
  }

  /** Copies the bytes that do not fill a part into `buffer`; → their number. */
  loadTail(buffer: Uint8Array): number {
    let filled = 0
    for (const { bytes } of this.#storage.sql.exec<{ bytes: ArrayBuffer }>('SELECT bytes FROM tail ORDER BY i')) {
      buffer.set(new Uint8Array(bytes), filled)
      filled += bytes.byteLength
    }
    return filled
  }

  /**
   * Uploads a part, or a whole file that is smaller than a part. Not recorded yet: the same part may be uploaded again.
   */
  async uploadPart(n: number, bytes: Uint8Array): Promise<UploadedPart> {
    const { key, contentType, length, upload } = this.#requireRecord()
    if (bytes.length === length) {
      return { n: 0, etag: (await this.#sink.put(key, bytes, length, contentType)).etag }
    }
    const id = upload ?? (await this.#sink.beginUpload(key, contentType))
    if (upload === null) this.update({ upload: id })
    return { n, etag: await this.#sink.uploadPart(key, id, n, bytes, bytes.length) }
  }

  /** Records the bytes as stored. `tail`: bytes after the last part; its first `savedTailBytes` are stored already. */
  recordParts(parts: readonly UploadedPart[], offset: number, tail: Uint8Array, savedTailBytes: number): void {
    const { sql } = this.#storage
    this.#storage.transactionSync(() => {
      for (const { n, etag } of parts) sql.exec('INSERT OR REPLACE INTO parts (n, etag) VALUES (?, ?)', n, etag)
      if (savedTailBytes === 0) sql.exec('DELETE FROM tail')
      for (let at = savedTailBytes; at < tail.length; at += TAIL_BLOCK_BYTES) {
        sql.exec('INSERT INTO tail (bytes) VALUES (?)', tail.slice(at, at + TAIL_BLOCK_BYTES).buffer)
      }
      this.update({ offset })
    })
  }

  /** Assembles the object from its parts. May be repeated. */
  async complete(): Promise<string> {
    const { key, upload, length } = this.#requireRecord()
    const parts = this.#storage.sql.exec<{ n: number; etag: string }>('SELECT n, etag FROM parts ORDER BY n').toArray()
    const [whole] = parts
    if (whole?.n === 0) return whole.etag
    try {
      return (await this.#sink.completeUpload(key, upload ?? '', parts)).etag
    } catch (error) {
      const made = error instanceof StoreError && error.code === 'no_such_upload' ? await this.#sink.stat(key) : null
      if (made?.size !== length) throw error
      return made.etag
    }
  }

  /** Deletes all bytes. May be repeated. */
  async discard(): Promise<void> {
    const { key, upload } = this.#requireRecord()
    if (upload !== null) await this.#sink.abortUpload(key, upload)
    await this.#sink.delete(key)
  }

  /** Deletes everything but the record. */
  clearData(change: Partial<UploadRecord>): void {
    this.#storage.transactionSync(() => {
      this.#storage.sql.exec('DELETE FROM parts')
      this.#storage.sql.exec('DELETE FROM tail')
      this.update({ ...change, upload: null })
    })
  }

  partSize(): number {
    return uploadPartBytes(this.#requireRecord().length)
  }

  #requireRecord(): UploadRecord {
    const record = this.record
    if (!record) throw new Error('this upload was never created')
    return record
  }
}
