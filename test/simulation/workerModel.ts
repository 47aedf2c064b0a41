// In charge of: a model of the Worker's requests, each a process that may die between any two of its effects: create,
// cancel, status, schedule, the queue's consumer, the task door, the sweep, the commit.
// Not in charge of: decisions (contract), the ledger's guards (databaseModel.ts), live state (monitorModel.ts).
import type { JobError } from '#contract/errorCodes.ts'
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import type { ProgressPost, ProgressReply } from '#contract/task/protocol.ts'
import type { Checker } from './invariants.ts'
import { Crash, type Clock, type Process } from './virtualClock.ts'
import type { Ledger, Options, Outcome } from './databaseModel.ts'
import { Monitor, Passing } from './monitorModel.ts'
import type { Random } from '../support/seededRandom.ts'
import type { Rules } from './productionRules.ts'
import type { Scenario } from './scenario.ts'
import { Store, type CommitRecord } from './storageModel.ts'
import type { Transcoder } from './transcoderModel.ts'

/** As in worker/reconciler.ts. */
const LOST_MESSAGE_MS = 10_000
const QUIET_MS = 5 * 60_000
/** A Durable Object that nobody calls leaves memory after this (seen in workerd; on Cloudflare it may be longer). */
const IDLE_EVICTION_MS = 10_000

export class Service {
  readonly transcoders: Transcoder[] = []
  readonly #monitors = new Map<string, Monitor>()
  readonly #stores = new Map<string, Store>()
  readonly clock: Clock
  readonly random: Random
  readonly rules: Rules
  readonly ledger: Ledger
  readonly scenario: Scenario
  readonly checker: Checker

  constructor(parts: Pick<Service, 'clock' | 'random' | 'rules' | 'ledger' | 'scenario' | 'checker'>) {
    this.clock = parts.clock
    this.random = parts.random
    this.rules = parts.rules
    this.ledger = parts.ledger
    this.scenario = parts.scenario
    this.checker = parts.checker
  }

  /** Faults end some day, so that it can be asked whether everything comes to an end then. */
  fault(probability: number): boolean {
    return this.clock.now < this.scenario.faultsUntil && this.random.chance(probability)
  }

  /** A short wait: a round trip, or long enough for a lease to end where the network is bad. */
  readonly soon = (): number =>
    this.fault(this.scenario.pause) ? this.random.whole(1000, 50_000) : this.random.whole(0, 40)

  /** The same for a store, which may fail. @throws Passing */
  away(): number {
    if (this.fault(this.scenario.storeFails)) throw new Passing('the store is away')
    return this.soon()
  }

  store(task: string): Store {
    const store = this.#stores.get(task) ?? new Store()
    this.#stores.set(task, store)
    return store
  }

  remove(task: string, path: string): void {
    this.store(task).objects.delete(path)
    this.checker.stored(task, this.store(task))
  }

  monitor(task: string): Monitor {
    const known = this.#monitors.get(task)
    if (known && known.callers === 0 && this.clock.now - known.touched > IDLE_EVICTION_MS) this.evict(task)
    const monitor = this.#monitors.get(task) ?? new Monitor(this, task, null)
    monitor.touched = this.clock.now
    this.#monitors.set(task, monitor)
    return monitor
  }

  /** A deployment, or the platform's whim. */
  evict(task: string): void {
    const old = this.#monitors.get(task)
    if (!old) return
    old.evicted = true
    this.#monitors.set(task, new Monitor(this, task, old.durable))
  }

  /** A call to a monitor: it ends where it stood when the monitor is evicted. */
  *inside<T>(task: string, work: (monitor: Monitor) => Process<T>): Process<T> {
    const monitor = this.monitor(task)
    const process = work(monitor)
    monitor.callers++
    for (;;) {
      const step = process.next()
      if (step.done) {
        monitor.callers--
        return step.value
      }
      yield step.value
      if (monitor.evicted) throw new Crash('the monitor was evicted')
    }
  }

  /** Runs to its end, unless this Worker dies at one of its steps. @throws Crash */
  *request<T>(process: Process<T>): Process<T> {
    const diesAt = this.fault(this.scenario.crash) ? this.random.whole(0, 12) : Number.POSITIVE_INFINITY
    for (let n = 0; ; n++) {
      const step = process.next()
      if (step.done) return step.value
      if (n === diesAt) {
        // With it goes every monitor that is at work just now.
        for (const [task, { callers }] of this.#monitors) if (callers > 0) this.evict(task)
        throw new Crash('the Worker died')
      }
      yield step.value
    }
  }

  /** Nobody waits for the answer. */
  post(process: Process<unknown>, delayMs = 0): void {
    this.clock.spawn(survived(this.request(process)), delayMs)
  }

  alarmAt(task: string, at: number): void {
    this.clock.spawn(this.#alarm(task, at, 0), Math.max(0, at - this.clock.now))
  }

  *#alarm(task: string, at: number, tries: number): Process {
    const { durable } = this.monitor(task)
    if (durable.alarm !== at) return
    durable.alarm = null
    try {
      yield* this.request(this.inside(task, (monitor) => monitor.alarm()))
    } catch (error) {
      if (!(error instanceof Crash) && !(error instanceof Passing)) throw error
      // The platform tries a failed alarm six times more.
      if (durable.alarm !== null || tries >= 6) return
      const again = this.clock.now + 2000 * 2 ** tries
      durable.alarm = again
      this.clock.spawn(this.#alarm(task, again, tries + 1), again - this.clock.now)
    }
  }

  /** As worker/scheduler/applyEvent.ts. */
  *apply(id: string, event: TaskEvent, options: Options = {}, watcher: Monitor | null = null): Process<Outcome> {
    const watch = (): Monitor => watcher ?? this.monitor(id)
    const figures = (): string | null => {
      const live = watch().lastFigures()
      return live && JSON.stringify(live)
    }
    const result = yield* this.ledger.advance(id, event, options, this.soon, figures)
    if (!result.ok) return result
    if (result.effects.includes('stop_transcoder')) {
      yield this.soon()
      if (!this.fault(this.scenario.loss)) this.transcoders[result.task.slot!]?.cancel(id, result.task.attempt)
    }
    if (result.dueAt !== null) {
      yield this.soon()
      watch().setAlarm(result.dueAt)
    }
    if (result.effects.includes('settle') && result.next.attempt > 0) {
      yield this.soon()
      if (watcher) yield* watcher.settle()
      else yield* this.inside(id, (monitor) => monitor.settle())
    }
    if (result.effects.includes('schedule')) {
      yield this.soon()
      yield* this.schedule()
    }
    return result
  }

  *schedule(): Process {
    const busy = this.ledger.busySlots()
    const free = this.transcoders.map(({ k }) => k).filter((k) => !busy.includes(k))
    if (free.length === 0) return
    yield this.soon()
    const started: { task: string; attempt: number }[] = []
    for (const { id } of this.ledger.waiting(free.length)) {
      const [slot] = free.splice(this.random.whole(0, free.length - 1), 1)
      if (slot === undefined) break
      const claimed = yield* this.ledger.advance(id, { type: 'claim' }, { slot }, this.soon)
      if (claimed.ok) started.push({ task: id, attempt: claimed.next.attempt })
    }
    yield this.soon()
    for (const message of started) this.send(message)
  }

  /** The queue: at least once, in no order, now and then not at all. */
  send(message: { task: string; attempt: number }): void {
    const { loss, duplicates } = this.scenario
    if (this.fault(loss)) return
    for (let n = 0; n < duplicates; n++)
      this.clock.spawn(this.#deliver(message), n === 0 ? this.random.whole(0, 200) : this.random.whole(0, 60_000))
  }

  *#deliver(message: { task: string; attempt: number }): Process {
    for (let tries = 0; tries < 10; tries++) {
      try {
        return yield* this.request(this.#start(message.task, message.attempt))
      } catch (error) {
        if (!(error instanceof Crash)) throw error
        yield 5000
      }
    }
  }

  *#start(id: string, attempt: number): Process {
    const task = this.ledger.find(id)
    if (task.state !== 'starting' || task.attempt !== attempt) return
    yield this.soon()
    try {
      yield* this.inside(id, (monitor) => monitor.begin(attempt))
    } catch (error) {
      if (!(error instanceof Passing)) throw error
      throw new Crash('the message comes again')
    }
    yield this.soon()
    const transcoder = this.transcoders[task.slot!]!
    const accepted =
      !this.fault(this.scenario.loss) && (yield* transcoder.run(id, attempt, this.rules.protocolOf(task.kind)))
    // The answer may be lost where the start was not.
    if (accepted && !this.fault(this.scenario.loss)) return
    yield this.soon()
    yield* this.apply(id, { type: 'start_failed', attempt, reason: 'no_answer' })
  }

  *cancel(id: string): Process {
    const result = yield* this.apply(id, { type: 'cancel' })
    if (result.ok) this.checker.cancelled(id)
  }

  *sweep(): Process {
    for (const { id } of this.ledger.overdue()) yield* this.apply(id, { type: 'deadline' })
    for (const task of this.ledger.neglected(LOST_MESSAGE_MS, QUIET_MS)) {
      yield this.soon()
      if (task.state !== 'starting') this.monitor(task.id).look()
      else if ((task.lease_until ?? 0) < this.clock.now)
        yield* this.apply(task.id, { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' })
      else this.send({ task: task.id, attempt: task.attempt })
    }
    yield* this.schedule()
  }

  status(id: string): PublicStatus {
    const task = this.ledger.find(id)
    const job = this.ledger.jobs.get(task.job)!
    const running = task.state === 'running' || task.state === 'committing'
    const live = running || (task.attempt > 0 && job.finished_at === null) ? this.monitor(id).read() : null
    return this.rules.publicStatus({
      jobId: id,
      job: job.state,
      task: task.state,
      progress: live ?? (job.progress === null ? null : (JSON.parse(job.progress) as ProgressPost)),
      error: job.error === null ? null : (JSON.parse(job.error) as JobError),
      warnings: [],
      outputs: [],
      retryOf: null,
      inputName: id,
      dryRun: task.kind === 'plan',
      estimate: null,
      source: null,
      poster: null,
      archiveUrl: null,
      position: null,
      startsFailed: task.starts_failed,
      notBefore: task.not_before,
      lostTo: null,
      createdAt: job.created_at,
      startedAt: job.started_at,
      finishedAt: job.finished_at,
    })
  }

  // The task door: what each address answers; null = 409, another attempt is current or the job has ended.

  *task(id: string, attempt: number): Process<'ok' | null> {
    const result = yield* this.apply(id, { type: 'started', attempt })
    if (!result.ok && result.refusal !== 'same') return null
    yield this.soon()
    this.checker.heard(id, attempt)
    this.monitor(id).running(attempt)
    return 'ok'
  }

  *progress(id: string, attempt: number, post: ProgressPost): Process<ProgressReply['verdict']> {
    yield this.soon()
    this.checker.heard(id, attempt)
    return this.monitor(id).beat(attempt, post)
  }

  *beginUpload(id: string, attempt: number, path: string): Process<string | null> {
    if (this.monitor(id).standing(attempt) !== 'current') return null
    // R2's uploads that nobody journaled expire by the bucket's rule: only a crash between these two can leave one.
    yield this.away()
    const upload = this.store(id).begin(path, attempt)
    if (this.monitor(id).journalUpload(attempt, upload)) return upload
    this.store(id).uploads.delete(upload)
    return null
  }

  *putObject(id: string, attempt: number, path: string): Process<'ok' | null> {
    if (!this.monitor(id).journalObject(attempt, path)) return null
    // A PUT under way is over within what the late removal waits for.
    yield Math.min(this.away(), 60_000)
    this.store(id).objects.set(path, { attempt, refs: [] })
    return 'ok'
  }

  *finish(id: string, attempt: number, record: CommitRecord, post: ProgressPost): Process<'ok' | null> {
    const before = this.ledger.find(id)
    if (before.attempt !== attempt || before.kind === 'plan') return null
    if (before.state === 'running') {
      yield this.away()
      this.store(id).records.set(attempt, record)
      this.monitor(id).beat(attempt, post)
      const result = yield* this.apply(id, { type: 'finish', attempt })
      if (!result.ok && (result.refusal !== 'same' || this.ledger.find(id).state === 'completed'))
        this.store(id).records.delete(attempt)
      if (!result.ok && result.refusal !== 'same') return null
    } else if (before.state !== 'committing' && before.state !== 'completed') return null
    yield* this.inside(id, (monitor) => monitor.commit())
    return 'ok'
  }

  *estimate(id: string, attempt: number, post: ProgressPost): Process<'ok' | null> {
    const progress = JSON.stringify({ ...post, attempt })
    const result = yield* this.apply(id, { type: 'planned', attempt }, { progress })
    return result.ok || result.refusal === 'same' ? 'ok' : null
  }

  *fail(id: string, attempt: number, error: JobError | null): Process<'ok' | null> {
    const event: TaskEvent = error ? { type: 'attempt_failed', attempt, error } : { type: 'evicted', attempt }
    const result = yield* this.apply(id, event)
    return !result.ok && result.refusal === 'stale' ? null : 'ok'
  }

  /** As worker/monitor/commitOutputs.ts. */
  *commit(id: string, attempt: number, watcher: Monitor): Process {
    const store = this.store(id)
    const record = store.records.get(attempt)
    if (!record) {
      this.checker.fault(id, 'I6', 'a commit has no record')
      return
    }
    const job = this.ledger.jobs.get(this.ledger.find(id).job)!
    try {
      if (this.fault(this.scenario.commitFails)) throw new Lasting()
      for (const { id: upload, path } of record.uploads) {
        yield this.away()
        if (!store.complete(upload) && store.objects.get(path)?.attempt !== attempt) throw new Lasting()
        this.checker.stored(id, store)
      }
      for (const stage of [1, 2])
        for (const { path, refs, stage: mine } of record.written) {
          if (mine !== stage) continue
          yield this.away()
          store.objects.set(path, { attempt, refs })
          this.checker.stored(id, store)
        }
    } catch (error) {
      if (error instanceof Passing && this.clock.now < job.deadline_at) throw error
      if (!(error instanceof Passing) && !(error instanceof Lasting)) throw error
      // What points at others goes first.
      for (const { path } of [...record.uploads, ...record.written].toReversed()) {
        yield this.soon()
        this.remove(id, path)
      }
      const failed: JobError = { code: 'output_forbidden', message: 'An output could not be put in its place.' }
      yield* this.apply(id, { type: 'commit_failed', attempt, error: failed }, {}, watcher)
      store.records.delete(attempt)
      return
    }
    const progress = JSON.stringify({ ...DONE, attempt })
    yield* this.apply(id, { type: 'committed', attempt }, { outputs: '[1]', progress }, watcher)
    store.records.delete(attempt)
  }
}

class Lasting extends Error {}

export const DONE: ProgressPost = {
  phase: 'uploading',
  transcoded: 1,
  transcode_seconds: 10,
  speed: 1,
  bytes_produced: 1000,
  bytes_stored: 1000,
  transfer_seconds: 5,
  eta_seconds: 0,
}

function* survived(process: Process<unknown>): Process {
  try {
    yield* process
  } catch (error) {
    if (!(error instanceof Crash) && !(error instanceof Passing)) throw error
  }
}
