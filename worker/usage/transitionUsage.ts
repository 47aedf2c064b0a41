// In charge of: what a transition of a task adds to the usage of its account.
// Not in charge of: writing it, in the batch of the transition (scheduler/transitionTask.ts), prices
// (contract/usage/priceList.ts).
import { terminal, type TaskEvent, type TaskLifecycle } from '#contract/task/lifecycle.ts'
import type { FinishPost, UsageReport } from '#contract/task/protocol.ts'
import { DRY_RUNS, LOST_ATTEMPTS, renditionClass, type UsageItem } from '#contract/usage/items.ts'
import { unitPrice, type PriceList } from '#contract/usage/priceList.ts'
import type { CountedTaskRow } from '../db/tasks.ts'
import type { UsedAmount } from '../db/usage.ts'

/** What an attempt used until its end; null = unknown. */
export interface AttemptUse {
  cpuSeconds: number | null
  bytesRead: number | null
}

/** What a committed job delivered. */
export interface Delivery {
  report: UsageReport | null
  stills: number
  bytes: number
}

export function deliveryOf({ usage, objects }: Pick<FinishPost, 'usage' | 'objects'>, bytes: number): Delivery {
  return { report: usage ?? null, stills: objects.filter(({ role }) => role === 'still').length, bytes }
}

/**
 * An attempt counts when its result is certain: if it finished, at the end of the commit, in the month in which the job
 * ends; if it was lost, at once, and apart from the others. The attempt that divided its job, and those at its parts,
 * count at their own end.
 */
export function transitionUsage(
  task: CountedTaskRow,
  event: TaskEvent,
  next: TaskLifecycle,
  { cpuSeconds, bytesRead }: AttemptUse,
  delivery: Delivery | null,
): Omit<UsedAmount, 'price' | 'currency'>[] {
  const amounts = new Map<string, Omit<UsedAmount, 'price' | 'currency'>>()
  const add = (item: UsageItem, usageClass: string, units: number | null): void => {
    const quantity = Math.round(units ?? 0)
    if (!Number.isSafeInteger(quantity) || quantity <= 0) return
    const key = `${item} ${usageClass}`
    amounts.set(key, { item, class: usageClass, quantity: quantity + (amounts.get(key)?.quantity ?? 0) })
  }
  const isDryRun = task.kind === 'plan'
  const ranUntilNow = task.state === 'running' && next.state !== 'running' && next.state !== 'committing'
  if (ranUntilNow || task.state === 'committing') {
    const isLost = next.lost > task.lost || next.evicted > task.evicted
    const usageClass = isDryRun ? DRY_RUNS : isLost ? LOST_ATTEMPTS : ''
    add('cpu_hours', usageClass, (cpuSeconds ?? 0) * 1000)
    add('gb_in', usageClass, bytesRead)
  }
  // A job is its main task.
  if (terminal[next.state] && task.main === null) add('jobs', isDryRun ? DRY_RUNS : next.state, 1)
  if (event.type === 'committed' && delivery !== null) {
    const { report, stills, bytes } = delivery
    add('source_hours', '', (report?.source_seconds ?? task.source_seconds ?? 0) * 1000)
    for (const rendition of report?.renditions ?? [])
      add('output_hours', renditionClass(rendition), rendition.seconds * 1000)
    add('stills', '', stills)
    add('gb_out', '', bytes)
  }
  return [...amounts.values()]
}

/** Each amount with its price of today. */
export function priced(
  amounts: readonly Omit<UsedAmount, 'price' | 'currency'>[],
  prices: PriceList | null,
): UsedAmount[] {
  return amounts.map((amount) => ({
    ...amount,
    currency: prices?.currency ?? '',
    price: unitPrice(prices, amount.item, amount.class),
  }))
}
