// In charge of: deterministic races: an intervention just before a given statement runs.

type Intervention = () => Promise<unknown>

/** A database that calls `then` once, just before the first statement or batch that starts with `begins`. */
export function runBefore(db: D1Database, begins: string, then: Intervention): D1Database {
  let due: Intervention | null = then
  const late = new WeakMap<D1PreparedStatement, D1PreparedStatement>()
  const race = async (): Promise<void> => {
    const first = due
    due = null
    await first?.()
  }
  const delay = (statement: D1PreparedStatement): D1PreparedStatement => {
    const made = new Proxy(statement, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown
        if (name === 'bind') return (...values: unknown[]) => delay(target.bind(...values))
        if (typeof member !== 'function') return member
        return async (...values: unknown[]): Promise<unknown> => {
          await race()
          return member.apply(target, values) as unknown
        }
      },
    })
    late.set(made, statement)
    return made
  }
  return new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          const statement = target.prepare(sql)
          return sql.trimStart().startsWith(begins) ? delay(statement) : statement
        }
      }
      if (name === 'batch') {
        return async (statements: D1PreparedStatement[]): Promise<unknown> => {
          if (statements.some((each) => late.has(each))) await race()
          return target.batch(statements.map((each) => late.get(each) ?? each))
        }
      }
      const member = Reflect.get(target, name) as unknown
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
