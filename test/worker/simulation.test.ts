// The ledger's SQL on a real D1 against the model that the simulation runs on: the same events, the same rows.
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import * as lifecycle from '#contract/lifecycle.ts'
import { publicStatus } from '#contract/status.ts'
import { protocolOf } from '#contract/task.ts'
import { advance } from '../../worker/advance.ts'
import { listOverdueJobs } from '../../worker/ledger/jobs.ts'
import { listBusySlots, listNeglectedTasks, listWaitingTasks } from '../../worker/ledger/tasks.ts'
import { leaseEnd } from '../../worker/lease.ts'
import { highest } from '../../worker/live.ts'
import type { Tape } from '../simulation/ledger.ts'
import type { Sql } from '../simulation/replay.ts'
import { replay } from '../simulation/replay.ts'
import { simulate } from '../simulation/simulate.ts'

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
