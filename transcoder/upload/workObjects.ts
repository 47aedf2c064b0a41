// In charge of: what one attempt at a job leaves for others in the service's own store: storing it, and reading it there.
// Not in charge of: what it is (division/), removing it (the service).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { TaskError } from '#contract/taskError.ts'
import type { FileSlice, TaskClient } from '../taskApi/taskClient.ts'
import type { UploadedObject } from './objectUpload.ts'
import type { TransferLimiter } from './transferLimiter.ts'

/** An object is stored in pieces, each of which is read into memory. */
const PIECE_BYTES = 8 * 1024 * 1024

/** `name`: `<task number>-<attempt>/<file>`, without the number of a piece. */
export interface WorkObject {
  name: string
  bytes: number
  sha256: string
}

export function workDirectory(taskNumber: number, attempt: number): string {
  return `${taskNumber}-${attempt}`
}

/** Returns what others need to read it again. */
export async function putWorkObject(
  taskClient: Pick<TaskClient, 'putWork'>,
  name: string,
  body: FileSlice | Uint8Array,
  signal: AbortSignal,
): Promise<WorkObject> {
  const bytes = 'path' in body ? body.end - body.start : body.length
  for (const [index, { from, to }] of pieces(bytes).entries()) {
    const piece =
      'path' in body ? { path: body.path, start: body.start + from, end: body.start + to } : body.subarray(from, to)
    await taskClient.putWork(pieceName(name, index), piece, signal)
  }
  return { name, bytes, sha256: await digest(body) }
}

async function digest(body: FileSlice | Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  if (!('path' in body)) hash.update(body)
  else if (body.end > body.start) {
    const { path, start, end } = body
    for await (const bytes of createReadStream(path, { start, end: end - 1 })) hash.update(bytes as Buffer)
  }
  return hash.digest('hex')
}

/** Of a stream, fetched while others are read: segments of low rates are small, and each costs a round trip to the store. */
const AHEAD_BYTES = 2 * PIECE_BYTES
const AHEAD_PIECES = 6

/**
 * All bytes in order; the next pieces are fetched while one is read. Throws internal if they differ from the bytes that were
 * stored.
 */
export async function* readWorkObjects(
  taskClient: Pick<TaskClient, 'fetchWork'>,
  objects: readonly WorkObject[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const all = objects.flatMap((object) =>
    pieces(object.bytes).map(({ from, to }, index, { length }) => {
      return { object, name: pieceName(object.name, index), bytes: to - from, isLast: index === length - 1 }
    }),
  )
  const fetched: Promise<Uint8Array>[] = []
  let started = 0
  let ahead = 0
  const fetchAhead = (): void => {
    for (; started < all.length && fetched.length < AHEAD_PIECES; started += 1) {
      const { name, bytes } = all[started]!
      if (ahead > 0 && ahead + bytes > AHEAD_BYTES) break
      ahead += bytes
      const piece = taskClient.fetchWork(name, signal)
      piece.catch(() => undefined) // reported where it is awaited
      fetched.push(piece)
    }
  }
  let hash = createHash('sha256')
  for (const { object, bytes, isLast } of all) {
    fetchAhead()
    const piece = (await fetched.shift())!
    ahead -= bytes
    fetchAhead()
    hash.update(piece)
    if (piece.length !== bytes || (isLast && hash.digest('hex') !== object.sha256))
      throw new TaskError('internal', `What an earlier attempt at the job stored has changed: ${object.name}.`)
    if (isLast) hash = createHash('sha256')
    yield piece
  }
}

/** For an UploadQueue whose paths are names of work objects. */
export function intermediateUploads(taskClient: Pick<TaskClient, 'putWork' | 'openUpload' | 'putUploadPart'>): {
  taskClient: Pick<TaskClient, 'putObject' | 'openUpload' | 'putUploadPart'>
  maxPutBytes: number
} {
  return {
    taskClient: {
      putObject: async (name, _type, body, signal) => {
        await putWorkObject(taskClient, name, body, signal)
      },
      openUpload: (...request) => taskClient.openUpload(...request),
      putUploadPart: (...part) => taskClient.putUploadPart(...part),
    },
    maxPutBytes: Infinity,
  }
}

/** The upload of a finished file; its answer has the name in place of an upload. */
export class WorkUpload {
  readonly #file: string
  readonly #name: string
  readonly #options: {
    taskClient: Pick<TaskClient, 'putWork'>
    limiter: TransferLimiter
    signal: AbortSignal
    onFailure: (error: Error) => void
  }
  #transfer: Promise<unknown> = Promise.resolve()

  constructor(
    file: string,
    name: string,
    options: {
      taskClient: Pick<TaskClient, 'putWork'>
      limiter: TransferLimiter
      signal: AbortSignal
      onFailure: (error: Error) => void
    },
  ) {
    this.#file = file
    this.#name = name
    this.#options = options
  }

  /** The header of an mp4 is written last. */
  advance(): void {}

  finish(): Promise<UploadedObject> {
    const sent = this.#send()
    this.#transfer = sent.catch(this.#options.onFailure)
    return sent
  }

  async waitForTransfers(): Promise<void> {
    await this.#transfer
  }

  async #send(): Promise<UploadedObject> {
    const { taskClient, limiter, signal } = this.#options
    const { size } = await stat(this.#file)
    const slice = { path: this.#file, start: 0, end: size }
    const { sha256 } = await limiter.run(size, signal, () => putWorkObject(taskClient, this.#name, slice, signal))
    return { upload: this.#name, size, sha256, parts: [] }
  }
}

function pieces(bytes: number): { from: number; to: number }[] {
  return Array.from({ length: Math.ceil(bytes / PIECE_BYTES) }, (_, index) => {
    const from = index * PIECE_BYTES
    return { from, to: Math.min(bytes, from + PIECE_BYTES) }
  })
}

function pieceName(name: string, index: number): string {
  return `${name}.${index}`
}
