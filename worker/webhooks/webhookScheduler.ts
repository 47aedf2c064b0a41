// In charge of: when webhooks are sent: an alarm. One Durable Object per job that has webhooks, and per account that has
// webhooks about its spend cap.
// Not in charge of: sending (webhookDelivery.ts, spendNoticeDelivery.ts). All durable state is in D1; the reconciler restarts a lost scheduler.
import { DurableObject } from 'cloudflare:workers'
import { accountOfNotices } from '../scheduler/webhookOwner.ts'
import { deliverDueNotices } from './spendNoticeDelivery.ts'
import { deliverDueWebhooks } from './webhookDelivery.ts'

/** The alarm fires again after this time if a try dies before it sets the next alarm. */
const CRASH_RETRY_MS = 60_000

export class Courier extends DurableObject<Env> {
  /** In memory only: it matters only to a delivery that is running in the same memory. */
  private scheduleCount = 0

  /** @param owner a job's backend id, or an account's name of `noticesOf` */
  async schedule(owner: string): Promise<void> {
    this.scheduleCount++
    await Promise.all([this.ctx.storage.put('job', owner), this.ctx.storage.setAlarm(Date.now())])
  }

  override async alarm(): Promise<void> {
    const owner = await this.ctx.storage.get<string>('job')
    if (owner === undefined) return
    const account = accountOfNotices(owner)
    await this.ctx.storage.setAlarm(Date.now() + CRASH_RETRY_MS)
    let countBefore: number
    let next: number | null
    do {
      countBefore = this.scheduleCount
      next = account === null ? await deliverDueWebhooks(this.env, owner) : await deliverDueNotices(this.env, account)
      // Repeated if `schedule` was called meanwhile: the rows that were read may be older than that call.
    } while (countBefore !== this.scheduleCount)
    if (next !== null) return this.ctx.storage.setAlarm(next)
    // Started together: a call of `schedule` that comes now takes effect after both.
    await Promise.all([this.ctx.storage.deleteAlarm(), this.ctx.storage.deleteAll()])
  }
}
