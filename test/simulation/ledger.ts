// In charge of: the database of a run: the service's own SQL on SQLite with D1's interface, and, for the checker, its rows
// and each change of a task.
// Not in charge of: which statements are sent, and when (worker/scheduler …), which changes are allowed (invariants.ts).
import type { JobError } from '#contract/errors.ts'
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import { REST, LAST_CHUNK } from '#contract/task/partPositions.ts'
import type { Code } from './productionCode.ts'
import type { Program } from './program.ts'
import { Sqlite, type Row, type Value } from './sqlite.ts'
import type { Job, SimulatedPlan, Slot, Task } from './tables.ts'

export interface Change {
  before: Task
  after: Task
  event: TaskEvent
}

/** A list whose order matters, as the database gave it. */
export interface Listing {
  of: 'waiting' | 'slots' | 'unattended' | 'parts'
  values: readonly Value[]
  rows: readonly Row[]
}

interface Observer {
  changed(change: Change): void
  listed(listing: Listing): void
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

/** Notes which rows a statement wrote. What a trigger does is not part of `changes()`. */
const NOTES = `CREATE TEMP TABLE written (name TEXT, key);
${(
  [
    ['tasks', 'id', 'INSERT', 'NEW'],
    ['tasks', 'id', 'UPDATE', 'NEW'],
    ['jobs', 'id', 'UPDATE', 'NEW'],
    ['slots', 'k', 'INSERT', 'NEW'],
    ['slots', 'k', 'UPDATE', 'NEW'],
    ['slots', 'k', 'DELETE', 'OLD'],
  ] as const
)
  .map(
    ([table, key, change, row]) =>
      `CREATE TEMP TRIGGER ${table}_${change} AFTER ${change} ON ${table} BEGIN INSERT INTO written VALUES ('${table}', ${row}.${key}); END;`,
  )
  .join('\n')}`
const READS = /^\s*(?:SELECT|WITH)\b/

export class Ledger {
  readonly tasks = new Map<string, Task>()
  readonly jobs = new Map<number, Job>()
  readonly slots = new Map<number, Slot>()
  readonly #sqlite: Sqlite
  readonly #observer: Observer
  readonly #listings: ReadonlyMap<string, Listing['of']>

  constructor({ root, tasks, parts }: Pick<Code, 'root' | 'tasks' | 'parts'>, observer: Observer) {
    this.#sqlite = new Sqlite(root)
    this.#sqlite.execute(NOTES)
    this.#observer = observer
    this.#listings = new Map<string, Listing['of']>([
      [sentBy((db) => tasks.listWaitingTasks(db, 0, 0)), 'waiting'],
      [sentBy((db) => tasks.listKnownSlots(db, 0)), 'slots'],
      [sentBy((db) => tasks.listUnattendedTasks(db, 0, 0, 0, 0)), 'unattended'],
      [sentBy((db) => parts.listPartStates(db, '')), 'parts'],
    ])
  }

  /** The database as one program sees it; `soon` returns the duration of a statement. */
  database(program: Program, soon: () => number): D1Database {
    const ask = (statement: Statement) =>
      program.effect(() => {
        const rows = this.#answer(statement)
        if (!READS.test(statement.sql)) this.#observe(program)
        return rows
      }, soon())
    const db = {
      prepare: (sql: string) => new Statement(sql, [], ask),
      batch: (statements: Statement[]) =>
        program.effect(() => {
          const answers = this.#sqlite.transaction(() =>
            statements.map((statement) => ({ results: this.#answer(statement) })),
          )
          this.#observe(program)
          return answers
        }, soon()),
    }
    return db as unknown as D1Database
  }

  #answer({ sql, values }: Statement): Row[] {
    const of = this.#listings.get(sql)
    // Most of the time nothing waits, and this statement would take half of a run.
    if (of === 'waiting' && [...this.tasks.values()].every(({ state }) => state !== 'queued')) return []
    const rows = this.#sqlite.rows(sql, values)
    if (of !== undefined) this.#observer.listed({ of, values, rows })
    return rows
  }

  /** Tells the observer of each task that was changed, once all rows are as they are now. */
  #observe(program: Program): void {
    const changes = this.#readWritten()
    for (const { before, after } of changes) {
      const { asked } = program
      const isAsked = asked?.id === before.id
      const event = isClaim(before, after)
        ? ({ type: 'claim' } as const)
        : isAsked
          ? asked.event
          : noticed(before, after)
      this.#observer.changed({ before, after: this.find(after.id), event })
    }
  }

  #readWritten(): { before: Task; after: Task }[] {
    const written = this.#sqlite.rows('SELECT DISTINCT name, key FROM written') as { name: string; key: never }[]
    if (written.length === 0) return []
    this.#sqlite.rows('DELETE FROM written')
    const changes: { before: Task; after: Task }[] = []
    for (const { name, key } of written) {
      if (name === 'slots') this.#readSlot(key)
      else if (name === 'jobs') this.#readJob(key)
      else {
        const before = this.tasks.get(key)
        const after = this.#readTask(key)
        if (before !== undefined && hasMoved(before, after)) changes.push({ before, after })
      }
    }
    return changes
  }

  #readTask(id: string): Task {
    const [row] = this.#sqlite.rows('SELECT * FROM tasks WHERE id = ?1', [id]) as unknown as Task[]
    this.tasks.set(id, { ...row! })
    return row!
  }

  #readJob(id: number): void {
    const columns = 'id, job_id, account, state, error, started_at, finished_at, deadline_at'
    const [row] = this.#sqlite.rows(`SELECT ${columns} FROM jobs WHERE id = ?1`, [id]) as unknown as Job[]
    this.jobs.set(id, row!)
  }

  #readSlot(k: number): void {
    const [row] = this.#sqlite.rows('SELECT * FROM slots WHERE k = ?1', [k]) as unknown as Slot[]
    if (row === undefined) this.slots.delete(k)
    else this.slots.set(k, row)
  }

  insert(id: number, now: number, given: Pick<Job, 'account' | 'deadline_at'> & Pick<Task, 'kind' | 'hurry_at'>): Task {
    const { account, kind, deadline_at: deadline, hurry_at: hurry } = given
    const config = JSON.stringify({ cloud_credentials: { output: { cloud_provider: 'vendor-store' } } })
    this.#sqlite.rows(
      `INSERT INTO jobs (id, job_id, account, state, config, warnings, created_at, updated_at, deadline_at)
         VALUES (?1, 'job' || CAST(?1 AS INTEGER), ?2, 'queued', ?3, '[]', ?4, ?4, ?5)`,
      [id, account, config, now, deadline],
    )
    const timeline = JSON.stringify([{ type: 'job.created', at: now }])
    this.#sqlite.rows(
      `INSERT INTO tasks (id, job, account, kind, state, not_before, updated_at, timeline, hurry_at)
         VALUES (?1, ?2, ?3, ?4, 'queued', 0, ?5, ?6, ?7)`,
      [`job${id}-0`, id, account, kind, now, timeline, hurry],
    )
    this.#readJob(id)
    this.#readWritten()
    return this.find(`job${id}-0`)
  }

  find(id: string): Task {
    return { ...this.tasks.get(id)! }
  }

  partsOf(main: string): Task[] {
    return [...this.tasks.values()].filter((task) => task.main === main)
  }

  mainOf({ main }: Task): Task | null {
    return main === null ? null : (this.tasks.get(main) ?? null)
  }

  /** The build of the ffmpeg with which all parts of the job are made. */
  plannedBuild(main: string): string | null {
    const plan = this.tasks.get(main)?.plan ?? null
    return plan === null ? null : (JSON.parse(plan) as SimulatedPlan).engine.build
  }

  /** The rest of the outputs begins once the last chunk is stored. */
  isHeldBack(task: Task): boolean {
    const main = this.mainOf(task)
    if (main === null || task.part !== main.survey_parts + REST) return false
    const last = this.partsOf(main.id).find(({ part }) => part === main.survey_parts + LAST_CHUNK)
    return last?.state !== 'completed'
  }

  /** One of the parts that wait for another one. */
  heldBack(): string | undefined {
    return [...this.tasks.values()].find((task) => task.state === 'queued' && this.isHeldBack(task))?.id
  }

  /** How many jobs the usage counts, by class. */
  usedJobs(): ReadonlyMap<string, number> {
    const rows = this.#sqlite.rows(
      `SELECT class, SUM(quantity) AS quantity FROM usage WHERE item = 'jobs' GROUP BY class`,
    )
    return new Map(rows.map((row) => [row['class'] as string, row['quantity'] as number]))
  }

  /** The sum of all series of a counter of /metrics. */
  counted(counter: string): number {
    const rows = this.#sqlite.rows('SELECT series FROM metric_totals') as { series: string }[]
    const series = rows.flatMap((row) => Object.entries(JSON.parse(row.series) as Record<string, number>))
    return series.reduce((sum, [name, n]) => sum + (name.split('{')[0] === counter ? n : 0), 0)
  }

  close(): void {
    this.#sqlite.close()
  }
}

/** More of a task than its plan has changed. */
function hasMoved(before: Task, after: Task): boolean {
  const moves = ['state', 'attempt', 'lost', 'evicted', 'starts_failed'] as const
  return moves.some((name) => before[name] !== after[name])
}

function isClaim(before: Task, after: Task): boolean {
  return after.state === 'starting' && after.attempt !== before.attempt
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
