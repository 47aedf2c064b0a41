// In charge of: the uploads of this tab: progress, pausing and cancelling, and the job that is created when one is
// complete. They continue whatever page is shown.
// Not in charge of: how a file is sent (upload.ts).
import { useEffect, useState } from 'preact/hooks'
import { createJob, asError, type Failure } from '../api/api.ts'
import { onSession } from '../api/session.ts'
import { discardUpload, isResumable, uploadFile } from './upload.ts'
import { DISCARD, type Uploaded } from './uploadResult.ts'
import { previewOf, type Preview } from './preview.ts'
import { rateOf, addSample, type Sample } from './rate.ts'

/** A job that is created when its file is stored. */
export interface PlannedJob {
  body: Record<string, unknown>
  /** Idempotency key: one request makes one job, however often it is sent. */
  once: string
  state: 'waiting' | 'creating' | 'created' | 'refused'
  id: number | null
  failure: Failure | null
}

export interface Transfer {
  id: number
  file: File
  state: 'waiting' | 'sending' | 'paused' | 'stored' | 'failed'
  /** Bytes. */
  sent: number
  samples: readonly Sample[]
  uploaded: Uploaded | null
  failure: Failure | null
  /** null until there is one. */
  preview: Preview | null
  order: PlannedJob | null
}

/** More uploads at once would only share the connection. */
const AT_ONCE = 2

let transfers: readonly Transfer[] = []
let count = 0
const listeners = new Set<() => void>()
/** Aborts a transfer; an entry exists while it sends. */
const running = new Map<number, AbortController>()
/** Aborts the decoding of its preview. */
const decoding = new Map<number, AbortController>()

function set(next: readonly Transfer[]): void {
  transfers = next
  for (const listener of listeners) listener()
}

function change(id: number, part: Partial<Transfer>): void {
  set(transfers.map((each) => (each.id === id ? { ...each, ...part } : each)))
}

const find = (id: number): Transfer | undefined => transfers.find((each) => each.id === id)

export const isActive = ({ state }: Transfer): boolean => state === 'sending' || state === 'waiting'
export const canPause = ({ file, state }: Transfer): boolean => state === 'sending' && isResumable(file)
export const rateOfTransfer = ({ samples }: Transfer): number | null => rateOf(samples)

/** Returns their ids, in the order of the files. */
export function upload(files: Iterable<File>): number[] {
  const added = Array.from(files, (file): Transfer => {
    count += 1
    const none = { uploaded: null, failure: null, preview: null, order: null }
    return { id: count, file, state: 'waiting', sent: 0, samples: [], ...none }
  })
  set([...transfers, ...added])
  for (const { id, file } of added) void preview(id, file)
  startNext()
  return added.map(({ id }) => id)
}

let dropped: readonly number[] = []

/** Of files that were dropped on another page, for the form of a new job. */
export function uploadForNewJob(files: Iterable<File>): void {
  dropped = upload(files)
}

/** Once. */
export function takeDropped(): readonly number[] {
  const taken = dropped
  dropped = []
  return taken
}

async function preview(id: number, file: File): Promise<void> {
  const stopped = new AbortController()
  decoding.set(id, stopped)
  const made = await previewOf(file, stopped.signal)
  decoding.delete(id)
  if (made === null) return
  if (find(id)) change(id, { preview: made })
  else URL.revokeObjectURL(made.url)
}

function startNext(): void {
  for (const { id, state } of transfers) {
    if (running.size >= AT_ONCE) return
    if (state === 'waiting') void send(id)
  }
}

async function send(id: number): Promise<void> {
  const transfer = find(id)
  if (!transfer) return
  const { file } = transfer
  const stopped = new AbortController()
  running.set(id, stopped)
  change(id, { state: 'sending', failure: null, samples: [] })
  const onProgress = (fraction: number) => {
    if (stopped.signal.aborted) return
    const sent = Math.round(fraction * file.size)
    const samples = addSample(find(id)?.samples ?? [], { at: performance.now(), bytes: sent })
    change(id, { sent, samples })
  }
  try {
    const uploaded = await uploadFile(file, onProgress, stopped.signal)
    change(id, { state: 'stored', sent: file.size, uploaded })
    void create(id)
  } catch (error) {
    // Paused or cancelled: the caller that aborted has set the state.
    if (!stopped.signal.aborted) change(id, { state: 'failed', failure: asError(error) })
  } finally {
    if (running.get(id) === stopped) running.delete(id)
    startNext()
  }
}

export function pause(id: number): void {
  change(id, { state: 'paused', samples: [] })
  running.get(id)?.abort()
}

/** Also after a failure: an upload in chunks continues where it stopped. */
export function resume(id: number): void {
  change(id, { state: 'waiting', failure: null })
  startNext()
}

/** Cancels an upload, or removes a complete one from the list; a complete file stays on the service. */
export function remove(id: number): void {
  const transfer = find(id)
  if (!transfer) return
  set(transfers.filter((each) => each.id !== id))
  decoding.get(id)?.abort()
  if (transfer.preview) URL.revokeObjectURL(transfer.preview.url)
  const sending = running.get(id)
  if (sending) sending.abort(DISCARD)
  else if (transfer.state === 'paused' || transfer.state === 'failed') void discardUpload(transfer.file)
}

/** Signing out stops all uploads. */
function stopAll(): void {
  for (const { preview: shown } of transfers) if (shown) URL.revokeObjectURL(shown.url)
  set([])
  for (const controllers of [running, decoding]) for (const stopped of controllers.values()) stopped.abort()
}

/** Creates the job of this body when the upload is complete; the upload becomes its `input`. */
export function planJob(id: number, body: Record<string, unknown>): void {
  change(id, { order: { body, once: crypto.randomUUID(), state: 'waiting', id: null, failure: null } })
  void create(id)
}

/** Also called again after the job was rejected. */
export async function create(id: number): Promise<void> {
  const { order: wanted, uploaded } = find(id) ?? {}
  if (!wanted || !uploaded || wanted.state === 'creating' || wanted.state === 'created') return
  change(id, { order: { ...wanted, state: 'creating', failure: null } })
  try {
    const made = await createJob({ ...wanted.body, input: uploaded.input }, false, wanted.once)
    change(id, { order: { ...wanted, state: 'created', id: made._auto_generated_id_, failure: null } })
  } catch (error) {
    change(id, { order: { ...wanted, state: 'refused', failure: asError(error) } })
  }
}

onSession(({ key }) => {
  if (key === null) stopAll()
})

// Leaving the dashboard ends its uploads, so the browser asks first.
addEventListener('beforeunload', (event) => {
  if (transfers.some((each) => isActive(each) || each.order?.state === 'waiting')) event.preventDefault()
})

export const currentTransfers = (): readonly Transfer[] => transfers

export function useTransfers(): readonly Transfer[] {
  const [seen, setSeen] = useState(transfers)
  useEffect(() => {
    const listener = () => setSeen(transfers)
    listeners.add(listener)
    listener()
    return () => void listeners.delete(listener)
  }, [])
  return seen
}
