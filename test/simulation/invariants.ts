// In charge of: the invariants of docs/internals/reliability.md, checked from outside and written independently of the code that
// must keep them.
// Not in charge of: making anything happen.
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import type { Clock } from './virtualClock.ts'
import type { Change, Ledger, Listing } from './ledger.ts'
import { expectedOrder, keyOf } from './orders.ts'
import type { SimulatedPlan, Task } from './tables.ts'
import { partOf } from '#contract/taskId.ts'
import { jobOf, monitorOf } from './taskNames.ts'
import type { Service } from './workerModel.ts'
import type { Scenario } from './scenario.ts'
import type { Store } from './storageModel.ts'

export interface Violation {
  invariant: string
  task: string
  at: number
  what: string
}

const ENDS = ['completed', 'failed', 'cancelled']
const MAX_LOST = 4
const STEP = 0.1
const FREE_EVICTIONS = 20
/** Ten lost attempts can make new progress; the others count. */
const MAX_ATTEMPTS = MAX_LOST + 10 + FREE_EVICTIONS
/** A start has 30 s, plus 15 s for the alarm. */
const START_MS = 45_000
/** A queue message that was lost is sent again by the reconciler, once a minute. */
const RESEND_MS = 60_000
/** A lease of 30 s, plus 15 s for what was not made durable and for the alarm. */
const NOTICE_MS = 45_000
/** What a request left undone is repeated each minute, and each two minutes by monitors; plus time for alarms. */
const SETTLE_MS = 4 * 60_000
/** As long as parts wait for a transcoder with the build of their job. */
const BUILD_WAIT_MS = 30 * 60_000
const COMMIT_SLACK_MS = 30 * 60_000
/** The states in which an event may find a task; duplicated here on purpose. */
const FROM: Readonly<Record<string, readonly string[]>> = {
  claim: ['queued'],
  start_failed: ['starting'],
  started: ['starting'],
  lost: ['starting', 'running'],
  evicted: ['starting', 'running'],
  attempt_failed: ['starting', 'running'],
  finish: ['running'],
  planned: ['running'],
  committed: ['committing'],
  commit_failed: ['committing'],
  divide: ['running'],
  delivered: ['running'],
  parts_done: ['divided'],
  part_failed: ['divided'],
  cancel: ['queued', 'starting', 'running', 'divided'],
  deadline: ['queued', 'starting', 'running', 'divided'],
}

export class Checker {
  readonly violations: Violation[] = []
  /** Attempts that a transcoder accepted; refused starts do not count. */
  started = 0
  readonly results = new Map<string, number>()
  ledger!: Ledger
  /** No alarm of the platform fails or is late. */
  isCalm = false
  scenario!: Scenario
  readonly #clock: Clock
  readonly #trace: ((line: string) => void) | null
  readonly #shown = new Map<string, { tcode: number; xfer: number }>()
  /** Number of the last event received. */
  readonly #events = new Map<string, number>()
  readonly #runs = new Map<string, number>()
  /** Attempts that a transcoder of another build was to begin. */
  readonly #unfit = new Set<string>()
  /** The build of each transcoder, and since when it has that. */
  readonly #builds = new Map<number, { build: string; since: number }>()
  readonly #cancelled = new Set<string>()
  /** How much each counter of /metrics must have been increased. */
  readonly #counts = new Map<string, number>()
  /** Attempts whose transcoder fell silent while they ran, and since when. */
  readonly #silent = new Map<string, number>()
  readonly #failedStarts = new Map<string, number>()
  /** The largest share that each attempt has reported. */
  readonly #reported = new Map<string, number>()
  /** The attempts of each task that ran. */
  readonly #ran = new Map<string, Set<number>>()
  /** When a starting task was claimed. */
  readonly #claimed = new Map<string, number>()
  /** When a main task ended. */
  readonly #endedAt = new Map<string, number>()
  /** When the parts of a divided job became complete, or one of them failed for good. */
  readonly #settledAt = new Map<string, number>()

  constructor(clock: Clock, trace: ((line: string) => void) | null) {
    this.#clock = clock
    this.#trace = trace
  }

  note(line: string): void {
    this.#trace?.(`${String(this.#clock.now).padStart(9)} ${line}`)
  }

  fault(task: string, invariant: string, what: string): void {
    this.note(`VIOLATION ${invariant} ${task}: ${what}`)
    this.violations.push({ invariant, task, at: this.#clock.now, what })
  }

  /** Called after every write to the database. */
  changed({ before, after, event }: Change): void {
    const { id } = after
    const attempt = 'attempt' in event ? ` of attempt ${event.attempt}` : ''
    if (this.#trace)
      this.note(
        `${id} ${event.type}${attempt}: ${before.state} → ${after.state} (attempt ${after.attempt}, lost ${after.lost})`,
      )
    if (ENDS.includes(before.state)) this.fault(id, 'I2', `${before.state} became ${after.state}`)
    if (ENDS.includes(after.state) && after.main === null) this.results.set(id, (this.results.get(id) ?? 0) + 1)
    if ('attempt' in event && event.attempt !== before.attempt)
      this.fault(id, 'I3', `${event.type} of attempt ${event.attempt} was taken while ${before.attempt} is current`)
    if (after.attempt !== before.attempt + (event.type === 'claim' ? 1 : 0))
      this.fault(id, 'I3', `${event.type} moved the fence from ${before.attempt} to ${after.attempt}`)
    if (!FROM[event.type]!.includes(before.state)) {
      const invariant = event.type === 'cancel' ? 'I9' : 'I11'
      this.fault(id, invariant, `${event.type} was taken in ${before.state}`)
    }
    if (after.kind === 'plan' && after.state === 'committing') this.fault(id, 'I7', 'a dry run commits')
    this.#count(before, after, event)
    this.#countLost(before, after, event)
    this.#countStarts(before, after, event)
    const { deadline_at: deadline } = this.ledger.jobs.get(after.job)!
    if (event.type === 'commit_failed' && this.scenario.commitFails === 0 && this.#clock.now < deadline)
      this.fault(id, 'I6', 'a commit failed though the store took everything')
    this.#noticed(before, event)
    this.#parts(before, after, event)
    const main = after.main === null ? after : this.ledger.tasks.get(after.main)!
    const job = this.ledger.jobs.get(after.job)!
    const isWaiting = main.state === 'starting' || main.state === 'queued'
    const mirrored =
      main.state === 'divided' || (isWaiting && main.parts > 0) ? 'running' : isWaiting ? 'queued' : main.state
    if ((job.finished_at !== null) !== ENDS.includes(job.state))
      this.fault(id, 'I2', `the job is ${job.state} and its end is ${job.finished_at}`)
    if (job.state !== mirrored) this.fault(id, 'I2', `the job is ${job.state} while its task is ${main.state}`)
    this.#slots()
  }

  /** Parts work only while their main task waits for them, and it goes on exactly when they are completed. */
  #parts(before: Task, after: Task, event: Change['event']): void {
    const { type } = event
    const { id, main } = after
    const { now } = this.#clock
    if (type === 'attempt_failed' && event.error.code === 'build_unavailable') this.#checkBuilds(after)
    if (main !== null) {
      const whole = this.ledger.tasks.get(main)!
      if (type === 'claim' && whole.state !== 'divided')
        this.fault(id, 'I19', `a part starts while its main task is ${whole.state}`)
      if (type === 'claim' && this.ledger.isHeldBack(after))
        this.fault(id, 'I19', 'it starts before the last chunk is stored')
      if (this.#areSettled(main) && whole.state === 'divided' && !this.#settledAt.has(main))
        this.#settledAt.set(main, now)
      if (after.state === 'cancelled' && !ENDS.includes(whole.state))
        this.fault(id, 'I19', `a part is cancelled while its main task is ${whole.state}`)
      return
    }
    const parts = this.ledger.partsOf(id)
    // One attempt may have made all of the job after its parts.
    const areDone =
      (parts.length === after.parts || after.parts === 0) && parts.every(({ state }) => state === 'completed')
    if (type === 'divide' && (after.parts < 2 || parts.length !== after.parts))
      this.fault(id, 'I19', `it is divided into ${after.parts} parts, and ${parts.length} are there`)
    if (type === 'divide') {
      this.#settledAt.delete(id)
      if (parts.some(({ part, state }) => part! < before.parts && state !== 'completed'))
        this.fault(id, 'I19', 'it is divided, and its survey has not ended')
      const { surveys } = this.scenario.jobs[after.job - 1]!
      if (after.survey_parts !== surveys)
        this.fault(id, 'I19', `${after.survey_parts} parts survey the source instead of ${surveys}`)
    }
    if ((type === 'parts_done' || type === 'finish' || type === 'committed') && !areDone)
      this.fault(id, 'I19', `${type} though not all parts are completed`)
    if (type === 'part_failed' && !parts.some(({ state }) => state === 'failed'))
      this.fault(id, 'I19', 'no part has failed')
    if (before.state === 'divided') this.#waited(id, 'before it went on')
    if (ENDS.includes(after.state)) this.#endedAt.set(id, now)
  }

  #areSettled(main: string): boolean {
    const states = this.ledger.partsOf(main).map(({ state }) => state)
    return states.includes('failed') || states.every((state) => state === 'completed')
  }

  /** A transcoder that is there has this build, from now on. */
  hasBuild(k: number, build: string): void {
    if (this.#builds.get(k)?.build !== build) this.#builds.set(k, { build, since: this.#clock.now })
  }

  /** The attempt got no task, since its transcoder has another build. */
  unfit(id: string, attempt: number): void {
    this.#ranOf(id).delete(attempt)
    this.#unfit.add(`${id} ${attempt}`)
  }

  #ranOf(id: string): Set<number> {
    const ran = this.#ran.get(id) ?? new Set<number>()
    this.#ran.set(id, ran)
    return ran
  }

  /** An attempt at a part begins. */
  makes(id: string, build: string): void {
    const planned = this.ledger.plannedBuild(this.ledger.find(id).main!)
    if (build !== planned) this.fault(id, 'I19', `build ${build} makes a part of a job of build ${planned}`)
  }

  /** `task`: a part that failed because no transcoder had its build. */
  #checkBuilds({ id, main }: Task): void {
    const whole = this.ledger.tasks.get(main!)!
    // Another part failed for the same reason.
    if (whole.state !== 'divided') return
    const waited = this.#clock.now - whole.updated_at
    if (waited < BUILD_WAIT_MS) this.fault(id, 'I19', `no transcoder has its build, after ${waited} ms`)
    const planned = this.ledger.plannedBuild(main!)
    for (const [k, { build, since }] of this.#builds)
      // One that is at work on other jobs again and again can make no part either.
      if (
        this.ledger.slots.get(k)?.task == null &&
        !this.#isForDryRuns(k) &&
        build === planned &&
        this.scenario.protocols[k] === TASK_PROTOCOL &&
        since < this.#clock.now - BUILD_WAIT_MS
      )
        this.fault(id, 'I19', `no transcoder is said to have build ${build}, which transcoder ${k} has`)
  }

  /** Whoever should have said that the parts are settled may have died: another says it within minutes. */
  #waited(main: string, what: string): void {
    const since = this.#settledAt.get(main)
    if (since !== undefined && this.#isLate(since)) this.fault(main, 'I19', `its parts were settled long ${what}`)
  }

  #isLate(since: number): boolean {
    const from = this.isCalm && this.scenario.loss === 0 ? since : Math.max(since, this.scenario.faultsUntil)
    return this.#clock.now > from + SETTLE_MS
  }

  /** The answer to a heartbeat of an attempt at a part. */
  instructed(id: string, instruction: string): void {
    const { main } = this.ledger.find(id)
    const ended = main === null ? undefined : this.#endedAt.get(main)
    if (ended !== undefined && instruction === 'continue' && this.#isLate(ended))
      this.fault(id, 'I19', 'a part goes on long after the end of its main task')
  }

  /** A plan was to replace the one before it. */
  replaced(id: string, plan: SimulatedPlan, stored: unknown): void {
    if (JSON.stringify(stored) !== JSON.stringify(plan))
      this.fault(id, 'I19', 'a plan does not replace the one before it')
  }

  /** The service has read a list, and will begin with its first row. */
  listed(listing: Listing): void {
    const expected = expectedOrder(this.ledger, listing)
    const found = listing.rows.map((row) => keyOf(listing.of, row))
    if (found.join() !== expected.join())
      this.fault(found[0] ?? '', 'order', `${listing.of}: ${found.join(', ')} instead of ${expected.join(', ')}`)
  }

  /** A part needed the record of another, which was not there. */
  missed(id: string, part: number): void {
    // The records are removed with the job.
    const { main } = this.ledger.find(id)
    if (main !== null && !this.isOver(main)) this.fault(id, 'I19', `it started, and part ${part} is not stored`)
  }

  /** The record of a part is put together with the others. */
  assembled(id: string, part: number, record: { part: number; attempt: number } | null): void {
    // The records are removed with the job.
    if (this.isOver(id)) return
    const made = this.#maker(id, part)
    if (record?.part !== part || record.attempt !== made?.attempt)
      this.fault(id, 'I19', `part ${part} is stored by attempt ${made?.attempt}, its record is of ${record?.attempt}`)
  }

  /** An attempt behind a survey has read the records of so many parts. */
  surveyed(id: string, attempt: number, records: number): void {
    const { state, attempt: current, parts } = this.ledger.find(id)
    // Behind an answer that was long on its way, another attempt may have divided it.
    if (state === 'running' && current === attempt && records !== parts)
      this.fault(id, 'I19', `${records} records of ${parts} are read`)
  }

  /** The task that stored a part. */
  #maker(main: string, part: number): Task | undefined {
    return this.ledger.partsOf(main).find((task) => task.part === part && task.state === 'completed')
  }

  /** What /metrics must say in the end. */
  #count(before: Task, after: Task, { type }: Change['event']): void {
    const add = (counter: string, by: number) => this.#counts.set(counter, (this.#counts.get(counter) ?? 0) + by)
    add('attempts_started_total', type === 'started' ? 1 : 0)
    add('attempts_lost_total', after.lost > before.lost ? 1 : 0)
    add('attempts_evicted_total', after.evicted > before.evicted ? 1 : 0)
    add('starts_failed_total', after.starts_failed > before.starts_failed ? 1 : 0)
    add('jobs_ended_total', ENDS.includes(after.state) && after.main === null ? 1 : 0)
  }

  #countLost(before: Task, after: Task, event: Change['event']): void {
    const isAway = event.type === 'attempt_failed' && event.error.code === 'source_unreachable'
    const isEvicted = event.type === 'evicted' && before.evicted < FREE_EVICTIONS
    const counts =
      (event.type === 'lost' && before.state === 'running') ||
      isAway ||
      (event.type === 'attempt_failed' && event.error.code === 'internal') ||
      (event.type === 'evicted' && !isEvicted)
    if (after.lost !== before.lost + (counts ? 1 : 0))
      this.fault(after.id, 'I1', `${event.type} counted ${after.lost - before.lost} lost attempts`)
    if (after.evicted !== before.evicted + (isEvicted ? 1 : 0))
      this.fault(after.id, 'I1', `${event.type} counted ${after.evicted - before.evicted} evictions`)
    const remain = after.lost - after.excused
    if (remain >= MAX_LOST && after.state !== 'failed')
      this.fault(after.id, 'I1', `${remain} attempts were lost and it goes on`)
    if (counts && after.state === 'failed' && remain < MAX_LOST)
      this.fault(after.id, 'I1', `it failed after ${remain} lost attempts`)
    this.#excuse(before, after, event)
    if (event.type === 'attempt_failed' && event.error.code === 'source_not_media' && after.state !== 'failed')
      this.fault(after.id, 'I13', 'an error that every attempt would meet is tried again')
    if (counts && after.state === 'queued') {
      const delay = after.not_before - after.updated_at
      const [least, most] = isAway ? [15_000, 135_000] : [1000, 60_000]
      if (delay < least || delay > most) this.fault(after.id, 'I11', `the next attempt comes after ${delay} ms`)
    }
  }

  /** An attempt is excused only if it reported clearly more than every lost one before it. */
  #excuse(before: Task, after: Task, event: Change['event']): void {
    const { id, attempt } = after
    const share = this.#reported.get(`${id} ${attempt}`) ?? 0
    const mark = before.furthest ?? 0
    if (event.type === 'lost' && (after.furthest ?? 0) > Math.max(mark, share))
      this.fault(id, 'I1', `attempt ${attempt} reported ${share} and counts as ${after.furthest}`)
    if (after.excused === before.excused) return
    if (event.type !== 'lost' || before.furthest === null || share < mark + STEP)
      this.fault(id, 'I1', `attempt ${attempt} got no further than ${mark} and is excused`)
  }

  reported(id: string, attempt: number, share: number): void {
    const key = `${id} ${attempt}`
    this.#reported.set(key, Math.max(this.#reported.get(key) ?? 0, share))
  }

  #countStarts(before: Task, after: Task, event: Change['event']): void {
    const { id } = after
    const { now } = this.#clock
    const since = this.#claimed.get(id)
    const most = START_MS + (this.scenario.loss > 0 ? RESEND_MS : 0)
    if (event.type === 'claim') this.#claimed.set(id, now)
    else if (before.state === 'starting') {
      this.#claimed.delete(id)
      if (this.isCalm && since !== undefined && now - since > most)
        this.fault(id, 'I1', `it was starting for ${now - since} ms`)
    }
    if (event.type === 'started') this.#failedStarts.delete(id)
    if (event.type !== 'start_failed') return
    const failed = (this.#failedStarts.get(id) ?? 0) + 1
    this.#failedStarts.set(id, failed)
    const expected = Math.min(60_000, 1000 * 2 ** failed)
    if (after.starts_failed_total !== before.starts_failed_total + 1)
      this.fault(id, 'I11', 'a failed start is not counted')
    const delay = after.not_before - after.updated_at
    if (delay !== expected) this.fault(id, 'I11', `start ${failed} that failed is followed by one after ${delay} ms`)
    if (before.lost !== after.lost) this.fault(id, 'I1', 'a start that failed counts as a lost attempt')
  }

  /** Killed or frozen while it ran. */
  silent(id: string, attempt: number): void {
    const task = this.ledger.tasks.get(id)!
    if (task.state === 'running' && task.attempt === attempt) this.#silent.set(`${id} ${attempt}`, this.#clock.now)
  }

  /** A delayed request arrives, or a frozen transcoder continues: the silence starts now at the earliest. */
  heard(id: string, attempt: number): void {
    if (this.#silent.has(`${id} ${attempt}`)) this.#silent.set(`${id} ${attempt}`, this.#clock.now)
  }

  /** Only if no alarm fails or is late: then the monitor must notice, whether it is in memory or not. */
  #noticed({ id, attempt }: Task, event: Change['event']): void {
    const since = this.#silent.get(`${id} ${attempt}`)
    if (since === undefined || event.type === 'started') return
    this.#silent.delete(`${id} ${attempt}`)
    const after = this.#clock.now - since
    if (this.isCalm && after > NOTICE_MS) this.fault(id, 'I1', `a silent transcoder was noticed after ${after} ms`)
  }

  #isForDryRuns(k: number): boolean {
    return k >= this.scenario.protocols.length - this.scenario.dryRunSlots
  }

  /** A task holds a slot exactly while it is starting or running, and the slot row agrees. */
  #slots(): void {
    for (const task of this.ledger.tasks.values()) {
      const held = [...this.ledger.slots.values()].filter((slot) => slot.task === task.id)
      const active = task.state === 'starting' || task.state === 'running'
      if (held.length !== (active ? 1 : 0)) this.fault(task.id, 'I3', `${task.state} with ${held.length} slots`)
      const [slot] = held
      if (active && slot && (slot.k !== task.slot || slot.attempt !== task.attempt))
        this.fault(task.id, 'I3', `slot ${slot.k} is of attempt ${slot.attempt}`)
      if (slot && task.kind !== 'plan' && this.#isForDryRuns(slot.k))
        this.fault(task.id, 'I3', `slot ${slot.k} is for dry runs alone`)
    }
  }

  /** Called after every change of a destination. */
  stored(job: string, { objects }: Store): void {
    const id = `${job}-0`
    const { state } = this.ledger.tasks.get(id)!
    for (const [path, object] of objects) {
      for (const ref of object.refs)
        if (!objects.has(ref) && !this.#isReported(id, path))
          this.fault(id, 'I5', `${path} points at ${ref}, which is not there`)
      if (!path.includes('/') && state !== 'committing' && state !== 'completed' && !this.#isReported(id, path))
        this.fault(id, 'I7', `${path} lies at its final place while the task is ${state}`)
    }
  }

  /** The error of a failed commit lists the paths that it could not undo because the store failed. */
  #isReported(id: string, path: string): boolean {
    if (this.scenario.storeFails === 0) return false
    const error = this.ledger.jobs.get(this.ledger.find(id).job)!.error
    const { details } = JSON.parse(error ?? '{}') as { details?: { in_place?: string[] } }
    return details?.in_place?.includes(path) ?? false
  }

  cancelled(id: string): void {
    this.#cancelled.add(id)
  }

  /** The task API answered a transcoder that its attempt is not current. */
  refused(id: string, attempt: number): void {
    const task = this.ledger.find(id)
    if (task.main !== null && this.isOver(task.main)) return
    // Of a start that was late: the process before it, which was of the right build, has begun the attempt, and is gone.
    if (this.#unfit.has(`${id} ${attempt}`)) return
    if (task.state === 'running' && task.attempt === attempt) this.fault(id, 'I3', `attempt ${attempt} was refused`)
  }

  runs(id: string, attempt: number, change: 1 | -1): void {
    const key = `${id} ${attempt}`
    const now = (this.#runs.get(key) ?? 0) + change
    this.#runs.set(key, now)
    if (change === 1) {
      this.started++
      const ran = this.#ranOf(id).add(attempt)
      // A start whose answer was lost may run for a moment without being current.
      if (this.scenario.loss === 0 && ran.size > MAX_ATTEMPTS) this.fault(id, 'I13', `it has had ${ran.size} attempts`)
    }
    if (now > 1) this.fault(id, 'I11', `attempt ${attempt} runs ${now} times at once`)
  }

  isOver(id: string): boolean {
    return ENDS.includes(this.ledger.tasks.get(id)!.state)
  }

  /** A client read a status; `wasOver`: the job had ended when the request was sent. */
  shown(id: string, status: PublicStatus, wasOver: boolean): void {
    const isOver = status.job_completed
    if (isOver ? !this.isOver(id) : wasOver) this.fault(id, 'I2', 'job_completed is wrong')
    if (status.xfer_progress === '100' && this.ledger.tasks.get(id)!.state !== 'completed')
      this.fault(id, 'I4', '100 before success')
    this.#grows(id, 'status', status)
  }

  /**
   * Progress that only event streams have shown is not always stored: an eviction of the monitor, which ends the
   * streams, can lose it.
   */
  reconnected(id: string): void {
    this.#shown.delete(`${id} events`)
  }

  /** A Server-Sent Event was received. @returns the number of the last event received */
  followed(id: string, text: string, last: number): number {
    const data = /^data: (.*)$/m.exec(text)?.[1]
    if (/^event: progress$/m.test(text)) this.#grows(id, 'events', JSON.parse(data!) as PublicStatus)
    const number = Number(/^id: (\d+)$/m.exec(text)?.[1] ?? last)
    if (number !== last && number !== last + 1) this.fault(id, 'I11', `event ${last} was followed by ${number}`)
    this.#events.set(id, number)
    return number
  }

  #grows(id: string, where: string, now: Pick<PublicStatus, 'tcode_progress' | 'xfer_progress'>): void {
    const [tcode, xfer] = [Number(now.tcode_progress), Number(now.xfer_progress)]
    const before = this.#shown.get(`${id} ${where}`)
    this.#shown.set(`${id} ${where}`, { tcode, xfer })
    if (before && (tcode < before.tcode || xfer < before.xfer))
      this.fault(id, 'I4', `${where}: ${before.tcode}/${before.xfer} was followed by ${tcode}/${xfer}`)
  }

  /** Called long after the last job has ended. */
  atRest(service: Service): void {
    for (const task of this.ledger.tasks.values()) {
      if (!ENDS.includes(task.state)) this.fault(task.id, 'I1', `still ${task.state} long after its deadline`)
      if (service.remembers(monitorOf(task.id)).length > 0)
        this.fault(task.id, 'I8', `its monitor keeps ${service.remembers(monitorOf(task.id)).join()}`)
      if (task.main === null) this.#atRest(service, task)
    }
    // Each job is counted by its kind and its end, once.
    const counted = this.ledger.usedJobs()
    const mains = [...this.ledger.tasks.values()].filter(({ main }) => main === null)
    const ends = Object.groupBy(mains, ({ kind, state }): string => (kind === 'plan' ? 'dry runs' : state))
    for (const end of ['dry runs', ...ENDS]) {
      const used = counted.get(end) ?? 0
      const ended = ends[end]?.length ?? 0
      if (used !== ended) this.fault('', 'I18', `${used} jobs (${end}) are in the usage instead of ${ended}`)
    }
    for (const [counter, n] of this.#counts) {
      const total = this.ledger.counted(counter)
      if (total !== n) this.fault('', 'I18', `${counter} is ${total} instead of ${n}`)
    }
    for (const [key, n] of this.#runs) if (n > 0) this.fault(key, 'I9', 'it still runs')
    for (const slot of this.ledger.slots.values()) if (slot.task !== null) this.fault(slot.task, 'I3', 'a slot is held')
  }

  #atRest(service: Service, task: Task): void {
    const { id } = task
    const job = this.ledger.jobs.get(task.job)!
    const store = service.store(jobOf(id))
    const open = [...store.uploads.values()].filter(({ isKnown }) => isKnown)
    if (job.finished_at !== null && job.finished_at > job.deadline_at + COMMIT_SLACK_MS)
      this.fault(id, 'I1', `ended ${job.finished_at - job.deadline_at} ms behind its deadline`)
    if (this.results.get(id) !== 1) this.fault(id, 'I1', `${this.results.get(id) ?? 0} results`)
    if (this.#cancelled.has(id) && task.state !== 'cancelled') this.fault(id, 'I9', `cancelled, but ${task.state}`)
    if (open.length > 0) this.fault(id, 'I8', `${open.length} uploads are left open`)
    const events = (JSON.parse(task.timeline) as unknown[]).length
    if ((this.#events.get(id) ?? events) !== events)
      this.fault(id, 'I11', `a follower received ${this.#events.get(id)} events of ${events}`)
    if (store.records.size > 0) this.fault(id, 'I8', `${[...store.records.keys()].join()} are left`)
    for (const [path, { task: number, attempt }] of store.objects) {
      const part = partOf(number)
      const maker = part === null ? task : this.#maker(id, part)
      if ((task.state !== 'completed' || attempt !== maker?.attempt) && !this.#isReported(id, path))
        this.fault(id, 'I8', `${path} is left`)
    }
    const { files, playlists, segments } = service.scenario.jobs[task.job - 1]!
    // One part makes the files, each of the others so much as gives so many segments.
    const ranges = task.parts > 0 ? task.parts - task.survey_parts - 1 : 1
    const wanted = task.kind === 'plan' ? 0 : files + playlists * (ranges * segments + 1) + (playlists > 0 ? 1 : 0)
    if (task.state === 'completed' && store.objects.size !== wanted)
      this.fault(id, 'I6', `${store.objects.size} objects of ${wanted}`)
    if (task.state === 'completed') this.#published(id, store)
  }

  /** Each segment of each part is in exactly one playlist, once. */
  #published(id: string, { objects }: Store): void {
    const refs = [...objects.values()].flatMap((object) => object.refs)
    const listed = refs.filter((ref) => ref.includes('/'))
    const stored = [...objects.keys()].filter((path) => path.includes('/'))
    if (listed.length !== stored.length || new Set(listed).size !== listed.length)
      this.fault(id, 'I19', `${stored.length} segments are stored, and playlists list ${listed.length}`)
  }
}
