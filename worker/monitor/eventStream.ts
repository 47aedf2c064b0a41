// In charge of: the clients that follow one job (Server-Sent Events): what each has received, pings, closing.
// Not in charge of: what an event is (contract/api/events.ts); where events are stored (db/tasks.ts).
import type { PublicEvent } from '#contract/api/answers.ts'
import { sseEventText } from '#contract/api/events.ts'
import { MAX_FOLLOWERS } from '#contract/limits.ts'
import { publicFigures } from '#contract/api/publicStatus.ts'
import type { JobProgress } from '../scheduler/jobProgress.ts'

/** The events in D1; null = the job does not exist any more. */
export type Timeline = { events: PublicEvent[]; isOver: boolean } | null

interface EventClient {
  controller: ReadableStreamDefaultController<Uint8Array>
  /** Id of the last event that was sent to this client. */
  lastSentId: number
  /** The client was sent newer progress than the progress that the stream would start with. */
  hasProgress: boolean
}

/** Shorter than the idle timeouts of proxies. Each ping also reads D1 again, in case a push was lost. */
const PING_MS = 15_000
/** Blocks queued for a slow client before it is disconnected. It can reconnect with its Last-Event-ID. */
const MAX_QUEUED_BLOCKS = 100

const encoder = new TextEncoder()

export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

export class EventStream {
  readonly #clients = new Set<EventClient>()
  #read: (() => Promise<Timeline>) | null = null
  #timer: ReturnType<typeof setInterval> | null = null
  #lastProgress = ''

  get clientCount(): number {
    return this.#clients.size
  }

  /** @returns null when too many clients follow the job */
  async connect(after: number, progress: JobProgress | null, read: () => Promise<Timeline>): Promise<Response | null> {
    if (this.#clients.size >= MAX_FOLLOWERS) return null
    this.#read = read
    let listener: EventClient | undefined
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        listener = { controller, lastSentId: after, hasProgress: false }
        this.#clients.add(listener)
      },
      cancel: () => {
        if (listener) this.#close(listener)
      },
    })
    this.#timer ??= setInterval(() => void this.ping(), PING_MS)
    if (listener) this.#send(listener, 'retry: 2000\n\n')
    await this.sendNewEvents()
    // The latest progress at once: the next report may come a second later.
    if (progress && listener && !listener.hasProgress && this.#clients.has(listener))
      this.#send(listener, sseProgressText(progress))
    return new Response(body, { headers: sseHeaders })
  }

  /** Called after an event was written to D1: each client is sent the events that it lacks. */
  async sendNewEvents(): Promise<void> {
    if (this.#clients.size === 0 || !this.#read) return
    const story = await this.#read()
    for (const listener of this.#clients) {
      for (const event of story?.events ?? []) {
        if (event.id <= listener.lastSentId) continue
        listener.lastSentId = event.id
        this.#send(listener, sseEventText(event))
      }
      if (!story || story.isOver) this.#close(listener)
    }
  }

  sendProgress(progress: JobProgress): void {
    if (this.#clients.size === 0) return
    const text = sseProgressText(progress)
    if (text === this.#lastProgress) return
    this.#lastProgress = text
    for (const listener of this.#clients) {
      listener.hasProgress = true
      this.#send(listener, text)
    }
  }

  /** A comment line keeps the connection open and shows which clients have disconnected. */
  async ping(): Promise<void> {
    for (const listener of this.#clients) this.#send(listener, ': ping\n\n')
    await this.sendNewEvents().catch(() => undefined)
  }

  #send(listener: EventClient, text: string): void {
    try {
      if ((listener.controller.desiredSize ?? 0) < -MAX_QUEUED_BLOCKS) return this.#close(listener)
      listener.controller.enqueue(encoder.encode(text))
    } catch {
      this.#close(listener)
    }
  }

  #close(listener: EventClient): void {
    this.#clients.delete(listener)
    if (this.#clients.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
    }
    try {
      listener.controller.close()
    } catch {
      // Closed by the client.
    }
  }
}

/** Has no id: a client that reconnects is sent the events that it missed and the latest progress. */
function sseProgressText(progress: JobProgress): string {
  const figures = { phase: progress.phase, attempt: progress.attempt, ...publicFigures(progress, false) }
  return `event: progress\ndata: ${JSON.stringify(figures)}\n\n`
}
