// In charge of: running one SQL statement with its values: for a row, for all rows, or for its effect.
// Not in charge of: the statements (the other files of this folder), batches, which prepare theirs.

type Values = readonly (string | number | null)[]

/** The first row; null if there is none. */
export function first<Row>(db: D1Database, sql: string, values: Values = []): Promise<Row | null> {
  const statement = db.prepare(sql)
  return statement.bind(...values).first<Row>()
}

export async function all<Row>(db: D1Database, sql: string, values: Values = []): Promise<Row[]> {
  const statement = db.prepare(sql)
  return (await statement.bind(...values).all<Row>()).results
}

export async function run(db: D1Database, sql: string, values: Values = []): Promise<void> {
  const statement = db.prepare(sql)
  await statement.bind(...values).run()
}
