// In charge of: playing a tape of the model's ledger to the service's own SQL, with the same gaps between reading and
// writing, and comparing every row and every answer behind each event.
// Not in charge of: which database it is (D1 in workerd, or SQLite in Node), making tapes (simulate.ts).
import type { TaskEvent } from '#contract/task/lifecycle.ts'
import type { Options, Tape } from './databaseModel.ts'

/** As far as it is needed here: the same in D1 and in what stands in for it. */
interface Statement {
  bind(...values: unknown[]): Statement
  all(): Promise<{ results: unknown[] }>
}
export interface Database {
  prepare(sql: string): Statement
  batch(statements: Statement[]): Promise<{ results: unknown[] }[]>
}

/** The service's functions, from the repository or from a copy of it with a bug. */
export interface Sql {
  advance: (
    env: { DB: Database },
    task: string,
    event: TaskEvent,
    options: Options & { lastFigures: () => Promise<string | null> },
  ) => Promise<unknown>
  listBusySlots: (db: Database, now: number) => Promise<number[]>
  listWaitingTasks: (db: Database, now: number, limit: number) => Promise<{ id: string }[]>
  listNeglectedTasks: (
    db: Database,
    now: number,
    startMs: number,
    quietMs: number,
    limit: number,
  ) => Promise<{ id: string }[]>
  listOverdueJobs: (db: Database, now: number, limit: number) => Promise<{ task: string }[]>
}

/** A call that has read and not yet written. */
interface Open {
  /** Resolves when it stands before its write again (true), or has ended (false). */
  standing: () => Promise<boolean>
  /** What is to be read behind the write goes with it, in one batch. */
  write: (behind: Behind) => void
}

interface Behind {
  statements: Statement[]
  results: { results: unknown[] }[]
}

const MANY = 1000
/** Statements of one batch. */
const MANY_LISTS = 50

/** @returns what differs first, or null. `clock` sets what `Date.now()` says. */
export async function replay(db: Database, sql: Sql, tape: Tape, clock: (now: number) => void): Promise<string | null> {
  await db.batch(['slots', 'tasks', 'jobs'].map((table) => db.prepare(`DELETE FROM ${table}`)))
  const calls = new Map<number, Open>()
  let figures: string | null = null
  const lists = gathering(db)
  for (let index = 0; index < tape.length;) {
    // Between two writes the lists change nothing, so a whole run of them is asked at once.
    const run = [tape[index]!]
    while (isList(run[0]!) && run.length < MANY_LISTS && tape[index + run.length] && isList(tape[index + run.length]!))
      run.push(tape[index + run.length]!)
    const differences = await Promise.all(run.map(play))
    const found = differences.findIndex((difference) => difference !== null)
    if (found >= 0) return `entry ${index + found} (${describe(run[found]!)}): ${differences[found]}`
    index += run.length
  }
  return null

  async function play(entry: Tape[number]): Promise<string | null> {
    switch (entry.kind) {
      case 'insert':
        await insert(db, entry)
        return null
      case 'read': {
        clock(entry.now)
        figures = entry.figures
        const call = open(entry.task, entry.event, entry.options)
        calls.set(entry.call, call)
        return differs('goes on to write', await call.standing(), entry.open)
      }
      case 'write': {
        clock(entry.now)
        figures = entry.figures
        const call = calls.get(entry.call)!
        const rows = rowsOf(db, entry.rows)
        call.write(rows)
        const standing = await call.standing()
        return differs('reads again', standing, entry.open) ?? compareRows(rows.results, entry.rows)
      }
      case 'busy':
        return differs(
          'busy slots',
          (await sql.listBusySlots(lists, entry.now)).toSorted((a, b) => a - b),
          entry.slots,
        )
      case 'waiting': {
        const rows = await sql.listWaitingTasks(lists, entry.now, entry.limit)
        return differs(
          'waiting tasks',
          rows.map(({ id }) => id),
          entry.tasks,
        )
      }
      case 'overdue': {
        const rows = await sql.listOverdueJobs(lists, entry.now, MANY)
        return differs('overdue tasks', rows.map(({ task }) => task).toSorted(), entry.tasks.toSorted())
      }
      case 'neglected': {
        const rows = await sql.listNeglectedTasks(lists, entry.now, entry.startMs, entry.quietMs, MANY)
        return differs('neglected tasks', rows.map(({ id }) => id).toSorted(), entry.tasks.toSorted())
      }
    }
  }

  function open(task: string, event: TaskEvent, options: Options): Open {
    let arrived: (standing: boolean) => void
    let standing = new Promise<boolean>((resolve) => (arrived = resolve))
    let write: (behind: Behind) => void = () => undefined
    const gated: Database = {
      prepare: (text) => db.prepare(text),
      async batch(statements) {
        const released = new Promise<Behind>((resolve) => (write = resolve))
        arrived(true)
        const behind = await released
        const results = await db.batch([...statements, ...behind.statements])
        behind.results = results.splice(statements.length)
        return results
      },
    }
    let failed: Error | null = null
    const fail = (error: unknown): void => {
      failed = error instanceof Error ? error : new Error(String(error))
      arrived(false)
    }
    sql
      .advance({ DB: gated }, task, event, { ...options, lastFigures: () => Promise.resolve(figures) })
      .then(() => arrived(false), fail)
    return {
      async standing() {
        const goesOn = await standing
        if (failed) throw failed
        return goesOn
      },
      write(behind) {
        standing = new Promise((resolve) => (arrived = resolve))
        write(behind)
      },
    }
  }
}

async function insert(db: Database, { job, task }: Extract<Tape[number], { kind: 'insert' }>): Promise<void> {
  await db.batch([
    db
      .prepare(
        `INSERT INTO jobs (id, job_id, account, state, config, warnings, created_at, updated_at, deadline_at)
         VALUES (?1, ?2, ?3, ?4, '{}', '[]', ?5, ?5, ?6)`,
      )
      .bind(job.id, `job${job.id}`, job.account, job.state, job.created_at, job.deadline_at),
    db
      .prepare(
        `INSERT INTO tasks (id, job, account, kind, state, not_before, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
      )
      .bind(task.id, task.job, task.account, task.kind, task.state, task.not_before, task.updated_at),
  ])
}

type Rows = Extract<Tape[number], { kind: 'write' }>['rows']

function rowsOf(db: Database, rows: Rows): Behind {
  const statements = [
    db
      .prepare(
        `SELECT id, job, account, kind, state, attempt, lost, starts_failed, slot, not_before, lease_until, updated_at FROM tasks WHERE id = ?1`,
      )
      .bind(rows.task.id),
    db
      .prepare(
        `SELECT id, account, state, created_at, started_at, finished_at, deadline_at, error, outputs, progress FROM jobs WHERE id = ?1`,
      )
      .bind(rows.job.id),
    db.prepare(`SELECT k, task, attempt, account, free_at FROM slots ORDER BY k`),
  ]
  return { statements, results: [] }
}

function compareRows([tasks, jobs, slots]: Behind['results'], rows: Rows): string | null {
  return (
    differs('the task', tasks?.results[0], rows.task) ??
    differs('the job', jobs?.results[0], rows.job) ??
    differs('the slots', slots?.results, rows.slots)
  )
}

function isList({ kind }: Tape[number]): boolean {
  return kind === 'busy' || kind === 'waiting' || kind === 'overdue' || kind === 'neglected'
}

/** Statements that are asked in one go are sent in one batch: a thousand seeds on D1 are mostly round trips. */
function gathering(db: Database): Database {
  let asked: { statement: Statement; answer: (result: Promise<{ results: unknown[] }>) => void }[] = []
  const send = (): void => {
    const sent = asked
    asked = []
    const results = db.batch(sent.map(({ statement }) => statement))
    for (const [index, { answer }] of sent.entries()) answer(results.then((all) => all[index]!))
  }
  const gather = (statement: Statement): Statement => ({
    bind: (...values) => gather(statement.bind(...values)),
    all: () =>
      new Promise((answer) => {
        if (asked.length === 0) queueMicrotask(send)
        asked.push({ statement, answer })
      }),
  })
  return { prepare: (sql) => gather(db.prepare(sql)), batch: (statements) => db.batch(statements) }
}

function differs(what: string, got: unknown, wanted: unknown): string | null {
  const [a, b] = [canonical(got), canonical(wanted)]
  return a === b ? null : `${what}: the SQL says ${a}, the model ${b}`
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

function describe(entry: Tape[number]): string {
  return entry.kind === 'read' ? `${entry.event.type} of ${entry.task}` : entry.kind
}
