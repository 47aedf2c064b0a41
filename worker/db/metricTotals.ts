// In charge of: the SQL of the totals behind /metrics.
// Not in charge of: what is counted (metrics/), the other values of /metrics (metrics.ts).
import type { Series } from '../util/totals.ts'
import { all } from './statement.ts'

const add = (condition: string) => `INSERT INTO metric_totals (scope, series)
     SELECT key, value FROM json_each(?1) WHERE ${condition}
     ON CONFLICT (scope) DO UPDATE SET series = (
       SELECT json_group_object(name, total) FROM (
         SELECT name, SUM(n) AS total FROM (
           SELECT key AS name, value AS n FROM json_each(metric_totals.series)
           UNION ALL SELECT key, value FROM json_each(excluded.series)
         ) GROUP BY name ORDER BY name))`

/**
 * In one batch, directly behind the statement that is counted: adds nothing if that one changed nothing, because another
 * writer was first or the message is a repetition. So each change is counted exactly once.
 */
export function addTotalsIfChanged(db: D1Database, scope: string, series: Series): D1PreparedStatement {
  return db.prepare(add('changes() > 0')).bind(JSON.stringify({ [scope]: series }))
}

/** Adds to several scopes. One row is written for each. */
export function addTotals(db: D1Database, scopes: Record<string, Series>): D1PreparedStatement {
  return db.prepare(add('TRUE')).bind(JSON.stringify(scopes))
}

/** All series of all scopes. */
export async function readTotals(db: D1Database): Promise<Series> {
  const rows = await all<{ series: string }>(db, `SELECT series FROM metric_totals ORDER BY scope`)
  return Object.assign({}, ...rows.map(({ series }) => JSON.parse(series) as Series)) as Series
}
