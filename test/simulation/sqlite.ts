// In charge of: SQLite in this process, in the shape of D1, with the service's own migrations.
// Not in charge of: anything that D1 has beyond prepare, bind, first, all, run and batch.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Database } from './sqlReplay.ts'

class Prepared {
  readonly #db: DatabaseSync
  readonly #sql: string
  #values: SQLInputValue[] = []

  constructor(db: DatabaseSync, sql: string) {
    this.#db = db
    this.#sql = sql
  }

  bind(...values: unknown[]): this {
    this.#values = values as SQLInputValue[]
    return this
  }

  rows(): unknown[] {
    const parameters = Object.fromEntries(this.#values.map((value, index) => [`?${index + 1}`, value]))
    const statement = this.#db.prepare(this.#sql)
    return /\?\d/.test(this.#sql) ? statement.all(parameters) : statement.all(...this.#values)
  }

  all(): Promise<{ results: unknown[] }> {
    return Promise.resolve({ results: this.rows() })
  }

  run(): Promise<{ results: unknown[] }> {
    return this.all()
  }

  first(): Promise<unknown> {
    return Promise.resolve(this.rows()[0] ?? null)
  }
}

/** @param root a directory with migrations/ in it */
export function openDatabase(root: string): Database {
  const db = new DatabaseSync(':memory:')
  const migrations = join(root, 'migrations')
  for (const name of readdirSync(migrations).toSorted()) db.exec(readFileSync(join(migrations, name), 'utf8'))
  return {
    prepare: (sql) => new Prepared(db, sql),
    batch(statements) {
      db.exec('BEGIN')
      try {
        const results = statements.map((statement) => ({ results: (statement as Prepared).rows() }))
        db.exec('COMMIT')
        return Promise.resolve(results)
      } catch (error) {
        db.exec('ROLLBACK')
        return Promise.reject(error instanceof Error ? error : new Error(String(error)))
      }
    },
  }
}
