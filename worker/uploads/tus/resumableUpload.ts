// In charge of: one resumable upload: which request may write to it now, its end (a complete object or nothing), and
// its expiry. One Durable Object per upload, named by its number.
// Not in charge of: the protocol's headers (tusRoutes.ts), storing bytes (blockReceiver.ts, uploadStore.ts).
import { log } from '../../log.ts'
import { DurableObject } from 'cloudflare:workers'
import { settings } from '../../env.ts'
import { deleteUpload, findUpload, markUploadReady } from '../../db/uploads.ts'
import { errorResponse, RequestError } from '../../http/requestError.ts'
import { StoreError } from '../../storage/objectStore.ts'
import { uploadChecksum } from './tusHeaders.ts'
import { BlockReceiver, type UploadBlock } from './blockReceiver.ts'
import { UploadStore, type UploadRecord } from './uploadStore.ts'

const DAY_MS = 86_400_000
/** A request that has sent nothing for this long is replaced by a new one: its connection is probably dead. */
const STALLED_REQUEST_MS = 10_000

export type NewUploadRecord = Omit<UploadRecord, 'offset' | 'upload' | 'etag' | 'state'>

/** The state that HEAD reports. */
export type UploadState = Pick<UploadRecord, 'offset' | 'length' | 'metadata' | 'expiresAt' | 'state'> & {
  /** All bytes are stored, but assembling the object has just failed. */
  needsCompletion?: boolean
}

export function resumableUpload(env: Env, number: number) {
  return env.UPLOAD.get(env.UPLOAD.idFromName(String(number)))
}

function gone(): RequestError {
  return new RequestError('gone', 'This upload has expired or was deleted. Start a new one.')
}

export class ResumableUpload extends DurableObject<Env> {
  private readonly store = new UploadStore(this.ctx.storage, this.env.BUCKET)
  private activeReceiver: { receiver: BlockReceiver; ended: Promise<unknown> } | null = null
  private finishing: Promise<UploadRecord> | null = null

  async create(upload: NewUploadRecord): Promise<void> {
    // Set first: an upload without an alarm would never expire.
    await this.ctx.storage.setAlarm(upload.expiresAt)
    this.store.create({ ...upload, offset: 0, upload: null, etag: null, state: 'open' })
  }

  /** null for an upload that does not exist or belongs to another account. */
  async state(account: string): Promise<UploadState | null> {
    let { record } = this.store
    if (record?.account !== account) return null
    // All bytes are stored, but the end was interrupted: finish it before it is reported as complete.
    if (record.state === 'open' && record.offset === record.length && !this.activeReceiver) {
      const { record: open } = this.store
      record = await this.finish().catch(() => this.store.record ?? open)
    }
    if (!record) return null
    const needsCompletion = record.state === 'open' && record.offset === record.length && !this.activeReceiver
    const { offset, length, metadata, expiresAt, state } = record
    return { offset, length, metadata, expiresAt, state, needsCompletion }
  }

  /** PATCH: the Worker sends the account, the offset of the block, its length and its checksum. */
  override async fetch(request: Request): Promise<Response> {
    try {
      const { headers } = request
      const length = headers.get('x-length')
      const block: UploadBlock = {
        body: (request.body ?? new Blob([]).stream()) as ReadableStream<Uint8Array>,
        length: length === null ? null : Number(length),
        checksum: uploadChecksum(headers),
      }
      const record = await this.append(headers.get('x-account'), Number(headers.get('upload-offset')), block)
      return new Response(null, { status: 204, headers: uploadStateHeaders(record) })
    } catch (error) {
      await request.body?.cancel().catch(() => undefined)
      if (error instanceof RequestError) return errorResponse(error)
      if (!(error instanceof StoreError)) throw error
      log.warn('upload not stored', { error: error.message })
      return errorResponse(
        new RequestError('unavailable', 'The store does not respond. Request the offset and continue from there.', {
          headers: { 'retry-after': '2' },
        }),
      )
    }
  }

  private async append(account: string | null, offset: number, block: UploadBlock): Promise<UploadRecord> {
    while (this.activeReceiver) {
      const { waitingSince } = this.activeReceiver.receiver
      if (waitingSince === null || Date.now() - waitingSince < STALLED_REQUEST_MS) {
        throw new RequestError('locked', 'Another request is writing to this upload.', {
          headers: { 'retry-after': '1' },
        })
      }
      await this.interrupt()
    }
    // No await between here and `active`: two requests must not both find the upload free.
    const { record } = this.store
    if (record?.account !== account || record.state === 'gone') throw gone()
    if (record.state === 'open' && record.expiresAt <= Date.now()) throw gone()
    // "If the offsets do not match, the Server MUST respond with the 409 Conflict status without modifying the upload
    // resource."
    if (offset !== record.offset) {
      throw new RequestError('conflict', `The upload has ${record.offset} bytes; this chunk starts at ${offset}.`, {
        field: 'Upload-Offset',
        headers: { 'upload-offset': String(record.offset) },
      })
    }
    if ((block.length ?? 0) > record.length - offset) {
      throw new RequestError('too_large', `The chunk goes beyond the ${record.length} bytes of the upload.`)
    }
    if (record.offset < record.length) {
      const receiver = new BlockReceiver(this.store, block, record)
      const work = receiver.receive()
      this.activeReceiver = { receiver, ended: work.catch(() => undefined) }
      await work.finally(() => (this.activeReceiver = null))
    }
    const now = this.store.record
    if (now?.state === 'gone') throw gone()
    return now?.state === 'open' && now.offset === now.length ? this.finish() : now!
  }

  private async interrupt(): Promise<void> {
    this.activeReceiver?.receiver.abort()
    await this.activeReceiver?.ended
  }

  /** Object, then D1, then the record: each step may be repeated and then finds its result. */
  private finish(): Promise<UploadRecord> {
    this.finishing ??= this.tryFinish().finally(() => (this.finishing = null))
    return this.finishing
  }

  private async tryFinish(): Promise<UploadRecord> {
    const { db, open } = { db: this.env.DB, open: this.store.record! }
    const etag = open.etag ?? (await this.store.complete())
    const { number, account, name, contentType: content_type, length: size } = this.store.update({ etag })
    const expires_at = Date.now() + settings(this.env).retentionDays.uploads * DAY_MS
    if (!(await markUploadReady(db, number, { name, content_type, size, etag, expires_at }))) {
      if (!(await findUpload(db, account, number, Date.now()))) {
        await this.remove()
        throw gone()
      }
    }
    await this.ctx.storage.setAlarm(expires_at)
    this.store.clearData({ state: 'ready', expiresAt: expires_at })
    return this.store.record!
  }

  /** Ends an unfinished upload. → false if the account has no such upload. */
  async terminate(account: string): Promise<boolean> {
    if (this.store.record?.account !== account) return false
    await this.interrupt()
    await this.finishing?.catch(() => undefined)
    if (this.store.record.state !== 'gone') await this.remove()
    return true
  }

  /** Called by the reconciler and the alarm. → false if the caller has to remove the upload itself. */
  async expire(): Promise<boolean> {
    if (!this.store.record) return false
    await this.interrupt()
    await this.finishing?.catch(() => undefined)
    if (this.store.record.state === 'open') await this.remove()
    // An upload that was just completed has a new expiry. For one that is gone, its row may remain.
    return this.store.record.state === 'ready'
  }

  /** Bytes first: as long as the row exists in D1, the reconciler finds what could not be deleted now. */
  private async remove(): Promise<void> {
    const { account, number } = this.store.record!
    await this.store.discard()
    await deleteUpload(this.env.DB, account, number)
    // The record answers 410 for as long as a completed upload would have been kept.
    await this.ctx.storage.setAlarm(Date.now() + settings(this.env).retentionDays.uploads * DAY_MS)
    this.store.clearData({ state: 'gone' })
  }

  override async alarm(): Promise<void> {
    const { record } = this.store
    if (record?.state === 'open') await this.expire()
    else await this.ctx.storage.deleteAll()
  }
}

/**
 * Part of every answer about an upload. "This header MUST be included in every PATCH response if the upload is going to
 * expire."
 */
export function uploadStateHeaders(state: Pick<UploadState, 'offset' | 'expiresAt'>): Record<string, string> {
  return { 'upload-offset': String(state.offset), 'upload-expires': new Date(state.expiresAt).toUTCString() }
}
