// In charge of: SQLite in this process with D1's interface, with the service's own migrations.
// Not in charge of: D1 features other than prepare, bind and batch.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { Database } from './sqlReplay.ts'

class Bound {
  readonly rows: () => unknown[]
  readonly #statement: StatementSync

  constructor(statement: StatementSync, values: readonly unknown[] = []) {
    this.#statement = statement
    const parameters = Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value as SQLInputValue]))
    this.rows = () => statement.all(parameters)
  }

  bind(...values: unknown[]): Bound {
    return new Bound(this.#statement, values)
  }
}

/** @param root a directory that contains migrations/ */
export function openDatabase(root: string): Database {
  const db = new DatabaseSync(':memory:')
  const migrations = join(root, 'migrations')
  for (const name of readdirSync(migrations).toSorted()) db.exec(readFileSync(join(migrations, name), 'utf8'))
  const prepared = new Map<string, StatementSync>()
  return {
    prepare(sql) {
      const statement = prepared.get(sql) ?? db.prepare(sql)
      prepared.set(sql, statement)
      return new Bound(statement)
    },
    batch(statements) {
      db.exec('BEGIN')
      try {
        const results = statements.map((statement) => ({ results: (statement as Bound).rows() }))
        db.exec('COMMIT')
        return Promise.resolve(results)
      } catch (error) {
        db.exec('ROLLBACK')
        return Promise.reject(error instanceof Error ? error : new Error(String(error)))
      }
    },
  }
}
