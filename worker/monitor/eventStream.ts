// In charge of: the clients that follow one job (Server-Sent Events): what each has been sent, pings, their end.
// Not in charge of: what an event is (contract/api/events.ts); where it is kept (db/tasks.ts).
import type { PublicEvent } from '#contract/api/answers.ts'
import { eventText } from '#contract/api/events.ts'
import { MAX_FOLLOWERS } from '#contract/limits.ts'
import { publicFigures } from '#contract/api/publicStatus.ts'
import type { Live } from './jobProgress.ts'

/** What the ledger knows; null = the job is gone. */
export type Story = { events: PublicEvent[]; over: boolean } | null

interface Listener {
  controller: ReadableStreamDefaultController<Uint8Array>
  /** The last event that it has. */
  sent: number
  /** Newer than the progress that it would begin with. */
  hasProgress: boolean
}

/** Shorter than the idle limits of proxies. The ledger is read again too, should a push have been lost. */
const PING_MS = 15_000
/** Chunks that a client may be behind; it can come again with its Last-Event-ID. */
const MAX_BEHIND = 100

const encoder = new TextEncoder()

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

export class Listeners {
  readonly #open = new Set<Listener>()
  #read: (() => Promise<Story>) | null = null
  #timer: ReturnType<typeof setInterval> | null = null
  #figures = ''

  get count(): number {
    return this.#open.size
  }

  /** @returns null when there are too many */
  async listen(after: number, live: Live | null, read: () => Promise<Story>): Promise<Response | null> {
    if (this.#open.size >= MAX_FOLLOWERS) return null
    this.#read = read
    let listener: Listener | undefined
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        listener = { controller, sent: after, hasProgress: false }
        this.#open.add(listener)
      },
      cancel: () => {
        if (listener) this.#close(listener)
      },
    })
    this.#timer ??= setInterval(() => void this.ping(), PING_MS)
    if (listener) this.#send(listener, 'retry: 2000\n\n')
    await this.refresh()
    // The latest figures at once: the next ones may be a second away.
    if (live && listener && !listener.hasProgress && this.#open.has(listener)) this.#send(listener, progressText(live))
    return new Response(body, { headers: streamHeaders })
  }

  /** Something was written to the ledger: everyone is sent what is new to them. */
  async refresh(): Promise<void> {
    if (this.#open.size === 0 || !this.#read) return
    const story = await this.#read()
    for (const listener of this.#open) {
      for (const event of story?.events ?? []) {
        if (event.id <= listener.sent) continue
        listener.sent = event.id
        this.#send(listener, eventText(event))
      }
      if (!story || story.over) this.#close(listener)
    }
  }

  progress(live: Live): void {
    if (this.#open.size === 0) return
    const text = progressText(live)
    if (text === this.#figures) return
    this.#figures = text
    for (const listener of this.#open) {
      listener.hasProgress = true
      this.#send(listener, text)
    }
  }

  /** A comment line: the stream is alive, and a client that is gone is noticed. */
  async ping(): Promise<void> {
    for (const listener of this.#open) this.#send(listener, ': ping\n\n')
    await this.refresh().catch(() => undefined)
  }

  #send(listener: Listener, text: string): void {
    try {
      if ((listener.controller.desiredSize ?? 0) < -MAX_BEHIND) return this.#close(listener)
      listener.controller.enqueue(encoder.encode(text))
    } catch {
      this.#close(listener)
    }
  }

  #close(listener: Listener): void {
    this.#open.delete(listener)
    if (this.#open.size === 0 && this.#timer !== null) {
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

/** Without an id: a client that comes again is given the events that it missed, and the latest figures. */
function progressText(live: Live): string {
  const figures = { phase: live.phase, attempt: live.attempt, ...publicFigures(live, false) }
  return `event: progress\ndata: ${JSON.stringify(figures)}\n\n`
}
