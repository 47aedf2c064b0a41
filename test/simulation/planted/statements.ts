// In charge of: planted bugs of the SQL of the ledger, and what it counts.
// Not in charge of: applying them (test/node/harness/simulation.test.ts).
import { tasks, type Planted } from './planted.ts'

export const BUGS_OF_STATEMENTS: readonly Planted[] = [
  {
    name: 'SQL: the guard does not name the fence',
    file: tasks,
    find: `WHERE id = ?1 AND state = ?9 AND attempt = ?10 AND lost = ?11
       RETURNING`,
    replaceWith: `WHERE id = ?1 AND ?9 = ?9 AND ?10 = ?10 AND ?11 = ?11
       RETURNING`,
    seeds: 1000,
    finds: /I2 |I3 |I11 |I18 /,
  },
  {
    name: 'SQL: a slot whose last start failed is offered first',
    file: tasks,
    find: 'FROM slots ORDER BY free_at, k`',
    replaceWith: 'FROM slots ORDER BY -free_at, k`',
    seeds: 1000,
    finds: /order .*slots/,
  },
  {
    name: 'SQL: a slot that another holds is claimed',
    file: tasks,
    find: 'AND NOT EXISTS (SELECT 1 FROM slots WHERE k = ?4 AND (task IS NOT NULL OR free_at > ?6))',
    replaceWith: '',
    seeds: 1000,
    finds: /I3 .*starting with 0 slots/,
  },
  {
    name: 'SQL: a batch that lost its race frees the slot of a running attempt',
    file: tasks,
    find: `WHERE task = ?1 AND attempt = ?2 AND \${attemptIsOver}\`,
    )`,
    replaceWith: `WHERE task = ?1 AND attempt = ?2\`,
    )`,
    seeds: 1000,
    finds: /I3 .*with 0 slots/,
  },
  {
    name: 'SQL: the job does not say what its task says',
    file: tasks,
    find: `finished_at = CASE WHEN ?4 THEN ?3 ELSE finished_at END`,
    replaceWith: `finished_at = CASE WHEN ?4 THEN ?3 ELSE ?3 END`,
    seeds: 50,
    finds: /I2 .*its end is/,
  },
  {
    name: 'SQL: waiting tasks start before their time',
    file: tasks,
    find: `WHERE waiting.not_before <= ?1 AND`,
    replaceWith: `WHERE ?1 = ?1 AND`,
    seeds: 200,
    finds: /order .*waiting/,
  },
  {
    name: 'SQL: the metrics count a change that lost its race',
    file: 'worker/db/metricTotals.ts',
    find: `add('changes() > 0')`,
    replaceWith: `add('TRUE')`,
    seeds: 1000,
    finds: /I18 .*_total is/,
  },
  {
    name: 'a lost attempt is counted as a job',
    file: 'worker/usage/transitionUsage.ts',
    find: `if (terminal[next.state] && task.main === null) add('jobs', isDryRun ? DRY_RUNS : next.state, 1)`,
    replaceWith: `if ((ranUntilNow || terminal[next.state]) && task.main === null) add('jobs', isDryRun ? DRY_RUNS : terminal[next.state] ? next.state : 'failed', 1)`,
    seeds: 1000,
    finds: /I18/,
  },
  {
    name: 'SQL: the usage counts a change that lost its race',
    file: 'worker/db/usage.ts',
    find: 'FROM json_each(?3) WHERE changes() > 0',
    replaceWith: 'FROM json_each(?3) WHERE TRUE',
    seeds: 1000,
    finds: /I18 .*in the usage/,
  },
]
