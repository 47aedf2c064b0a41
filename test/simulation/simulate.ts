// In charge of: one run: a world from a seed, played to its end, and what was found.
// Not in charge of: which seeds, what is printed.
import { Checker, type Violation } from './invariants.ts'
import { Clock, type Process } from './virtualClock.ts'
import { Ledger, type Tape } from './databaseModel.ts'
import { Random } from '../support/seededRandom.ts'
import type { Rules } from './productionRules.ts'
import { type Scenario, scenarioOf } from './scenario.ts'
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
  tape?: Tape
  /** In place of the one that the seed stands for. */
  scenario?: Scenario
}

const SWEEP_MS = 60_000
const READ_MS = 3000
/** Of a job that nobody watches. */
const SELDOM_MS = 10 * 60_000
const EVICT_EVERY_MS = 2000
/** After the last job ended: late writes are over, and what was left is removed (I8). */
const REST_MS = 40 * 60_000
/** A world that goes on for so long goes on for ever. */
const MAX_STEPS = 2_000_000

export function simulate(seed: number, rules: Rules, options: RunOptions = {}): Run {
  const random = new Random(seed)
  const scenario = options.scenario ?? scenarioOf(random)
  const clock = new Clock()
  const checker = new Checker(clock, options.trace ?? null)
  const ledger = new Ledger(clock, rules, options.tape ?? null, (change) => checker.changed(change))
  checker.ledger = ledger
  checker.isCalm = scenario.crash === 0 && scenario.pause === 0
  const service = new Service({ clock, random, rules, ledger, scenario, checker })
  for (const [k, protocol] of scenario.protocols.entries())
    service.transcoders.push(new Transcoder(service, k, protocol))

  const lastDeadline = Math.max(...scenario.jobs.map((job) => job.deadlineAt))
  const latest = Math.max(lastDeadline, scenario.faultsUntil) + REST_MS
  let until = latest
  for (const [index, job] of scenario.jobs.entries()) clock.spawn(create(index + 1, job), job.createdAt)
  for (const { at, k, kind } of scenario.accidents) clock.spawn(accident(service, k, kind), at)
  clock.spawn(everySweep())
  if (scenario.evict > 0) clock.spawn(evictions())

  while (checker.violations.length === 0 && clock.steps < MAX_STEPS && clock.now <= until && clock.step());
  if (clock.steps >= MAX_STEPS) checker.fault('', 'I1', 'the world does not come to rest')
  if (checker.violations.length === 0) checker.atRest(service)
  return {
    violations: checker.violations,
    steps: clock.steps,
    jobs: ledger.jobs.size,
    attempts: checker.started,
    results: [...checker.results.values()].reduce((sum, n) => sum + n, 0),
  }

  function* create(id: number, job: Scenario['jobs'][number]): Process {
    const task = ledger.insert(id, job.account, job.kind, job.deadlineAt)
    clock.spawn(reader(task.id), READ_MS)
    if (job.cancelAt !== null) service.post(service.cancel(task.id), job.cancelAt - clock.now)
    service.post(service.schedule())
    yield 0
  }

  function* reader(id: string): Process {
    for (let more = 3; more > 0;) {
      if (service.fault(scenario.evict)) service.evict(id)
      const status = service.status(id)
      checker.shown(id, status)
      // Some reads after the end: it stays as it is.
      if (status.job_completed) more--
      yield scenario.watched ? random.whole(READ_MS, status.phase === 'queued' ? 20_000 : READ_MS * 2) : SELDOM_MS
    }
  }

  /** At any moment, whatever the monitor is doing. */
  function* evictions(): Process {
    while (clock.now < scenario.faultsUntil) {
      yield random.whole(1, EVICT_EVERY_MS)
      for (const { id } of ledger.tasks.values()) if (service.fault(scenario.evict / 10)) service.evict(id)
    }
  }

  function* everySweep(): Process {
    for (;;) {
      yield SWEEP_MS
      service.post(service.sweep())
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
