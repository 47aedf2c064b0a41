// In charge of: bugs, as patches for a copy of the source, and what must be said of each.
// Not in charge of: applying them (test/node/harness/simulation.test.ts). Nothing of this is ever part of what is shipped.

export interface Planted {
  name: string
  file: string
  /** Stands exactly once in the file. */
  find: string
  put: string
  /** It must be found within so many. */
  seeds: number
  finds: RegExp
  /** Only the SQL has it. */
  sql?: boolean
}

const lifecycle = 'contract/task/lifecycle.ts'
const tasks = 'worker/db/tasks.ts'

export const PLANTED: readonly Planted[] = [
  {
    name: 'a dropped fence: events of any attempt are taken',
    file: lifecycle,
    find: `if ('attempt' in event && event.attempt !== life.attempt) return refuse('stale')`,
    put: '',
    seeds: 1000,
    finds: /I3|I11/,
  },
  {
    name: 'a terminal state that changes',
    file: lifecycle,
    find: '    return refuse(repeated ?',
    put: `    if (event.type === 'cancel') return move(life, { state: 'cancelled' }, [])
    return refuse(repeated ?`,
    seeds: 1000,
    finds: /I2 /,
  },
  {
    name: 'cancel beats the commit',
    file: lifecycle,
    find: `if (life.state === 'committing') return refuse('impossible')
      return move(
        life,
        { state: 'cancelled' },`,
    put: `return move(
        life,
        { state: 'cancelled' },`,
    seeds: 5000,
    finds: /I9/,
  },
  {
    name: 'a slot is not released behind a finish',
    file: lifecycle,
    find: `{ state: 'committing' }, ['release_slot', 'schedule']`,
    put: `{ state: 'committing' }, ['schedule']`,
    seeds: 100,
    finds: /I3 .*slots/,
  },
  {
    name: 'a lost attempt is not counted',
    file: lifecycle,
    find: 'const lost = life.lost + 1',
    put: 'const lost = life.lost',
    seeds: 1000,
    finds: /I1 /,
  },
  {
    name: 'one attempt too many',
    file: lifecycle,
    find: 'if (lost >= MAX_LOST_ATTEMPTS)',
    put: 'if (lost > MAX_LOST_ATTEMPTS)',
    seeds: 2000,
    finds: /I1 /,
  },
  {
    name: 'a retry without a pause',
    file: lifecycle,
    find: 'null, retryDelayMs(lost, error))',
    put: 'null, 0)',
    seeds: 1000,
    finds: /I11/,
  },
  {
    name: 'a retry without a cap',
    file: lifecycle,
    find: 'Math.min(60_000, 1000 * 2 ** (lost - 1))',
    put: '1000 * 60 ** lost * 2',
    seeds: 1000,
    finds: /I11/,
  },
  {
    name: 'finish is taken from a task that is not running',
    file: lifecycle,
    find: `return life.state === 'running' && life.kind === 'transcode'`,
    put: `return life.kind === 'transcode'`,
    seeds: 20_000,
    finds: /I/,
  },
  {
    name: 'a dry run commits',
    file: lifecycle,
    find: `return life.state === 'running' && life.kind === 'plan'
        ? move(life, { state: 'completed' }, ['release_slot', 'settle', 'schedule'])`,
    put: `return life.state === 'running' && life.kind === 'plan'
        ? move(life, { state: 'committing' }, ['release_slot', 'schedule'])`,
    seeds: 200,
    finds: /I7|I6|I1/,
  },
  {
    name: 'a permanent error is tried again',
    file: lifecycle,
    find: `? move(life, { state: 'failed' }, ['release_slot', 'settle', 'schedule'], event.error)`,
    put: `? move(life, { state: 'queued' }, ['release_slot', 'schedule'], null)`,
    seeds: 500,
    finds: /I13/,
  },
  {
    name: 'a start that failed counts as a lost attempt',
    file: lifecycle,
    find: `starts_failed: failed } as const`,
    put: `starts_failed: failed, lost: life.lost + 1 } as const`,
    seeds: 500,
    finds: /I1/,
  },
  {
    name: 'starts that go on failing do not back off',
    file: lifecycle,
    find: `Math.min(MAX_START_RETRY_MS, START_RETRY_MS * 2 ** (failed - 1))`,
    put: 'START_RETRY_MS + 0 * failed',
    seeds: 1000,
    finds: /I11 .*start/,
  },
  {
    name: 'an eviction counts as a lost attempt',
    file: lifecycle,
    find: `? move(life, { state: 'queued' }, ['release_slot', 'schedule'], null, EVICTED_RETRY_MS)`,
    put: `? move(life, { state: 'queued', lost: life.lost + 1 }, ['release_slot', 'schedule'], null, EVICTED_RETRY_MS)`,
    seeds: 500,
    finds: /I1/,
  },
  {
    name: 'a lease begins anew with each eviction of the monitor',
    file: 'worker/monitor/lease.ts',
    find: 'const heard = memory ?? (kept === null ? 0 : kept + keepEveryMs(leaseMs))',
    put: 'const heard = memory ?? kept! * 0 + 1e15',
    seeds: 1000,
    finds: /I1 .*noticed/,
  },
  {
    name: 'progress starts anew with each attempt',
    file: 'worker/monitor/jobProgress.ts',
    find: 'transcoded: Math.max(before.transcoded, now.transcoded)',
    put: 'transcoded: now.transcoded',
    seeds: 5000,
    finds: /I4/,
  },
  {
    name: '100 before success',
    file: 'contract/api/status.ts',
    find: 'xfer_progress: percent(stored * transcoded, success)',
    put: 'xfer_progress: percent(stored * transcoded, success || transcoded >= 1)',
    seeds: 500,
    finds: /I4/,
  },
  {
    name: 'SQL: the guard does not name the fence',
    file: tasks,
    find: `WHERE id = ?1 AND state = ?9 AND attempt = ?10 AND lost = ?11
       RETURNING id`,
    put: `WHERE id = ?1 AND ?9 = ?9 AND ?10 = ?10 AND ?11 = ?11
       RETURNING id`,
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: a slot that another holds is claimed',
    file: tasks,
    find: 'AND NOT EXISTS (SELECT 1 FROM slots WHERE k = ?4 AND (task IS NOT NULL OR free_at > ?6))',
    put: '',
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: a batch that lost its race frees the slot of a running attempt',
    file: tasks,
    find: `WHERE task = ?1 AND attempt = ?2 AND \${isOver}\`,
    )`,
    put: `WHERE task = ?1 AND attempt = ?2\`,
    )`,
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: the job does not say what its task says',
    file: tasks,
    find: `finished_at = CASE WHEN ?4 THEN ?3 ELSE finished_at END`,
    put: `finished_at = CASE WHEN ?4 THEN ?3 ELSE ?3 END`,
    seeds: 50,
    finds: /model and SQL differ/,
    sql: true,
  },
  {
    name: 'SQL: waiting tasks start before their time',
    file: tasks,
    find: `WHERE waiting.not_before <= ?1 AND`,
    put: `WHERE ?1 = ?1 AND`,
    seeds: 200,
    finds: /model and SQL differ/,
    sql: true,
  },
]
