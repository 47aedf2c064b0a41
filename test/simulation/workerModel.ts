// In charge of: the Worker around its real classes: Durable Objects that come and go, alarms, the queue, and a model of
// the requests of clients, of the queue consumer and of the reconciler.
// Not in charge of: requests of transcoders (taskApiModel.ts); the monitor, commits, transitions and the scheduler: these
// are the service's own code (productionCode.ts).
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import type { JobMonitor } from '../../worker/monitor/jobMonitor.ts'
import type { Checker } from './invariants.ts'
import type { Clock, Process } from './virtualClock.ts'
import { settled } from './virtualClock.ts'
import type { Code } from './productionCode.ts'
import type { Ledger } from './ledger.ts'
import { type Durable, envOf, storageOf } from './platformModel.ts'
import { Crash, Program } from './program.ts'
import type { Random } from '../support/seededRandom.ts'
import type { Scenario } from './scenario.ts'
import { Store } from './storageModel.ts'
import { jobOf, monitorOf } from './taskNames.ts'
import type { Transcoder } from './transcoderModel.ts'

/** As in worker/reconciler.ts. */
const LOST_MESSAGE_MS = 10_000
const QUIET_MS = 5 * 60_000
/** An idle Durable Object leaves memory after this (seen in workerd; on Cloudflare it may be longer). */
const IDLE_EVICTION_MS = 10_000
/** How often the platform retries a failed alarm. */
const ALARM_TRIES = 6

/** A monitor in memory. */
interface Instance {
  program: Program
  monitor: JobMonitor
  loaded: Promise<unknown>
  callers: number
  /** Open connections keep it in memory. */
  followers: number
  lastAccess: number
}

export class Passing extends Error {}

export class Service {
  readonly transcoders: Pick<Transcoder, 'run' | 'cancel' | 'kill' | 'freeze' | 'stop'>[] = []
  /** Uploads begun so far. */
  uploads = 0
  readonly #durables = new Map<string, Durable>()
  readonly #instances = new Map<string, Instance>()
  readonly #stores = new Map<string, Store>()
  readonly #ran = new Map<string, Set<number>>()
  readonly clock: Clock
  readonly random: Random
  readonly code: Code
  readonly ledger: Ledger
  readonly scenario: Scenario
  readonly checker: Checker

  constructor(parts: Pick<Service, 'clock' | 'random' | 'code' | 'ledger' | 'scenario' | 'checker'>) {
    this.clock = parts.clock
    this.random = parts.random
    this.code = parts.code
    this.ledger = parts.ledger
    this.scenario = parts.scenario
    this.checker = parts.checker
  }

  /** Faults stop at some time, to check that everything then comes to an end. */
  fault(probability: number): boolean {
    return this.clock.now < this.scenario.faultsUntil && this.random.chance(probability)
  }

  /** How many attempts of a task ran before this one. */
  attemptsBefore(id: string, attempt: number): number {
    const ran = this.#ran.get(id) ?? new Set<number>()
    this.#ran.set(id, ran.add(attempt))
    return [...ran].filter((other) => other < attempt).length
  }

  /** A short wait: a round trip, or, on a bad network, long enough for a lease to expire. */
  readonly soon = (): number =>
    this.fault(this.scenario.pause) ? this.random.whole(1000, 50_000) : this.random.whole(0, 40)

  /** The same for R2, which may fail. @throws Passing */
  away(): number {
    if (this.fault(this.scenario.storeFails)) throw new Passing('we encountered an internal error (10001)')
    return this.soon()
  }

  store(job: string): Store {
    const store = this.#stores.get(job) ?? new Store()
    this.#stores.set(job, store)
    return store
  }

  #durable(job: string): Durable {
    const durable = this.#durables.get(job) ?? { entries: new Map(), alarm: null }
    this.#durables.set(job, durable)
    return durable
  }

  /** What a monitor still has in its storage. */
  remembers(monitor: string): string[] {
    return [...(this.#durables.get(monitor)?.entries.keys() ?? [])]
  }

  #instance(job: string): Instance {
    const known = this.#instances.get(job)
    const isIdle = known?.callers === 0 && known.followers === 0
    if (isIdle && this.clock.now - known.lastAccess > IDLE_EVICTION_MS) this.evict(job)
    let instance = this.#instances.get(job)
    if (!instance) {
      const program = new Program(this.clock)
      program.env = envOf(this, program)
      const storage = storageOf(this.#durable(job), program, (at) => this.#alarmAt(job, at))
      let loaded: Promise<unknown> = Promise.resolve()
      const blockConcurrencyWhile = (work: () => Promise<unknown>) => (loaded = work())
      // What a monitor does behind an answer ends with it, as everything else.
      const waitUntil = (work: Promise<unknown>) => void work.catch(this.survive)
      const state = { storage, blockConcurrencyWhile, waitUntil } as unknown as DurableObjectState
      instance = {
        program,
        monitor: new this.code.JobMonitor(state, program.env),
        loaded,
        callers: 0,
        followers: 0,
        lastAccess: 0,
      }
      this.#instances.set(job, instance)
    }
    instance.lastAccess = this.clock.now
    return instance
  }

  /** A deployment or an eviction by the platform: its memory is lost, and its work stops where it is. */
  evict(job: string): void {
    const instance = this.#instances.get(job)
    this.#instances.delete(job)
    instance?.program.end()
  }

  /** A call to a monitor, which may end at any of its effects. @throws Crash */
  async call<T>(job: string, work: (monitor: JobMonitor) => T | Promise<T>, mayEnd = true): Promise<T> {
    const instance = this.#instance(job)
    const { program, monitor, loaded } = instance
    instance.callers++
    if (!mayEnd) program.left = Number.POSITIVE_INFINITY
    else if (this.fault(this.scenario.crash)) program.left = this.random.whole(0, 12)
    try {
      return await program.run(loaded.then(() => work(monitor)))
    } finally {
      instance.callers--
      program.left = Number.POSITIVE_INFINITY
      if (program.isOver && this.#instances.get(job) === instance) this.#instances.delete(job)
    }
  }

  /**
   * Opens an event stream of a job, after event number `after`: each call returns the next event, or null at the end.
   */
  async follow(job: string, after: number): Promise<() => Promise<string | null>> {
    const request = new Request(`http://monitor/?job=${job}&after=${after}`)
    const { body } = await this.call(job, (monitor) => monitor.fetch(request))
    const instance = this.#instances.get(job)
    if (!instance || !body) throw new Crash('the connection broke')
    const reader = body.getReader()
    instance.followers++
    return async () => {
      try {
        const { value } = await instance.program.run(reader.read())
        if (!value) instance.followers--
        return value ? new TextDecoder().decode(value as Uint8Array) : null
      } catch (error) {
        void reader.cancel()
        throw error
      }
    }
  }

  /** Runs to the end, unless this Worker crashes at one of its effects. @throws Crash */
  request<T>(work: (program: Program) => Promise<T>): Promise<T> {
    // The crash also ends every active monitor.
    const program = new Program(this.clock, () => {
      for (const [job, { callers }] of this.#instances) if (callers > 0) this.evict(job)
    })
    program.env = envOf(this, program)
    if (this.fault(this.scenario.crash)) program.left = this.random.whole(0, 12)
    return program.run(work(program))
  }

  /** The caller does not wait for the answer. */
  post(work: (program: Program) => Promise<unknown>, delayMs = 0): void {
    this.clock.later(delayMs, () => void this.request(work).catch((error: unknown) => this.survive(error)))
  }

  /** Errors with which a request or an alarm may end; any other is a bug. */
  readonly survive = (error: unknown): void => {
    const isPassing = error instanceof Crash || error instanceof Passing || (error as Error).name === 'StoreError'
    if (!isPassing) this.checker.fault('', 'I1', `an unexpected error: ${(error as Error).stack}`)
  }

  #alarmAt(job: string, at: number, tries = 0): void {
    this.clock.later(Math.max(0, at - this.clock.now), () => void this.#alarm(job, at, tries))
  }

  async #alarm(job: string, at: number, tries: number): Promise<void> {
    const durable = this.#durable(job)
    if (durable.alarm !== at) return
    durable.alarm = null
    this.checker.note(`${job} alarm`)
    try {
      await this.call(job, (monitor) => monitor.alarm())
    } catch (error) {
      this.survive(error)
      if (durable.alarm !== null || tries >= ALARM_TRIES) return
      durable.alarm = this.clock.now + 2000 * 2 ** tries
      this.#alarmAt(job, durable.alarm, tries + 1)
    }
  }

  /** The queue delivers at least once, in any order, and sometimes not at all. */
  send(message: { task: string; attempt: number }): void {
    const { loss, duplicates } = this.scenario
    if (this.fault(loss)) return
    for (let n = 0; n < duplicates; n++)
      this.clock.spawn(this.#deliver(message), n === 0 ? this.random.whole(0, 200) : this.random.whole(0, 60_000))
  }

  *#deliver(message: { task: string; attempt: number }): Process {
    for (let tries = 0; tries < 10; tries++) {
      try {
        return yield* settled(this.request((program) => this.#start(program, message.task, message.attempt)))
      } catch (error) {
        this.survive(error)
        yield 5000
      }
    }
  }

  /** `applyEvent`, in a request. */
  apply(program: Program, id: string, event: TaskEvent, options: Parameters<Code['apply']>[3] = {}) {
    program.asked = { id, event }
    return this.code.apply(program.env, { id, jobId: jobOf(id) }, event, options)
  }

  monitor({ env }: Program, id: string) {
    return env.MONITOR.get(env.MONITOR.idFromName(monitorOf(id)))
  }

  watched(id: string, attempt: number) {
    const { job, account } = this.ledger.find(id)
    return { job, jobId: jobOf(id), account, task: id, attempt }
  }

  /** As worker/scheduler/queueConsumer.ts. */
  async #start(program: Program, id: string, attempt: number): Promise<void> {
    const task = await this.code.tasks.findTask(program.env.DB, id)
    if (task?.state !== 'starting' || task.attempt !== attempt) return
    await this.monitor(program, id).attemptStarting(this.watched(id, attempt), this.code.startLeaseMs)
    const transcoder = this.transcoders[task.slot!]!
    const isAccepted = await program.effect(
      () => !this.fault(this.scenario.loss) && transcoder.run(id, attempt, TASK_PROTOCOL),
      this.soon(),
    )
    // The answer may be lost although the attempt was started.
    if (isAccepted && !this.fault(this.scenario.loss)) return
    await this.apply(program, id, { type: 'start_failed', attempt, reason: 'no_answer' })
  }

  async cancel(program: Program, id: string): Promise<void> {
    const result = await this.apply(program, id, { type: 'cancel' })
    if (result.ok) this.checker.cancelled(id)
  }

  /** As worker/reconciler.ts. */
  async sweep(program: Program): Promise<void> {
    const { now } = this.clock
    const { env } = program
    for (const { task } of await this.code.jobs.listOverdueJobs(env.DB, now, 100))
      await this.apply(program, task, { type: 'deadline' })
    const refOf = ({ id, job_id: jobId }: { id: string; job_id: string }) => ({ id, jobId })
    for (const main of await this.code.parts.listSettledMains(env.DB, 100)) await this.code.checkMain(env, refOf(main))
    const orphans = await this.code.parts.listOrphanedParts(env.DB, 100)
    // A scheduler that was slow chose them while their main task still waited for them.
    for (const { id } of orphans) await this.code.transition(env, id, { type: 'claim' }, { slot: 0 })
    // Nor had it read that the part which this one needs is not stored.
    const held = this.ledger.heldBack()
    const early = held === undefined ? null : await this.code.transition(env, held, { type: 'claim' }, { slot: 0 })
    // That one was stored meanwhile.
    if (early?.ok === true) this.send({ task: early.task.id, attempt: early.next.attempt })
    await this.code.endParts(env, orphans)
    for (const task of await this.code.tasks.listUnattendedTasks(env.DB, now, LOST_MESSAGE_MS, QUIET_MS, 100)) {
      if (task.state !== 'starting') await this.monitor(program, task.id).ensureAlarm()
      else if ((task.lease_until ?? 0) < now)
        await this.apply(program, task.id, { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' })
      else this.send({ task: task.id, attempt: task.attempt })
    }
    await this.code.schedule(env)
  }

  /** As worker/jobs/jobStatus.ts. */
  async status({ env }: Program, id: string): Promise<PublicStatus> {
    const job = (await this.code.jobs.findJobByJobId(env.DB, jobOf(id)))!
    const isRunning = ['running', 'divided', 'committing'].includes(job.task_state)
    const isLive = isRunning || (job.attempt > 0 && job.finished_at === null)
    // Without delay: a request that stalls here until the job has ended and its monitor has deleted its state shows no
    // progress.
    const live = isLive ? await this.call(job.job_id, (monitor) => monitor.progress()) : null
    return this.code.publicStatus({
      jobId: id,
      job: job.state,
      task: job.task_state,
      progress: live ?? job.progress,
      error: job.error,
      warnings: [],
      outputs: [],
      retryOf: null,
      parts: null,
      isDivided: job.parts > 0,
      surveying: job.parts > 0 && job.parts === job.survey_parts,
      inputName: id,
      dryRun: job.kind === 'plan',
      estimate: null,
      source: null,
      poster: null,
      archiveUrl: null,
      position: null,
      startsFailed: job.starts_failed,
      startFailure: 'no_answer',
      notBefore: job.not_before,
      lastLostError: null,
      createdAt: job.created_at,
      startedAt: job.started_at,
      finishedAt: job.finished_at,
    })
  }
}
