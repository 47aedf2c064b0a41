// In charge of: the time at which a job's webhooks are tried: an alarm. One Durable Object a job that has any.
// Not in charge of: sending (webhookDelivery.ts). Everything durable is in the ledger; the sweep wakes a courier that was lost.
import { DurableObject } from 'cloudflare:workers'
import { deliverDueWebhooks } from './webhookDelivery.ts'

/** Comes again, should this try not live to say when. */
const CRASH_RETRY_MS = 60_000

export class Courier extends DurableObject<Env> {
  /** In memory on purpose: only a delivery that runs in this memory can overlook one. */
  private wakes = 0

  async schedule(jobId: string): Promise<void> {
    this.wakes++
    await Promise.all([this.ctx.storage.put('job', jobId), this.ctx.storage.setAlarm(Date.now())])
  }

  /** A diagnosis asks: nothing is kept here. */
  async isIdle(): Promise<boolean> {
    return (await this.ctx.storage.get('job')) === undefined
  }

  override async alarm(): Promise<void> {
    const jobId = await this.ctx.storage.get<string>('job')
    if (jobId === undefined) return
    await this.ctx.storage.setAlarm(Date.now() + CRASH_RETRY_MS)
    let countBefore: number
    let next: number | null
    do {
      countBefore = this.wakes
      next = await deliverDueWebhooks(this.env, jobId)
      // Who was woken while it sent looks again: what it read of the ledger may be older than the wake.
    } while (countBefore !== this.wakes)
    if (next !== null) return this.ctx.storage.setAlarm(next)
    // Both at once: a wake that comes now comes behind both of them.
    await Promise.all([this.ctx.storage.deleteAlarm(), this.ctx.storage.deleteAll()])
  }
}
