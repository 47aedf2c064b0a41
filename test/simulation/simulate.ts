// In charge of: one run: builds a world from a seed, plays it to its end, and collects the violations. Meanwhile it
// replaces time, randomness and digests of this process by simulated ones.
// Not in charge of: which seeds, what is printed.
import { Checker, type Violation } from './invariants.ts'
import { Clock, type Process, settled } from './virtualClock.ts'
import type { Code } from './productionCode.ts'
import { Ledger } from './ledger.ts'
import { Random } from '../support/seededRandom.ts'
import { type Scenario, scenarioOf } from './scenario.ts'
import { jobOf, monitorOf } from './taskNames.ts'
import { Service } from './workerModel.ts'
import { Transcoder } from './transcoderModel.ts'

export interface Run {
  violations: Violation[]
  steps: number
  jobs: number
  /** Attempts that ran, and results, of all jobs. */
  attempts: number
  results: number
}

export interface RunOptions {
  trace?: (line: string) => void
  /** Replaces the scenario of the seed. */
  scenario?: Scenario
}

/** Of the third sequence of a seed. */
const LATE = 0x74_69
const SWEEP_MS = 60_000
const READ_MS = 3000
/** Polling interval of a job that no client watches closely. */
const SELDOM_MS = 10 * 60_000
const EVICT_EVERY_MS = 2000
/** Time after the end of the last job: late writes are done, and leftover files are removed (I8). */
const REST_MS = 40 * 60_000
/** A run with more steps counts as endless. */
const MAX_STEPS = 2_000_000
/** Of every third job: its deadline_seconds is twice that. */
const HURRY_MS = 20_000

export async function simulate(seed: number, code: Code, options: RunOptions = {}): Promise<Run> {
  const random = new Random(seed)
  const clock = new Clock()
  const restore = takeGlobals(clock, random)
  try {
    const scenario = options.scenario ?? scenarioOf(random, new Random(~seed), new Random(seed ^ LATE))
    return await play(clock, random, code, scenario, options)
  } finally {
    restore()
  }
}

async function play(clock: Clock, random: Random, code: Code, scenario: Scenario, options: RunOptions): Promise<Run> {
  const checker = new Checker(clock, options.trace ?? null)
  const ledger = new Ledger(code, checker)
  checker.ledger = ledger
  checker.scenario = scenario
  checker.isCalm = scenario.crash === 0 && scenario.pause === 0
  const service = new Service({ clock, random, code, ledger, scenario, checker })
  for (const [k, protocol] of scenario.protocols.entries())
    service.transcoders.push(new Transcoder(service, k, protocol, scenario.builds[k]!))

  const lastDeadline = Math.max(...scenario.jobs.map((job) => job.deadlineAt))
  const latest = Math.max(lastDeadline, scenario.faultsUntil) + REST_MS
  let until = latest
  for (const [index, job] of scenario.jobs.entries()) clock.spawn(create(index + 1, job), job.createdAt)
  for (const { at, k, kind } of scenario.processFaults) clock.spawn(accident(service, k, kind), at)
  clock.spawn(everySweep())
  if (scenario.evict > 0) clock.spawn(evictions())

  while (checker.violations.length === 0 && clock.steps < MAX_STEPS && clock.now <= until) {
    const more = clock.step()
    // Most steps have nothing to await.
    if (more === false || (more !== true && !(await more))) break
  }
  if (clock.steps >= MAX_STEPS) checker.fault('', 'I1', 'the world does not come to rest')
  if (checker.violations.length === 0) checker.atRest(service)
  ledger.close()
  return {
    violations: checker.violations,
    steps: clock.steps,
    jobs: ledger.jobs.size,
    attempts: checker.started,
    results: [...checker.results.values()].reduce((sum, n) => sum + n, 0),
  }

  function* create(id: number, job: Scenario['jobs'][number]): Process {
    const { account, kind, deadlineAt: deadline_at } = job
    const hurry_at = id % 3 === 0 ? clock.now + HURRY_MS : null
    const task = ledger.insert(id, clock.now, { account, kind, deadline_at, hurry_at })
    clock.spawn(reader(task.id), READ_MS)
    if (scenario.isPolled && id === 1) clock.spawn(follower(task.id), READ_MS)
    if (job.cancelAt !== null) service.post((program) => service.cancel(program, task.id), job.cancelAt - clock.now)
    service.post(({ env }) => code.schedule(env))
    yield 0
  }

  function* reader(id: string): Process {
    for (let more = 3; more > 0;) {
      if (service.fault(scenario.evict)) service.evict(jobOf(id))
      const wasOver = checker.isOver(id)
      const status = yield* settled(service.request((program) => service.status(program, id)).catch(service.survive))
      if (!status) {
        yield READ_MS
        continue
      }
      checker.shown(id, status, wasOver)
      // A few reads after the end: the status must not change.
      if (status.job_completed) more--
      yield scenario.isPolled ? random.whole(READ_MS, status.phase === 'queued' ? 20_000 : READ_MS * 2) : SELDOM_MS
    }
  }

  /** Reconnects with the last event that it received, until the job has ended and the connection is closed. */
  function* follower(id: string): Process {
    let last = 0
    for (;;) {
      const wasOver = checker.isOver(id)
      try {
        const next = yield* settled(service.follow(jobOf(id), last))
        checker.reconnected(id)
        for (let text = yield* settled(next()); text !== null; text = yield* settled(next()))
          last = checker.followed(id, text, last)
        if (wasOver) return
      } catch (error) {
        service.survive(error)
      }
      yield READ_MS
    }
  }

  /** At any moment, whatever the monitor is doing. */
  function* evictions(): Process {
    while (clock.now < scenario.faultsUntil) {
      yield random.whole(1, EVICT_EVERY_MS)
      for (const { id } of ledger.tasks.values()) if (service.fault(scenario.evict / 10)) service.evict(monitorOf(id))
    }
  }

  function* everySweep(): Process {
    for (;;) {
      yield SWEEP_MS
      service.post((program) => service.sweep(program))
      const over = checker.results.size === scenario.jobs.length
      if (over) until = Math.min(until, Math.max(clock.now, scenario.faultsUntil) + REST_MS)
      if (over && until < clock.now) return
    }
  }
}

function* accident(service: Service, k: number, kind: 'kill' | 'freeze' | 'stop'): Process {
  service.checker.note(`transcoder ${k}: ${kind}`)
  service.transcoders[k]?.[kind]()
  yield 0
}

const GLOBALS = globalThis as unknown as Record<string, unknown>

/** @returns a function that restores them */
export function takeGlobals(clock: Clock, random: Random): () => void {
  const { log, error } = console
  const { now } = Date
  const { random: chance } = Math
  const { setInterval: every, clearInterval: clear } = globalThis
  const silent = () => undefined
  Object.assign(console, { log: silent, error: silent })
  Date.now = () => clock.now
  Math.random = () => random.next()
  const intervals = new Set<object>()
  GLOBALS['setInterval'] = (act: () => void, ms: number) => {
    const interval = {}
    const again = () =>
      clock.later(ms, () => {
        if (!intervals.has(interval)) return
        act()
        again()
      })
    intervals.add(interval)
    again()
    return interval
  }
  GLOBALS['clearInterval'] = (interval: object) => intervals.delete(interval)
  // The real digest runs in threads, which would bring back real time.
  const digest = () => Promise.resolve(new ArrayBuffer(32))
  Object.defineProperty(crypto.subtle, 'digest', { value: digest, configurable: true })
  return () => {
    Object.assign(console, { log, error })
    Object.assign(GLOBALS, { setInterval: every, clearInterval: clear })
    Date.now = now
    Math.random = chance
    Reflect.deleteProperty(crypto.subtle, 'digest')
  }
}
