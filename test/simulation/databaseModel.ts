// In charge of: a model of D1: what each statement of the service's database code must do and return, implemented a
// second time. It can record statements and answers, which sqlReplay.ts compares with the real SQL.
// Not in charge of: which statements are sent, and when (worker/scheduler …), which results are allowed
// (invariants.ts).
import type { JobError } from '#contract/errors.ts'
import type { JobState, TaskEvent, TaskState } from '#contract/task/lifecycle.ts'
import type { Code } from './productionCode.ts'
import { Parts } from './partsModel.ts'
import type { Program } from './program.ts'
import { created, type Job, type Row, type Slot, type Task, type Totals, type Usage } from './tables.ts'

type Value = string | number | null
type Answer = (...values: never[]) => Row[]

/** In order: what was sent, and the model's answer; no rows if the answer does not matter. */
export type Tape = { sql: string; values: readonly Value[]; rows: Row[] | null }[]

export interface Change {
  before: Task
  after: Task
  event: TaskEvent
}

const MANY = 1000
const HURRY_AFTER_MS = 12 * 3600_000
const AT_WORK: readonly TaskState[] = ['running', 'divided', 'committing']
const OPEN: readonly JobState[] = ['queued', 'running', 'committing']
const TABLES = {
  tasks: `SELECT id, job, account, kind, state, attempt, lost, excused, furthest, evicted, starts_failed, starts_failed_total, slot, plan, priority, not_before, lease_until, updated_at, timeline, hurry_at, main, part, parts, survey_parts FROM tasks ORDER BY id`,
  jobs: `SELECT id, job_id, account, state, config, warnings, error, outputs, progress, estimate, created_at, started_at, finished_at, updated_at, deadline_at, webhook FROM jobs ORDER BY id`,
  slots: `SELECT k, task, attempt, account, free_at, unfit_for FROM slots ORDER BY k`,
  totals: `SELECT scope, series FROM metric_totals ORDER BY scope`,
  usage: `SELECT account, month, item, class, currency, price, quantity FROM usage ORDER BY account, month, item, class`,
}

class Statement {
  readonly sql: string
  readonly values: readonly Value[]
  readonly #ask: (statement: Statement) => Promise<Row[]>

  constructor(sql: string, values: readonly Value[], ask: (statement: Statement) => Promise<Row[]>) {
    this.sql = sql
    this.values = values
    this.#ask = ask
  }

  bind(...values: Value[]): Statement {
    return new Statement(this.sql, values, this.#ask)
  }

  async first(): Promise<Row | null> {
    return (await this.#ask(this))[0] ?? null
  }

  async all(): Promise<{ results: Row[] }> {
    return { results: await this.#ask(this) }
  }
}

/** The SQL text that a database function sends. */
function sentBy(send: (db: D1Database) => unknown): string {
  const sent: string[] = []
  const prepare = (sql: string) => {
    sent.push(sql)
    return new Statement(sql, [], async () => [])
  }
  send({ prepare } as unknown as D1Database)
  return sent[0]!
}

export class Ledger {
  readonly tasks = new Map<string, Task>()
  readonly jobs = new Map<number, Job>()
  readonly slots = new Map<number, Slot>()
  /** Of /metrics, by scope. */
  readonly totals = new Map<string, Totals>()
  /** By account, month, item and class. The simulated service has no price list. */
  readonly usage = new Map<string, Usage>()
  readonly parts: Parts = new Parts(this.tasks, this.jobs, (part) => this.#ended.push(part))
  readonly #answers: ReadonlyMap<string, Answer>
  readonly #tape: Tape | null
  readonly #changed: (change: Change) => void
  /** The task that the current batch changed. */
  #moved: { before: Task; isClaim: boolean } | null = null
  /** Parts that it ended with their main task, as they were. */
  #ended: Task[] = []
  /** The statement before this one changed a row. */
  #hasChanged = false

  constructor(
    { jobs, tasks, parts, totals, usage }: Pick<Code, 'jobs' | 'tasks' | 'parts' | 'totals' | 'usage'>,
    tape: Tape | null,
    changed: (change: Change) => void,
  ) {
    this.#tape = tape
    this.#changed = changed
    const none = { from: {}, next: {}, event: null } as never
    this.#answers = new Map<string, Answer>([
      [sentBy((db) => tasks.findTask(db, '')), this.#found],
      [sentBy((db) => tasks.claimTask(db, '', none)), this.#claim],
      [sentBy((db) => tasks.updateTask(db, '', none)), this.#change],
      [sentBy((db) => totals.addTotalsIfChanged(db, '', {})), this.#count],
      [sentBy((db) => usage.addUsageIfChanged(db, '', '', [])), this.#use],
      [sentBy((db) => tasks.occupySlot(db, '', 0, 0)), this.#take],
      [sentBy((db) => tasks.releaseSlot(db, '', 0)), this.#free],
      [sentBy((db) => tasks.coolDownSlot(db, '', 0, 0, null)), this.#free],
      [sentBy((db) => tasks.updateJobFromTask(db, none, none, 0, none)), this.#mirror],
      [sentBy((db) => tasks.listKnownSlots(db, 0)), this.#known],
      [sentBy((db) => tasks.listWaitingTasks(db, 0, 0)), this.#waiting],
      [sentBy((db) => tasks.listUnattendedTasks(db, 0, 0, 0, 0)), this.#neglected],
      [sentBy((db) => tasks.findPlan(db, '')), this.#plan],
      [sentBy((db) => tasks.savePlan(db, '', 0, '', false, 0)), this.#savePlan],
      [sentBy((db) => parts.findPlannedBuild(db, '')), this.parts.build],
      [sentBy((db) => parts.selectChunkBegins(db, '')), this.parts.chunkBegins],
      [sentBy((db) => parts.findLastWork(db, '', 0)), this.parts.lastWork],
      [sentBy((db) => tasks.findTimeline(db, '')), this.#timeline],
      [sentBy((db) => jobs.findJobByJobId(db, '')), this.#job],
      [sentBy((db) => parts.insertParts(db, '', 0, 0, 0)), this.parts.divide],
      [sentBy((db) => parts.cancelWaitingParts(db, '', 0)), this.parts.cancelWaiting],
      [sentBy((db) => parts.listOpenParts(db, '')), this.parts.open],
      [sentBy((db) => parts.listBegunParts(db, '')), this.parts.begun],
      [sentBy((db) => parts.listPartStates(db, '')), this.parts.states],
      [sentBy((db) => parts.findStoredAttempt(db, '', 0)), this.parts.stored],
      [sentBy((db) => parts.findEventOfParts(db, '')), this.parts.outcome],
      [sentBy((db) => parts.listSettledMains(db, 0)), this.parts.settled],
      [sentBy((db) => parts.listOrphanedParts(db, 0)), this.parts.orphans],
      [sentBy((db) => jobs.listOverdueJobs(db, 0, 0)), this.#overdue],
    ])
  }

  /** The database as one program sees it; `soon` returns the duration of a statement. */
  database(program: Program, soon: () => number): D1Database {
    const ask = (statement: Statement) => program.effect(() => this.#answer(statement), soon())
    const db = {
      prepare: (sql: string) => new Statement(sql, [], ask),
      batch: (statements: Statement[]) =>
        program.effect(() => {
          const answers = statements.map((statement) => ({ results: this.#answer(statement) }))
          this.#finishBatch(program)
          return answers
        }, soon()),
    }
    return db as unknown as D1Database
  }

  #answer({ sql, values }: Statement): Row[] {
    const answer = this.#answers.get(sql)
    if (!answer) throw new Error(`The model knows no such statement: ${sql}`)
    const rows = answer(...(values as never[]))
    this.#tape?.push({ sql, values, rows: structuredClone(rows) })
    return rows
  }

  #finishBatch(program: Program): void {
    for (const [name, sql] of Object.entries(TABLES) as [keyof typeof TABLES, string][])
      this.#tape?.push({ sql, values: [], rows: structuredClone(sorted(this[name])) })
    const [moved, ended] = [this.#moved, this.#ended]
    this.#moved = null
    this.#ended = []
    if (!moved) return
    const { before } = moved
    const after = this.find(before.id)
    const { asked } = program
    const caused = asked?.id === before.id ? asked.event : noticed(before, after)
    const event = moved.isClaim ? ({ type: 'claim' } as const) : caused
    this.#changed({ before, after, event })
    for (const part of ended) this.#changed({ before: part, after: this.find(part.id), event: { type: 'cancel' } })
  }

  insert(id: number, now: number, given: Pick<Job, 'account' | 'deadline_at'> & Pick<Task, 'kind' | 'hurry_at'>): Task {
    const { account, kind, deadline_at, hurry_at } = given
    const config = JSON.stringify({ cloud_credentials: { output: { cloud_provider: 'vendor-store' } } })
    const times = { created_at: now, started_at: null, finished_at: null, updated_at: now, deadline_at }
    const ends = { error: null, outputs: null, progress: null, estimate: null }
    const job: Job = {
      id,
      job_id: `job${id}`,
      account,
      state: 'queued',
      config,
      warnings: '[]',
      webhook: 0,
      ...times,
      ...ends,
    }
    const task: Task = { id: `job${id}-0`, job: id, account, kind, main: null, part: null, ...created(now), hurry_at }
    this.jobs.set(id, job)
    this.tasks.set(task.id, task)
    for (const [table, row] of [
      ['jobs', job],
      ['tasks', task],
    ] as const) {
      const [names, values] = [Object.keys(row), Object.values(row) as Value[]]
      const sql = `INSERT INTO ${table} (${names.join()}) VALUES (${names.map((_, n) => `?${n + 1}`).join()})`
      this.#tape?.push({ sql, values, rows: null })
    }
    return task
  }

  find(id: string): Task {
    return { ...this.tasks.get(id)! }
  }

  #row(task: Task): Row {
    const { timeline: _, starts_failed_total: __, hurry_at: ___, plan, ...row } = task
    return { ...row, has_plan: plan === null ? 0 : 1, job_id: this.jobs.get(task.job)!.job_id, webhook: 0 }
  }

  readonly #found = (id: string): Row[] => {
    const task = this.tasks.get(id)
    return task ? [{ ...this.#row(task), timeline: task.timeline, source_seconds: null }] : []
  }

  readonly #job = (jobId: string): Row[] => {
    const job = this.#named(jobId)
    if (!job) return []
    const { id, kind, state, attempt, lost, starts_failed, not_before, timeline } = this.#taskOf(job)
    const { error } = (JSON.parse(timeline) as { error?: unknown }[]).at(-1)!
    const lost_to = state === 'queued' && lost > 0 && error !== undefined ? JSON.stringify(error) : null
    const inspected = { source: null, poster: null, lost_to }
    return [{ ...job, ...inspected, task: id, kind, task_state: state, attempt, lost, starts_failed, not_before }]
  }

  readonly #plan = (id: string): Row[] => {
    const task = this.tasks.get(id)
    return task ? [{ plan: task.plan }] : []
  }

  /** The first plan stays, unless another one replaces it. */
  readonly #savePlan = (...[id, attempt, plan, event, replaces]: [string, number, string, string, 0 | 1]): Row[] => {
    const task = this.tasks.get(id)
    if (task?.state !== 'running' || task.attempt !== attempt || task.main !== null) return []
    if (task.plan === null) task.timeline = `${task.timeline.slice(0, -1)},${event}]`
    if (task.plan === null || replaces === 1) task.plan = plan
    return [{ plan: task.plan }]
  }

  readonly #timeline = (jobId: string): Row[] => {
    const job = this.#named(jobId)
    return job ? [{ timeline: this.#taskOf(job).timeline, finished_at: job.finished_at }] : []
  }

  #named(jobId: string): Job | undefined {
    return this.jobs.get(Number(jobId.slice('job'.length)))
  }

  #taskOf(job: Job): Task {
    return this.tasks.get(`${job.job_id}-0`)!
  }

  /** The WHERE guard of every state change. */
  #seen(id: string, state: TaskState, attempt: number, lost: number): Task | null {
    const task = this.tasks.get(id)
    return task?.state === state && task.attempt === attempt && task.lost === lost ? task : null
  }

  readonly #claim = (
    ...[id, state, attempt, k, lease, now, ...from]: [
      string,
      TaskState,
      number,
      number,
      number,
      number,
      TaskState,
      number,
      number,
    ]
  ): Row[] => {
    const task = this.#seen(id, ...from)
    if (!task || !this.#isFree(k, now) || [...this.slots.values()].some((other) => other.task === id)) return []
    if (task.main !== null && this.parts.mainOf(task)!.state !== 'divided') return []
    if (this.parts.isHeldBack(task)) return []
    this.#moved = { before: { ...task }, isClaim: true }
    Object.assign(task, { state, attempt, slot: k, lease_until: lease, updated_at: now })
    return [{ id }]
  }

  readonly #isFree = (k: number, now: number): boolean => {
    const slot = this.slots.get(k)
    return !slot || (slot.task === null && slot.free_at <= now)
  }

  readonly #change = (
    ...[
      id,
      state,
      attempt,
      lost,
      slot,
      not_before,
      lease_until,
      updated_at,
      fromState,
      fromAttempt,
      fromLost,
      event,
      starts_failed,
      excused,
      furthest,
      evicted,
      parts,
      survey_parts,
    ]: [
      string,
      TaskState,
      number,
      number,
      number | null,
      number,
      number | null,
      number,
      TaskState,
      number,
      number,
      string | null,
      number,
      number,
      number | null,
      number,
      number,
      number,
    ]
  ): Row[] => {
    const task = this.#seen(id, fromState, fromAttempt, fromLost)
    this.#hasChanged = task !== null
    if (!task) return []
    this.#moved = { before: { ...task }, isClaim: false }
    if (starts_failed > task.starts_failed) task.starts_failed_total++
    Object.assign(task, { state, attempt, lost, excused, furthest, evicted, parts, survey_parts, slot })
    Object.assign(task, { not_before, lease_until, updated_at, starts_failed })
    if (event !== null) task.timeline = `${task.timeline.slice(0, -1)},${event}]`
    return [{ id }]
  }

  /** Counts what the statement before it changed, once. */
  readonly #count = (scopes: string): Row[] => {
    if (!this.#hasChanged) return []
    for (const [scope, added] of Object.entries(JSON.parse(scopes) as Record<string, Record<string, number>>)) {
      const series = { ...this.totals.get(scope)?.series }
      for (const [name, by] of Object.entries(added)) series[name] = (series[name] ?? 0) + by
      this.totals.set(scope, { scope, series })
    }
    return []
  }

  readonly #use = (account: string, month: string, amounts: string): Row[] => {
    if (!this.#hasChanged) return []
    for (const amount of JSON.parse(amounts) as Omit<Usage, 'account' | 'month'>[]) {
      const key = [account, month, amount.item, amount.class].join(' ')
      const quantity = amount.quantity + (this.usage.get(key)?.quantity ?? 0)
      this.usage.set(key, { account, month, ...amount, quantity })
    }
    return []
  }

  readonly #take = (k: number, id: string, attempt: number): Row[] => {
    const task = this.tasks.get(id)
    if (task?.state !== 'starting' || task.attempt !== attempt || task.slot !== k) return []
    if ((this.slots.get(k)?.task ?? null) === null)
      this.slots.set(k, {
        k,
        task: id,
        attempt,
        account: task.account,
        free_at: 0,
        unfit_for: this.slots.get(k)?.unfit_for ?? null,
      })
    return []
  }

  /** A batch whose first statement lost its race does not free the slot of an active attempt. */
  readonly #free = (
    ...[id, attempt, until = null, unfit = null]: [string, number, (number | null)?, (string | null)?]
  ): Row[] => {
    const task = this.tasks.get(id)
    if (task?.attempt === attempt && (task.state === 'starting' || task.state === 'running')) return []
    for (const slot of this.slots.values()) {
      if (slot.task !== id || slot.attempt !== attempt) continue
      if (until === null) this.slots.delete(slot.k)
      else Object.assign(slot, { task: null, attempt: null, account: null, free_at: until, unfit_for: unfit })
    }
    return []
  }

  readonly #mirror = (
    ...[id, state, now, isEnd, error, outputs, progress, warnings, task, taskState, attempt, lost, estimate]: [
      number,
      JobState,
      number,
      0 | 1,
      string | null,
      string | null,
      string | null,
      string | null,
      string,
      TaskState,
      number,
      number,
      string | null,
    ]
  ): Row[] => {
    const job = this.jobs.get(id)
    if (!job || !OPEN.includes(job.state) || !this.#seen(task, taskState, attempt, lost)) return []
    Object.assign(job, { state, updated_at: now })
    if (state === 'running') job.started_at ??= now
    if (isEnd) job.finished_at = now
    for (const [name, value] of Object.entries({ error, outputs, progress, warnings, estimate }))
      if (value !== null) Object.assign(job, { [name]: value })
    return []
  }

  readonly #known = (now: number, unfitSince: number): Row[] =>
    [...this.slots.values()]
      .toSorted((a, b) => a.free_at - b.free_at || a.k - b.k)
      .map(({ k, task, free_at: at, unfit_for: unfit }) => ({
        k,
        busy: task !== null || at > now ? 1 : 0,
        unfit_for: at > unfitSince ? unfit : null,
      }))

  /** Fair share, then round robin of accounts, then longest waiting; all priorities are equal here. */
  readonly #waiting = (now: number, limit: number): Row[] => {
    const holds = new Map<string, number>()
    for (const { account } of this.slots.values())
      if (account !== null) holds.set(account, (holds.get(account) ?? 0) + 1)
    const queued = [...this.tasks.values()].filter(
      (task) =>
        task.state === 'queued' &&
        (task.main === null || this.parts.mainOf(task)!.state === 'divided') &&
        !this.parts.isHeldBack(task),
    )
    const served = new Map<string, number>()
    const was = (account: string, at: number) => served.set(account, Math.max(served.get(account) ?? 0, at))
    for (const { account, started_at: at } of this.jobs.values()) was(account, at ?? 0)
    // The start of a part is a start of its account; putting parts together is not.
    for (const task of queued)
      for (const { account, attempt, parts, updated_at: at } of task.main === null
        ? [task]
        : this.parts.partsOf(task.main))
        was(account, attempt > 0 && parts === 0 ? at : 0)
    // A part has waited since its job was divided, also one that was lost.
    const since = (task: Task) => (this.parts.mainOf(task) ?? task).updated_at
    const byAge = (a: Task, b: Task) => since(a) - since(b) || a.job - b.job || (a.part ?? 0) - (b.part ?? 0)
    // What was begun ends before more is begun: the job with the fewest parts left comes first.
    const left = new Map(queued.map((task) => [task.id, this.parts.partsLeft(task)]))
    // What only has to be put together is first, then those that hurry, by age.
    const hurries = (task: Task) => (task.hurry_at ?? since(task) + HURRY_AFTER_MS) <= now
    const rank = (task: Task) => {
      const open = left.get(task.id)!
      return open > 0 && hurries(task) ? 0.5 : open
    }
    return queued
      .toSorted((a, b) => compare(rank(a), rank(b)) || byAge(a, b))
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
      .map(({ task: { id, account, kind, main, part } }) => ({ id, account, kind, main, part }))
  }

  readonly #overdue = (now: number): Row[] => {
    const late = [...this.jobs.values()].filter(
      (job) => job.finished_at === null && (job.state === 'queued' || job.state === 'running') && job.deadline_at < now,
    )
    return late.slice(0, MANY).map((job) => ({ task: this.#taskOf(job).id }))
  }

  readonly #neglected = (starts: number, others: number): Row[] => {
    const found = [...this.tasks.values()].filter(
      ({ state, updated_at: at }) => (state === 'starting' && at < starts) || (AT_WORK.includes(state) && at < others),
    )
    const isLater = ({ state }: Task) => (state === 'starting' ? 0 : 1)
    const inOrder = found.toSorted(
      (a, b) => isLater(a) - isLater(b) || a.updated_at - b.updated_at || (a.id < b.id ? -1 : 1),
    )
    return inOrder.map(({ id, job, attempt, state, lease_until }) => ({
      id,
      job_id: this.jobs.get(job)!.job_id,
      attempt,
      state,
      lease_until,
    }))
  }
}

/** The event behind a change that no request asked for: from the monitor, a commit, or another task of the job. */
function noticed({ state, attempt }: Task, after: Task): TaskEvent {
  if (after.state === 'cancelled') return { type: 'cancel' }
  if (state === 'divided')
    return after.state === 'queued'
      ? { type: 'parts_done', attempt }
      : { type: 'part_failed', error: { code: 'internal', message: '' } }
  if (state === 'committing')
    return after.state === 'completed'
      ? { type: 'committed', attempt }
      : { type: 'commit_failed', attempt, error: { code: 'internal', message: '' } }
  if (state === 'starting' && after.state === 'failed') {
    const { error } = (JSON.parse(after.timeline) as { error?: JobError }[]).at(-1)!
    return { type: 'attempt_failed', attempt, error: error! }
  }
  return state === 'starting'
    ? { type: 'start_failed', attempt, reason: 'no_answer' }
    : { type: 'lost', attempt, ranMs: 0, share: 0 }
}

/** Of two infinite numbers, none is smaller. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b
}

function sorted(table: ReadonlyMap<string | number, object>): Row[] {
  const keys = [...table.keys()].toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
  return keys.map((key) => inColumns({ ...table.get(key) }))
}

/** Totals are stored as JSON, their names in order. */
function inColumns(row: Row): Row {
  if (!('series' in row)) return row
  const names = Object.keys(row['series'] as object).toSorted((a, b) => (a < b ? -1 : 1))
  return { ...row, series: JSON.stringify(row['series'], names) }
}
