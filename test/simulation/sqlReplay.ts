// In charge of: replaying a recorded tape of the model's database on the service's own SQL, and comparing every answer
// and, after each change, every row.
// Not in charge of: which database it is (D1 in workerd, or SQLite in Node), recording tapes (databaseModel.ts).
import type { Tape } from './databaseModel.ts'

/** The part of a statement that is used here: the same in D1 and in its substitute. */
interface Statement {
  bind(...values: unknown[]): Statement
}
export interface Database {
  prepare(sql: string): Statement
  batch(statements: Statement[]): Promise<{ results: unknown[] }[]>
}

/** Statements per batch: a thousand seeds on D1 are mostly round trips. */
const MANY = 200

/** @returns the first difference, or null */
export async function replay(db: Database, tape: Tape): Promise<string | null> {
  await db.batch(
    ['slots', 'tasks', 'jobs', 'metric_totals', 'usage'].map((table) => db.prepare(`DELETE FROM ${table}`)),
  )
  for (let from = 0, to = 0; from < tape.length; from = to) {
    to = from + MANY
    // Looks at what the statement before it changed: D1 changes rows of its own between two batches.
    while (tape[to]?.sql.includes('changes()') === true) to++
    const entries = tape.slice(from, to)
    const answers = await db.batch(entries.map(({ sql, values }) => db.prepare(sql).bind(...values)))
    for (const [index, { sql, values, rows }] of entries.entries()) {
      if (rows === null) continue
      // Without ORDER BY, any order is correct.
      const inOrder = (all: string[]) => (/ORDER BY/.test(sql) ? all : all.toSorted())
      const members = rows.map((row) => Object.keys(row))[0] ?? []
      const got = inOrder(
        answers[index]!.results.map((row) => valuesOf(row, rows.length > 0 ? members : Object.keys(row as object))),
      ).join()
      const wanted = inOrder(rows.map((row) => valuesOf(row, members))).join()
      if (got !== wanted)
        return `entry ${from + index}, ${sql.trim().slice(0, 60)} of ${JSON.stringify(values)}: the SQL says ${got}, the model ${wanted}`
    }
  }
  return null
}

/** Only the columns that the model has. */
function valuesOf(row: unknown, members: readonly string[]): string {
  return JSON.stringify(members.map((name) => [name, (row as Record<string, unknown>)[name]]))
}
