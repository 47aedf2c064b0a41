// In charge of: a model of the ledger: the guards that the SQL of worker/db has, over the service's own state machine,
// with a gap between reading and writing in which anything may happen. It can keep a tape, which sqlReplay.ts plays to the SQL.
// Not in charge of: which change is right (contract/task/lifecycle.ts), who asks for it.
import type { Effect, JobState, TaskEvent, TaskKind, TaskLife } from '#contract/task/lifecycle.ts'
import type { Clock, Process } from './virtualClock.ts'
import type { Rules } from './productionRules.ts'

export interface Task extends TaskLife {
  id: string
  job: number
  account: string
  slot: number | null
  not_before: number
  lease_until: number | null
  updated_at: number
}

export interface Job {
  id: number
  state: JobState
  account: string
  created_at: number
  started_at: number | null
  finished_at: number | null
  deadline_at: number
  error: string | null
  outputs: string | null
  progress: string | null
}

export interface Slot {
  k: number
  task: string | null
  attempt: number | null
  account: string | null
  free_at: number
}

export interface Options {
  slot?: number
  outputs?: string
  progress?: string
}

export type Outcome =
  | { ok: true; task: Task; next: TaskLife; effects: Effect[]; dueAt: number | null }
  | { ok: false; refusal: 'same' | 'stale' | 'terminal' | 'impossible' }

/** What was asked of the ledger, in order. `read` to `write` of one call is open: others may come between. */
export type Tape = (
  | { kind: 'insert'; job: Job; task: Task }
  | {
      kind: 'read'
      call: number
      now: number
      task: string
      event: TaskEvent
      options: Options
      figures: string | null
      open: boolean
    }
  | { kind: 'write'; call: number; now: number; won: boolean; open: boolean; figures: string | null; rows: Rows }
  | { kind: 'waiting'; now: number; limit: number; tasks: string[] }
  | { kind: 'busy'; now: number; slots: number[] }
  | { kind: 'overdue'; now: number; tasks: string[] }
  | { kind: 'neglected'; now: number; startMs: number; quietMs: number; tasks: string[] }
)[]

export interface Rows {
  task: Task
  job: Job
  slots: Slot[]
}

/** The same as in worker/scheduler/transitionTask.ts; sqlReplay.ts finds it out when they part. */
const START_LEASE_MS = 30_000
const SLOT_REST_MS = 1500
const MAX_RACES = 5

export interface Change {
  before: Task
  after: Task
  event: TaskEvent
}

export class Ledger {
  readonly tasks = new Map<string, Task>()
  readonly jobs = new Map<number, Job>()
  readonly slots = new Map<number, Slot>()
  readonly #clock: Clock
  readonly #rules: Rules
  readonly #tape: Tape | null
  readonly #changed: (change: Change) => void
  #calls = 0

  constructor(clock: Clock, rules: Rules, tape: Tape | null, changed: (change: Change) => void) {
    this.#clock = clock
    this.#rules = rules
    this.#tape = tape
    this.#changed = changed
  }

  insert(id: number, account: string, kind: TaskKind, deadlineAt: number): Task {
    const now = this.#clock.now
    const job: Job = {
      id,
      account,
      state: 'queued',
      created_at: now,
      started_at: null,
      finished_at: null,
      deadline_at: deadlineAt,
      error: null,
      outputs: null,
      progress: null,
    }
    const task: Task = {
      id: `job${id}-0`,
      job: id,
      account,
      kind,
      state: 'queued',
      attempt: 0,
      lost: 0,
      starts_failed: 0,
      slot: null,
      not_before: 0,
      lease_until: null,
      updated_at: now,
    }
    this.jobs.set(id, job)
    this.tasks.set(task.id, task)
    this.#tape?.push({ kind: 'insert', job: { ...job }, task: { ...task } })
    return task
  }

  find(id: string): Task {
    return { ...this.tasks.get(id)! }
  }

  /** As worker/scheduler/transitionTask.ts; it waits `gap()` ms between its read and its guarded write. */
  *advance(
    id: string,
    event: TaskEvent,
    asked: Options,
    gap: () => number,
    figures: () => string | null = () => null,
  ): Process<Outcome> {
    const call = this.#calls++
    for (let race = 0; ; race++) {
      const task = this.find(id)
      const now = this.#clock.now
      const decided = this.#rules.transition(task, event)
      const open = decided.ok && race < MAX_RACES
      const ends = decided.ok && this.#rules.terminal[decided.next.state]
      const progress = asked.progress ?? (open && ends ? figures() : null)
      const options = { ...asked, ...(progress === null ? {} : { progress }) }
      if (race === 0)
        this.#tape?.push({ kind: 'read', call, now, task: id, event, options: asked, figures: progress, open })
      else this.#tape?.push({ kind: 'write', call, now, won: false, open, figures: progress, rows: this.#rows(task) })
      if (!decided.ok) return decided
      if (race === MAX_RACES) return { ok: false, refusal: 'impossible' }
      yield gap()
      const { next, effects } = decided
      const due = decided.delayMs > 0 ? now + decided.delayMs : null
      const after: Task = {
        ...task,
        ...next,
        not_before: due ?? task.not_before,
        lease_until: next.state === 'starting' ? now + START_LEASE_MS : null,
        slot: next.state === 'starting' ? (options.slot ?? null) : next.state === 'running' ? task.slot : null,
        updated_at: now,
      }
      if (this.#write(task, after, effects, now, options, decided.error ? JSON.stringify(decided.error) : null)) {
        this.#changed({ before: task, after: this.find(id), event })
        this.#tape?.push({ kind: 'write', call, now, won: true, open: false, figures: null, rows: this.#rows(task) })
        return { ok: true, task, next, effects, dueAt: due }
      }
      if (event.type === 'claim') {
        this.#tape?.push({ kind: 'write', call, now, won: false, open: false, figures: null, rows: this.#rows(task) })
        return { ok: false, refusal: 'impossible' }
      }
    }
  }

  #write(from: Task, to: Task, effects: Effect[], now: number, options: Options, error: string | null): boolean {
    const row = this.tasks.get(from.id)!
    const { state } = to
    const seen = row.state === from.state && row.attempt === from.attempt && row.lost === from.lost
    if (effects.includes('take_slot')) {
      const slot = this.slots.get(to.slot!)
      const free = !slot || (slot.task === null && slot.free_at <= now)
      const holds = [...this.slots.values()].some((other) => other.task === from.id)
      if (!seen || !free || holds) return false
      Object.assign(row, to)
      this.slots.set(to.slot!, { k: to.slot!, task: from.id, attempt: to.attempt, account: to.account, free_at: 0 })
      return true
    }
    if (seen) Object.assign(row, to)
    // The other statements of the batch run also where the first changed nothing: each has its own guard.
    const active = row.attempt === from.attempt && (row.state === 'starting' || row.state === 'running')
    for (const slot of this.slots.values()) {
      if (slot.task !== from.id || slot.attempt !== from.attempt || active) continue
      if (effects.includes('release_slot')) this.slots.delete(slot.k)
      else if (effects.includes('rest_slot'))
        this.slots.set(slot.k, { k: slot.k, task: null, attempt: null, account: null, free_at: now + SLOT_REST_MS })
    }
    const jobs = this.#rules.jobState
    if (jobs(state) === jobs(from.state)) return seen
    const job = this.jobs.get(from.job)!
    const mirrored = row.state === state && row.attempt === to.attempt && row.lost === to.lost
    const open = job.state === 'queued' || job.state === 'running' || job.state === 'committing'
    if (!mirrored || !open) return seen
    const over = this.#rules.terminal[state]
    job.state = jobs(state)
    if (job.state === 'running') job.started_at ??= now
    if (over) job.finished_at = now
    job.error = error ?? job.error
    job.outputs = options.outputs ?? (over && to.attempt > 0 ? '[]' : null) ?? job.outputs
    job.progress = options.progress ?? job.progress
    return seen
  }

  #rows({ id, job }: Task): Rows {
    const slots = [...this.slots.values()].toSorted((a, b) => a.k - b.k)
    if (!this.#tape) return { task: this.tasks.get(id)!, job: this.jobs.get(job)!, slots }
    return { task: this.find(id), job: { ...this.jobs.get(job)! }, slots: slots.map((slot) => ({ ...slot })) }
  }

  busySlots(): number[] {
    const { now } = this.#clock
    const busy = [...this.slots.values()].filter((slot) => slot.task !== null || slot.free_at > now)
    const slots = busy.map(({ k }) => k).toSorted((a, b) => a - b)
    this.#tape?.push({ kind: 'busy', now, slots })
    return slots
  }

  /** Fair share, then turns of accounts, then who has waited longest; priorities are all the same here. */
  waiting(limit: number): Task[] {
    const { now } = this.#clock
    const holds = new Map<string, number>()
    for (const { account } of this.slots.values())
      if (account !== null) holds.set(account, (holds.get(account) ?? 0) + 1)
    const queued = [...this.tasks.values()].filter(({ state }) => state === 'queued')
    const served = new Map<string, number>()
    const was = (account: string, at: number) => served.set(account, Math.max(served.get(account) ?? 0, at))
    for (const { account, started_at: at } of this.jobs.values()) was(account, at ?? 0)
    for (const { account, attempt, updated_at: at } of queued) was(account, attempt > 0 ? at : 0)
    const byAge = (a: Task, b: Task) => a.updated_at - b.updated_at || a.job - b.job
    const found = queued
      .toSorted(byAge)
      .map((task) => {
        const share = (holds.get(task.account) ?? 0) + 1
        holds.set(task.account, share)
        return { task, share }
      })
      .filter(({ task }) => task.not_before <= now)
      .toSorted(
        (a, b) =>
          a.share - b.share || served.get(a.task.account)! - served.get(b.task.account)! || byAge(a.task, b.task),
      )
      .slice(0, limit)
      .map(({ task }) => task)
    this.#tape?.push({ kind: 'waiting', now, limit, tasks: found.map(({ id }) => id) })
    return found
  }

  overdue(): Task[] {
    const { now } = this.#clock
    const found = [...this.tasks.values()].filter((task) => {
      const job = this.jobs.get(task.job)!
      return (job.state === 'queued' || job.state === 'running') && job.deadline_at < now
    })
    this.#tape?.push({ kind: 'overdue', now, tasks: found.map(({ id }) => id) })
    return found
  }

  neglected(startMs: number, quietMs: number): Task[] {
    const { now } = this.#clock
    const found = [...this.tasks.values()].filter(
      ({ state, updated_at: at }) =>
        (state === 'starting' && at < now - startMs) ||
        ((state === 'running' || state === 'committing') && at < now - quietMs),
    )
    this.#tape?.push({ kind: 'neglected', now, startMs, quietMs, tasks: found.map(({ id }) => id) })
    return found
  }
}
