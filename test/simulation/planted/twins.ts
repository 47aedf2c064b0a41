// In charge of: planted bugs of twins, the second tasks at the last chunks of a divided job.
// Not in charge of: applying them (test/node/harness/simulation.test.ts).
import { lifecycle, monitor, twins, type Planted } from './planted.ts'

export const BUGS_OF_TWINS: readonly Planted[] = [
  {
    name: 'a twin that is lost waits for another attempt',
    file: lifecycle,
    find: `if (isSpare(lifecycle)) return endSpare(lifecycle, change)
  if (lost`,
    replaceWith: 'if (lost',
    seeds: 2000,
    finds: /I19 .*a twin is queued/,
  },
  {
    name: 'a twin whose start failed waits for another start',
    file: lifecycle,
    find: `if (isSpare(lifecycle)) return endSpare(lifecycle, { starts_failed: failed }, 'cool_down_slot')`,
    replaceWith: '',
    seeds: 1000,
    finds: /I19 .*a twin is queued/,
  },
  {
    name: 'the slower one of two tasks goes on',
    file: lifecycle,
    find: `['release_slot', 'check_main', 'end_twin', 'schedule']`,
    replaceWith: `['release_slot', 'check_main', 'schedule']`,
    seeds: 1000,
    finds: /I19 .*goes on long after another task/,
  },
  {
    name: 'a transcoder that was not first is not told so',
    file: monitor,
    find: `await this.currentAttempt.save({ ...state, delivered: true })
    }`,
    replaceWith: '}',
    seeds: 2000,
    finds: /I19 .*goes on long after another task/,
  },
  {
    name: 'SQL: the chunks of a job are compared while other tasks wait',
    file: twins,
    find: `AND whole.state = 'divided' AND NOT \${IS_WANTED}`,
    replaceWith: `AND whole.state = 'divided'`,
    seeds: 1000,
    finds: /model and SQL differ/,
    sql: true,
  },
]
