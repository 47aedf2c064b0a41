// The ledger's SQL on a real D1 against the model that the simulation runs on: the same events, the same rows.
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import * as lifecycle from '#contract/task/lifecycle.ts'
import { publicStatus } from '#contract/api/status.ts'
import { protocolOf } from '#contract/task/protocol.ts'
import { advance } from '../../../worker/scheduler/transitionTask.ts'
import { listOverdueJobs } from '../../../worker/db/jobs.ts'
import { listBusySlots, listNeglectedTasks, listWaitingTasks } from '../../../worker/db/tasks.ts'
import { leaseEnd } from '../../../worker/monitor/lease.ts'
import { highest } from '../../../worker/monitor/jobProgress.ts'
import type { Tape } from '../../simulation/databaseModel.ts'
import type { Sql } from '../../simulation/sqlReplay.ts'
import { replay } from '../../simulation/sqlReplay.ts'
import { simulate } from '../../simulation/simulate.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const rules = { ...lifecycle, highest, leaseEnd, publicStatus, protocolOf }
const sql = { advance, listBusySlots, listWaitingTasks, listNeglectedTasks, listOverdueJobs } as unknown as Sql
/** The long form is `npm run repeat`; docs/reliability.md has its figures. */
const SEEDS = Number(env.SIMULATE_SEEDS || 15)

test(`model and D1 agree after every event of ${SEEDS} seeds`, async () => {
  let now = 0
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  let events = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const tape: Tape = []
    const run = simulate(seed, rules, { tape })
    expect(run.violations, `seed ${seed}`).toEqual([])
    const difference = await replay(env.DB, sql, tape, (at) => (now = at))
    expect(difference, `npm run simulate -- --seed ${seed} --trace --sql`).toBeNull()
    events += tape.filter((entry) => entry.kind === 'write').length
  }
  expect(events).toBeGreaterThan(SEEDS * 5)
  console.log(`${SEEDS} seeds, ${events} events on D1`)
}, 7_200_000)
