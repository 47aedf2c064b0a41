// In charge of: races that always happen: something that is done just before a statement runs.

type Then = () => Promise<unknown>

/** The database, where `then` is done once, just before the first statement that begins with these words runs. */
export function before(db: D1Database, begins: string, then: Then): D1Database {
  let due: Then | null = then
  const late = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown
        if (name === 'bind') return (...values: unknown[]) => late(target.bind(...values))
        if (typeof member !== 'function') return member
        return async (...values: unknown[]): Promise<unknown> => {
          const first = due
          due = null
          await first?.()
          return member.apply(target, values) as unknown
        }
      },
    })
  return new Proxy(db, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown
      if (name !== 'prepare') return typeof member === 'function' ? (member.bind(target) as unknown) : member
      return (sql: string) => {
        const statement = target.prepare(sql)
        return sql.trimStart().startsWith(begins) ? late(statement) : statement
      }
    },
  })
}
