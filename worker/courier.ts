// In charge of: the time at which a job's webhooks are tried: an alarm. One Durable Object a job that has any.
// Not in charge of: sending (webhooks.ts). Everything durable is in the ledger; the sweep wakes a courier that was lost.
import { DurableObject } from 'cloudflare:workers'
import { deliverDue } from './webhooks.ts'

/** Comes again, should this try not live to say when. */
const NET_MS = 60_000

export class Courier extends DurableObject<Env> {
  async wake(jobId: string): Promise<void> {
    await this.ctx.storage.put('job', jobId)
    await this.ctx.storage.setAlarm(Date.now())
  }

  override async alarm(): Promise<void> {
    const jobId = await this.ctx.storage.get<string>('job')
    if (jobId === undefined) return
    await this.ctx.storage.setAlarm(Date.now() + NET_MS)
    const next = await deliverDue(this.env, jobId)
    if (next !== null) return this.ctx.storage.setAlarm(next)
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
  }
}
