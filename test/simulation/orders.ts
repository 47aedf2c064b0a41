// In charge of: the orders that the service's lists must have, written independently of their SQL (worker/db/tasks.ts).
// Not in charge of: what the lists are used for.
import type { Ledger, Listing } from './ledger.ts'
import { ENDED, type Task } from './tables.ts'

const HURRY_AFTER_MS = 12 * 3600_000

type Rows = Pick<Ledger, 'tasks' | 'jobs' | 'slots' | 'partsOf' | 'mainOf' | 'isHeldBack'>

/** The keys that a list must have, in their order. */
export function expectedOrder(rows: Rows, { of, values }: Listing): string[] {
  const numbers = values as number[]
  switch (of) {
    case 'waiting':
      return waiting(rows, numbers[0]!, numbers[1]!).map(({ id }) => id)
    case 'slots':
      return [...rows.slots.values()].toSorted((a, b) => a.free_at - b.free_at || a.k - b.k).map(({ k }) => String(k))
    case 'unattended':
      return unattended(rows, numbers[0]!, numbers[1]!, numbers[2]!).map(({ id }) => id)
    case 'parts':
      return byPart(rows.partsOf(values[0] as string)).map(({ state, attempt }) => `${state} ${attempt}`)
  }
}

/** What a row of a list is known by. */
export function keyOf(of: Listing['of'], row: Readonly<Record<string, unknown>>): string {
  if (of === 'parts') return `${row['state'] as string} ${row['attempt'] as number}`
  return String(row[of === 'slots' ? 'k' : 'id'])
}

function byPart(parts: Task[]): Task[] {
  return parts.toSorted((a, b) => a.part! - b.part!)
}

/** Fair share, then round robin of accounts, then longest waiting; all priorities are equal here. */
function waiting(rows: Rows, now: number, limit: number): Task[] {
  const holds = new Map<string, number>()
  for (const { account } of rows.slots.values()) if (account !== null) holds.set(account, (holds.get(account) ?? 0) + 1)
  const queued = [...rows.tasks.values()].filter(
    (task) =>
      task.state === 'queued' &&
      (task.main === null || rows.mainOf(task)!.state === 'divided') &&
      !rows.isHeldBack(task),
  )
  const served = new Map<string, number>()
  const was = (account: string, at: number) => served.set(account, Math.max(served.get(account) ?? 0, at))
  for (const { account, started_at: at } of rows.jobs.values()) was(account, at ?? 0)
  // The start of a part is a start of its account; putting parts together is not.
  for (const task of queued)
    for (const { account, attempt, parts, updated_at: at } of task.main === null ? [task] : rows.partsOf(task.main))
      was(account, attempt > 0 && parts === 0 ? at : 0)
  const mainOf = (task: Task) => rows.mainOf(task) ?? task
  // A part has waited since its job was divided, also one that was lost.
  const since = (task: Task) => mainOf(task).updated_at
  const byAge = (a: Task, b: Task) => since(a) - since(b) || a.job - b.job || (a.part ?? 0) - (b.part ?? 0)
  // A part hurries with its job.
  const hurries = (task: Task) => (mainOf(task).hurry_at ?? since(task) + HURRY_AFTER_MS) <= now
  const ranks = new Map(queued.map((task) => [task.id, rankOf(task)]))
  return queued
    .toSorted((a, b) => compare(ranks.get(a.id)!, ranks.get(b.id)!) || byAge(a, b))
    .map((task) => {
      const share = (holds.get(task.account) ?? 0) + 1
      holds.set(task.account, share)
      return { task, share }
    })
    .filter(({ task }) => task.not_before <= now)
    .toSorted(
      (a, b) => a.share - b.share || served.get(a.task.account)! - served.get(b.task.account)! || byAge(a.task, b.task),
    )
    .slice(0, limit)
    .map(({ task }) => task)

  /**
   * Dry runs are first, then what only has to be put together, then those that hurry, by age. What was begun ends before more is begun: the
   * job with the fewest parts left comes next.
   */
  function rankOf(task: Task): number {
    if (task.kind === 'plan') return -1
    if (task.parts > 0) return 0
    if (hurries(task)) return 0.5
    return task.main === null
      ? Number.POSITIVE_INFINITY
      : rows.partsOf(task.main).filter(({ state }) => state !== 'completed').length
  }
}

/** Starts first: a divided job is unchanged for hours, and starts must not wait behind many of them. */
function unattended(rows: Rows, starts: number, others: number, limit: number): Task[] {
  const found = [...rows.tasks.values()].filter(
    ({ state, updated_at: at }) =>
      state !== 'queued' && !ENDED.includes(state) && at < (state === 'starting' ? starts : others),
  )
  const isLater = ({ state }: Task) => (state === 'starting' ? 0 : 1)
  return found
    .toSorted((a, b) => isLater(a) - isLater(b) || a.updated_at - b.updated_at || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
}

/** Of two infinite numbers, none is smaller. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b
}
