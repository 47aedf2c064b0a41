// In charge of: one divided job on many transcoders in virtual time, without faults: the service's own ledger,
// scheduler, monitors and commit, with given durations of its tasks.
// Not in charge of: where the durations come from, what they mean (bench/rows/replay.ts).
import { join } from 'node:path'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { Random } from '../support/seededRandom.ts'
import { type Change, Ledger } from './databaseModel.ts'
import { Checker } from './invariants.ts'
import { MeasuredTranscoder, type TaskCosts } from './measuredTranscoder.ts'
import { type Code, loadCode } from './productionCode.ts'
import type { Program } from './program.ts'
import { OLD_BUILD, type JobShape, type Scenario } from './scenario.ts'
import { takeGlobals } from './simulate.ts'
import { Clock, type Process } from './virtualClock.ts'
import { Service } from './workerModel.ts'

export interface Replayed {
  /** From the creation of the job to its commit. */
  seconds: number
  /** Until the job was divided into chunks. */
  surveySeconds: number
  /** From the end of the last part until the commit. */
  assemblySeconds: number
  /** From the claim of each part to its delivery, without those of the survey; by position. */
  partSeconds: number[]
  /** The share of `seconds` times the transcoders in which they worked. */
  utilization: number
  /** Changes of a task's row, of all tasks; and transactions that write, all told. */
  taskChanges: number
  transactions: number
  heartbeats: number
  /** Calls of Durable Objects. */
  calls: number
  /** The most requests within one second: at the database, at all Durable Objects, at any one of them. */
  busiest: { database: number; monitors: number; oneMonitor: number }
}

const DAY_MS = 24 * 60 * 60_000
const SWEEP_MS = 60_000
const SEED = 17

/** Counts by whole seconds of virtual time. */
class PerSecond {
  total = 0
  most = 0
  readonly #clock: Clock
  #second = 0
  #count = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(): void {
    const second = Math.floor(this.#clock.now / 1000)
    if (second !== this.#second) [this.#second, this.#count] = [second, 0]
    this.total++
    this.most = Math.max(this.most, ++this.#count)
  }
}

class CountedLedger extends Ledger {
  transactions = 0
  readonly requests: PerSecond

  constructor(code: Code, clock: Clock, changed: (change: Change) => void) {
    super(code, null, changed)
    this.requests = new PerSecond(clock)
  }

  override database(program: Program, soon: () => number): D1Database {
    // Asked once for each request.
    const db = super.database(program, () => {
      this.requests.add()
      return soon()
    })
    const change = db.batch.bind(db)
    const batch = (statements: D1PreparedStatement[]) => {
      this.transactions++
      return change(statements)
    }
    return Object.assign(db, { batch })
  }
}

class CountedService extends Service {
  readonly calls = new PerSecond(this.clock)
  readonly callsOf = new Map<string, PerSecond>()

  override call<T>(job: string, work: Parameters<Service['call']>[1], mayEnd = true): Promise<T> {
    const own = this.callsOf.get(job) ?? new PerSecond(this.clock)
    this.callsOf.set(job, own)
    own.add()
    this.calls.add()
    return super.call(job, work, mayEnd) as Promise<T>
  }
}

/** @throws Error if the job does not succeed, or if an invariant of the simulation does not hold */
export async function replay(costs: TaskCosts, transcoders: number): Promise<Replayed> {
  const code = await loadCode(join(import.meta.dirname, '../..'))
  const clock = new Clock()
  const random = new Random(SEED)
  const restore = takeGlobals(clock, random)
  try {
    return await play(code, clock, random, costs, transcoders)
  } finally {
    restore()
  }
}

async function play(
  code: Code,
  clock: Clock,
  random: Random,
  costs: TaskCosts,
  transcoders: number,
): Promise<Replayed> {
  const scenario = calm(costs, transcoders)
  const checker = new Checker(clock, null)
  const times = new Times(clock, costs.surveys.length)
  const ledger = new CountedLedger(code, clock, (change) => {
    checker.changed(change)
    times.changed(change)
  })
  checker.ledger = ledger
  checker.scenario = scenario
  checker.isCalm = true
  const service = new CountedService({ clock, random, code, ledger, scenario, checker })
  const all = Array.from({ length: transcoders }, () => new MeasuredTranscoder(service, costs))
  service.transcoders.push(...all)
  const main = ledger.insert(1, 0, { account: 'account', kind: 'transcode', deadline_at: DAY_MS, hurry_at: null }).id
  service.post(({ env }) => code.schedule(env))
  clock.spawn(everySweep(service, clock))
  while (ledger.find(main).state !== 'completed' && checker.violations.length === 0 && clock.now < DAY_MS) {
    const more = clock.step()
    if (more === false || (more !== true && !(await more))) break
  }
  const [violation] = checker.violations
  if (violation) throw new Error(`${violation.invariant} at ${violation.at} ms, ${violation.task}: ${violation.what}`)
  const { state } = ledger.find(main)
  if (state !== 'completed') throw new Error(`The job is ${state} after ${clock.now / 1000} s.`)
  const seconds = clock.now / 1000
  const worked = all.reduce((sum, transcoder) => sum + transcoder.worked, 0) / 1000
  return {
    seconds,
    surveySeconds: times.dividedAt / 1000,
    assemblySeconds: (clock.now - times.deliveredAt) / 1000,
    partSeconds: times.partSeconds,
    utilization: worked / (seconds * transcoders),
    taskChanges: times.changes,
    transactions: ledger.transactions,
    heartbeats: all.reduce((sum, { heartbeats }) => sum + heartbeats, 0),
    calls: service.calls.total,
    busiest: {
      database: ledger.requests.most,
      monitors: service.calls.most,
      oneMonitor: Math.max(...[...service.callsOf.values()].map(({ most }) => most)),
    },
  }
}

/** What happened when, as the database saw it. */
class Times {
  changes = 0
  dividedAt = 0
  deliveredAt = 0
  readonly partSeconds: number[] = []
  readonly #clock: Clock
  readonly #surveys: number
  readonly #claimed = new Map<string, number>()

  constructor(clock: Clock, surveys: number) {
    this.#clock = clock
    this.#surveys = surveys
  }

  changed({ after, event }: Change): void {
    const { now } = this.#clock
    this.changes++
    if (event.type === 'divide') this.dividedAt = now
    if (event.type === 'claim') this.#claimed.set(after.id, now)
    if (event.type !== 'delivered') return
    this.deliveredAt = now
    const position = (after.part ?? 0) - this.#surveys
    if (position >= 0) this.partSeconds[position] = (now - (this.#claimed.get(after.id) ?? now)) / 1000
  }
}

function* everySweep(service: Service, clock: Clock): Process {
  while (clock.now < DAY_MS) {
    yield SWEEP_MS
    service.post((program) => service.sweep(program))
  }
}

function calm({ parts, surveys }: TaskCosts, transcoders: number): Scenario {
  const job: JobShape = {
    kind: 'transcode',
    account: 'account',
    createdAt: 0,
    deadlineAt: DAY_MS,
    cancelAt: null,
    files: 0,
    playlists: 1,
    segments: 1,
    parts: parts.length,
    surveys: surveys.length,
    rounds: 1,
    unlike: false,
    failing: 0,
    steps: 1,
    stepMs: 1,
    outcome: 'well',
    poison: null,
  }
  const none = { loss: 0, crash: 0, pause: 0, evict: 0, hang: 0, storeFails: 0, commitFails: 0, faultsUntil: 0 }
  return {
    ...none,
    jobs: [job],
    protocols: Array.from({ length: transcoders }, () => TASK_PROTOCOL),
    builds: Array.from({ length: transcoders }, () => OLD_BUILD),
    slowness: Array.from({ length: transcoders }, () => 1),
    isRollout: false,
    duplicates: 1,
    posts: 1,
    isPolled: false,
    processFaults: [],
  }
}
