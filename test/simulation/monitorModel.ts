// In charge of: a model of worker/monitor/jobMonitor.ts and what it is made of (fence, figures, committing, journal, removal), and of worker/monitor/commitOutputs.ts: what survives an
// eviction, what does not, and where others may come between.
// Not in charge of: transitions (databaseModel.ts), requests (workerModel.ts).
import type { TaskState } from '#contract/task/lifecycle.ts'
import type { ProgressPost, ProgressReply } from '#contract/task/protocol.ts'
import type { Live } from '../../worker/monitor/jobProgress.ts'
import { Crash, type Process } from './virtualClock.ts'
import type { Service } from './workerModel.ts'
import type { Store } from './storageModel.ts'

/** What the Durable Object's storage holds. */
interface Durable {
  life: { attempt: number; runningSince: number | null; stale: boolean; heldUntil: number; over: Over | null } | null
  mark: Live | null
  /** The last heartbeat that was made durable. */
  heard: number | null
  alarm: number | null
  uploads: Map<string, number>
  objects: Map<string, number>
  commits: number
}

interface Over {
  since: number
  pass: 'end' | 'late'
  tries: number
}

/** The names and values are those of the code that is modelled. */
const MARK_EVERY_MS = 10_000
const RETRY_MS = 5000
const LATE_MS = 2 * 60_000
export const LEASE_MS = 30_000
const START_LEASE_MS = 30_000
const KEEP_HEARD_MS = LEASE_MS / 3
const WAITING_MS = 2 * 60_000
const HOLD_MS = 60_000

export class Passing extends Error {}

function backOff(tries: number): number {
  return Math.min(5 * 60_000, RETRY_MS * 2 ** (tries - 1))
}

export class Monitor {
  /** Its memory is gone; whatever it was doing ends where it stood. */
  evicted = false
  /** Calls that it is at work on. */
  callers = 0
  touched = 0
  #live: Live | null = null
  #markedAt = -MARK_EVERY_MS
  #heard: number | null = null
  #ended: ProgressReply['verdict'] | null = null
  #committing = false
  readonly durable: Durable
  readonly #service: Service
  readonly #task: string

  constructor(service: Service, task: string, durable: Durable | null) {
    this.#service = service
    this.#task = task
    this.durable = durable ?? empty()
  }

  get #now(): number {
    return this.#service.clock.now
  }

  get #store(): Store {
    return this.#service.store(this.#task)
  }

  *begin(attempt: number): Process {
    const { life } = this.durable
    if (life?.over || (life && attempt < life.attempt)) return
    if (!life && !this.#expects('starting', attempt)) return
    if (life?.attempt === attempt) return this.#arm(this.#now + START_LEASE_MS)
    this.#ended = null
    this.durable.life = {
      attempt,
      runningSince: null,
      stale: attempt > 1,
      heldUntil: 0,
      over: null,
    }
    this.#arm(this.#now + START_LEASE_MS)
    yield* this.#abortUploads(attempt)
  }

  #expects(state: TaskState, attempt: number): boolean {
    const task = this.#service.ledger.find(this.#task)
    return task.state === state && task.attempt === attempt
  }

  running(attempt: number): void {
    const { life } = this.durable
    if (life?.over || (life && attempt < life.attempt)) return
    if (!life && !this.#expects('running', attempt)) return
    this.#heard = this.#now
    this.durable.heard = this.#now
    this.#ended = null
    this.durable.life = {
      attempt,
      runningSince: life?.runningSince ?? this.#now,
      stale: life?.stale ?? false,
      heldUntil: life?.heldUntil ?? 0,
      over: null,
    }
    this.#arm(this.#now + LEASE_MS)
  }

  beat(attempt: number, post: ProgressPost): ProgressReply['verdict'] {
    const standing = this.standing(attempt)
    if (standing === 'over') return this.#ended ?? 'stop'
    if (standing === 'stale') return 'stop'
    this.#heard = this.#now
    if (this.durable.heard === null || this.#now - this.durable.heard >= KEEP_HEARD_MS) this.durable.heard = this.#now
    if (this.#now < (this.durable.life?.heldUntil ?? 0)) return 'continue'
    this.#live = this.#service.rules.highest(this.#live ?? this.durable.mark, { ...post, attempt })
    if (this.#now - this.#markedAt >= MARK_EVERY_MS) {
      this.#markedAt = this.#now
      this.durable.mark = this.#live
    }
    return 'continue'
  }

  standing(attempt: number): 'current' | 'stale' | 'over' {
    if (this.#ended || this.durable.life?.over) return 'over'
    return attempt === this.durable.life?.attempt ? 'current' : 'stale'
  }

  journalUpload(attempt: number, id: string): boolean {
    const current = this.standing(attempt) === 'current'
    if (current) this.durable.uploads.set(id, attempt)
    return current
  }

  journalObject(attempt: number, path: string): boolean {
    const current = this.standing(attempt) === 'current'
    if (current) this.durable.objects.set(path, attempt)
    return current
  }

  /** What was shown is kept: it does not go back when the memory is lost. */
  read(): Live | null {
    if (this.#live && this.durable.life) this.durable.mark = this.#live
    return this.#live ?? this.durable.mark
  }

  /** The figures with which the job may end. */
  lastFigures(): Live | null {
    const { life } = this.durable
    if (life && !life.over) life.heldUntil = this.#now + HOLD_MS
    return this.read()
  }

  ranMs(): number {
    const since = this.durable.life?.runningSince ?? null
    return since === null ? 0 : this.#now - since
  }

  *settle(): Process {
    const task = this.#service.ledger.find(this.#task)
    this.#ended = task.state === 'cancelled' ? 'cancel' : 'stop'
    const { life } = this.durable
    if (!life) return this.#forget()
    life.over ??= { since: this.#now, pass: 'end', tries: 0 }
    this.setAlarm(this.#now + RETRY_MS)
    const below = task.state === 'completed' ? task.attempt : null
    const { over } = life
    if (over.pass === 'late' && this.#now < over.since + LATE_MS) return this.setAlarm(over.since + LATE_MS)
    try {
      yield* this.#abortUploads(null)
      yield this.#service.away()
      this.#store.records.clear()
      const left = [...this.durable.objects].filter(([, attempt]) => below === null || attempt < below)
      if (left.length === 0) return this.#forget()
      yield this.#service.away()
      for (const [path] of left) this.#service.remove(this.#task, path)
      if (over.pass === 'late') return this.#forget()
      life.over = { since: over.since, pass: 'late', tries: 0 }
      this.setAlarm(Math.max(this.#now, over.since + LATE_MS))
    } catch (error) {
      if (!(error instanceof Passing)) throw error
      life.over = { ...over, tries: over.tries + 1 }
      this.setAlarm(this.#now + backOff(over.tries + 1))
    }
  }

  #forget(): void {
    Object.assign(this.durable, empty())
  }

  *#abortUploads(below: number | null): Process {
    for (const [id, attempt] of this.durable.uploads) {
      if (below !== null && attempt >= below) continue
      yield this.#service.away()
      this.#store.uploads.delete(id)
      this.durable.uploads.delete(id)
    }
  }

  *commit(): Process {
    if (this.#committing) {
      // Whoever asks again waits for the same commit, and dies with it.
      while (this.#committing) yield 200
      return
    }
    this.#committing = true
    try {
      yield* this.#tryCommit()
    } finally {
      this.#committing = false
    }
  }

  *#tryCommit(): Process {
    const task = this.#service.ledger.find(this.#task)
    if (task.state !== 'committing') return
    this.durable.commits++
    this.#arm(this.#now + backOff(this.durable.commits))
    try {
      yield* this.#service.commit(this.#task, task.attempt, this)
    } catch (error) {
      if (!(error instanceof Passing)) throw error
      this.#arm(this.#now + backOff(this.durable.commits))
    }
  }

  look(): void {
    if (this.durable.alarm === null) this.setAlarm(this.#now)
  }

  setAlarm(at: number): void {
    this.durable.alarm = at
    this.#service.alarmAt(this.#task, at)
  }

  #arm(at: number): void {
    this.setAlarm(this.durable.life?.stale ? Math.min(at, this.#now) : at)
  }

  *alarm(): Process {
    const service = this.#service
    const { life } = this.durable
    if (!life) return yield* service.schedule()
    yield service.soon()
    const task = service.ledger.find(this.#task)
    if (service.rules.terminal[task.state]) return yield* this.settle()
    if (life.stale) yield* this.#discardStale(life.attempt)
    const now = this.#now
    switch (task.state) {
      case 'queued':
        yield* service.schedule()
        this.#arm(task.not_before > now ? task.not_before : now + WAITING_MS)
        return
      case 'starting':
        if ((task.lease_until ?? now) > now) return this.#arm(task.lease_until!)
        yield* service.apply(this.#task, { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' }, {}, this)
        return
      case 'running': {
        const due = Math.max(
          service.rules.leaseEnd(this.#heard, this.durable.heard, LEASE_MS),
          task.updated_at + LEASE_MS,
        )
        if (due > now) return this.#arm(due)
        yield* service.apply(this.#task, { type: 'lost', attempt: task.attempt, ranMs: this.ranMs() }, {}, this)
        return
      }
      default:
        return yield* this.commit()
    }
  }

  *#discardStale(current: number): Process {
    try {
      yield this.#service.away()
      for (const [path, attempt] of this.durable.objects) if (attempt < current) this.#service.remove(this.#task, path)
    } catch (error) {
      if (error instanceof Crash) throw error
    }
    if (this.durable.life?.attempt === current) this.durable.life.stale = false
  }
}

function empty(): Durable {
  return { life: null, mark: null, heard: null, alarm: null, uploads: new Map(), objects: new Map(), commits: 0 }
}
