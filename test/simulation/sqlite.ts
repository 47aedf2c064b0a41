// In charge of: SQLite in this process, with the service's own migrations.
// Not in charge of: D1's interface to it, what changed in its rows (ledger.ts).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

export type Value = string | number | null
/** What a statement returns. */
export type Row = Record<string, unknown>

export class Sqlite {
  readonly #db = new DatabaseSync(':memory:')
  readonly #prepared = new Map<string, StatementSync>()

  /** @param root a directory that contains migrations/ */
  constructor(root: string) {
    const migrations = join(root, 'migrations')
    for (const name of readdirSync(migrations).toSorted()) this.#db.exec(readFileSync(join(migrations, name), 'utf8'))
  }

  execute(sql: string): void {
    this.#db.exec(sql)
  }

  /** Values by number: `?1` is the first. */
  rows(sql: string, values: readonly Value[] = []): Row[] {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql)
    this.#prepared.set(sql, statement)
    const parameters: Record<string, SQLInputValue> = {}
    for (const [index, value] of values.entries()) parameters[`?${index + 1}`] = value
    return statement.all(parameters)
  }

  /** All of it, or nothing. */
  transaction<T>(work: () => T): T {
    this.#db.exec('BEGIN')
    try {
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#prepared.clear()
    this.#db.close()
  }
}
