// In charge of: watching one job: the lease of its current attempt (an alarm), and what is due when it is over. One Durable
// Object a job, named by its backend id; what it is asked goes to its fence, figures, journal, commit and listeners.
// Not in charge of: transitions: D1 alone decides them (transitionTask.ts); this only notices and asks.
import { DurableObject } from 'cloudflare:workers'
import { publicEvents } from '#contract/api/events.ts'
import { terminal } from '#contract/task/lifecycle.ts'
import type { FinishPost, ProgressPost, ProgressReply } from '#contract/task/protocol.ts'
import { Committing } from './commitRunner.ts'
import { settings } from '../env.ts'
import type { Life, Standing, Watched } from './currentAttempt.ts'
import { Fence } from './currentAttempt.ts'
import { Figures } from './progressSnapshot.ts'
import { apply } from '../scheduler/applyEvent.ts'
import { Journal } from './writeJournal.ts'
import { Lease } from './lease.ts'
import { findTask, findTimeline } from '../db/tasks.ts'
import { Listeners } from './eventStream.ts'
import type { Live } from './jobProgress.ts'
import { RETRY_MS, removeLeft } from './cleanUp.ts'
import { schedule } from '../scheduler/assignSlots.ts'
import { openSinkOf } from '../storage/jobStores.ts'
import type { Sink } from '../storage/objectStore.ts'

/** How often the monitor of a task that waits for its next attempt asks whether the job has ended meanwhile. */
const WAITING_MS = 2 * 60_000

export class JobMonitor extends DurableObject<Env> {
  private readonly lease: Lease
  private readonly fence: Fence
  private readonly journal: Journal
  private readonly figures: Figures
  private readonly committing: Committing
  readonly listeners = new Listeners()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.lease = new Lease(ctx.storage)
    this.fence = new Fence(ctx.storage, env.DB)
    this.journal = new Journal(ctx.storage)
    this.figures = new Figures(ctx.storage)
    this.committing = new Committing(ctx.storage, env)
    void ctx.blockConcurrencyWhile(async () => {
      await this.lease.load()
      await this.fence.load()
      await this.figures.load()
    })
  }

  /** A new attempt is about to start. What earlier ones stored is removed; an earlier attempt changes nothing. */
  async begin(watched: Watched, leaseMs: number): Promise<void> {
    const isNew = await this.fence.begin(watched)
    if (isNew === null) return
    // Armed before the store is asked: an attempt that is about to start does not depend on its answer.
    await this.arm(Date.now() + leaseMs)
    if (!isNew) return
    // What is not aborted now stays in the journal until the job ends.
    await this.journal
      .abortUploads(() => this.sink(), watched.attempt)
      .catch((error: unknown) => {
        const { jobId: job } = watched
        console.error(JSON.stringify({ level: 'warn', msg: 'uploads not aborted', job, error: String(error) }))
      })
  }

  /** The attempt asked for its task: from now on its heartbeats are its lease. */
  async running(watched: Watched): Promise<void> {
    if (!(await this.fence.run(watched, Date.now()))) return
    await this.lease.begin(Date.now())
    await this.arm(Date.now() + settings(this.env).leaseMs)
  }

  async beat(attempt: number, post: ProgressPost): Promise<ProgressReply['verdict']> {
    const standing = this.fence.standing(attempt)
    if (standing === 'over') return this.fence.ended ?? 'stop'
    if (standing === 'stale') return 'stop'
    const now = Date.now()
    await this.lease.renew(now, settings(this.env).leaseMs)
    if (now < (this.fence.life?.heldUntil ?? 0)) return 'continue'
    this.listeners.progress(await this.figures.take(attempt, post, now))
    return 'continue'
  }

  /** Whether an attempt may still write. */
  async standing(attempt: number): Promise<Standing> {
    return this.fence.standing(attempt)
  }

  /** Before the first part of an upload: whoever ends the attempt can then abort it (I8). */
  async journalUpload(attempt: number, upload: string, path: string): Promise<Standing> {
    const standing = await this.standing(attempt)
    if (standing === 'current') await this.journal.addUpload(attempt, upload, path)
    return standing
  }

  /** Before an object is put: whoever ends the attempt can then delete it (I8). */
  async journalObject(attempt: number, path: string): Promise<Standing> {
    const standing = await this.standing(attempt)
    if (standing === 'current') await this.journal.addObject(attempt, path)
    return standing
  }

  async read(): Promise<Live | null> {
    return this.figures.read(!this.fence.live)
  }

  /** A client follows the job: `?job=<backend id>&after=<last event id>`. 429 when too many do. */
  override async fetch(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams
    const jobId = query.get('job') ?? ''
    const stream = await this.listeners.listen(Number(query.get('after')), await this.read(), async () => {
      const found = await findTimeline(this.env.DB, jobId)
      return found && { events: publicEvents(found.timeline), over: found.finished_at !== null }
    })
    return stream ?? new Response(null, { status: 429 })
  }

  /** The timeline has grown. */
  async announce(): Promise<void> {
    await this.listeners.refresh()
  }

  /** Whether nothing of the job is left to be done: its credentials may go. */
  async isQuiet(): Promise<boolean> {
    return (await this.ctx.storage.get('life')) === undefined
  }

  /** The figures with which the job is about to end: nobody is shown higher ones before it has (I4). */
  async lastFigures(): Promise<Live | null> {
    await this.fence.hold(Date.now())
    return this.read()
  }

  /** For how long the current attempt has been running, in milliseconds. */
  async ranMs(): Promise<number> {
    const since = this.fence.life?.runningSince
    return since ? Date.now() - since : 0
  }

  /** A task of this job becomes due then: look for a slot. */
  async wakeAt(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(at)
  }

  /** The job has ended: nothing of it may be left in flight. */
  async settle(): Promise<void> {
    const task = this.fence.life ? await findTask(this.env.DB, this.fence.life.task) : null
    this.fence.ended = task?.state === 'cancelled' ? 'cancel' : 'stop'
    if (!this.fence.life) return this.forget()
    const life: Life = {
      ...this.fence.life,
      over: this.fence.life.over ?? { since: Date.now(), pass: 'end', tries: 0 },
    }
    await this.fence.remember(life)
    // Armed first: whatever happens in between, it comes again.
    await this.ctx.storage.setAlarm(Date.now() + RETRY_MS)
    if (life.over?.tries === 0) await this.committing.drop(life.jobId)
    // What the job's success points at stays.
    const below = task?.state === 'completed' ? task.attempt : null
    const left = await removeLeft(this.journal, () => this.sink(), life, below)
    if (!left) return this.forget()
    await this.fence.remember({ ...life, over: left.over })
    await this.ctx.storage.setAlarm(left.at)
  }

  private async forget(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
  }

  /** Before the transition to `committing`. Only a current attempt stores one, so that none comes behind the end (I8). */
  async storeRecord(attempt: number, finish: FinishPost): Promise<Standing> {
    const standing = await this.standing(attempt)
    if (standing === 'current' && this.fence.life) await this.committing.store(this.fence.life.jobId, attempt, finish)
    return standing
  }

  /**
   * Carries out, or goes on with, the commit of a task that is `committing`. Only here, so that no two run at once.
   * Never rejects for the store's sake: the alarm tries again.
   */
  async commit(): Promise<void> {
    const { life } = this.fence
    if (life) await this.committing.run(life.task, this, (at) => this.arm(at))
  }

  /** The sweep asks: is the alarm still set? */
  async look(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now())
  }

  override async alarm(): Promise<void> {
    const { env } = this
    const { life } = this.fence
    if (!life) return schedule(env)
    const task = await findTask(env.DB, life.task)
    if (!task || terminal[task.state]) return this.settle()
    if (life.stale) await this.discardStale(life)
    const now = Date.now()
    const { leaseMs } = settings(env)
    const ref = { id: task.id, jobId: life.jobId }
    switch (task.state) {
      case 'queued':
        await schedule(env)
        // Somebody else's slot release finds it from here on. But whoever ends it while it waits may die before saying so here.
        await this.arm(task.not_before > now ? task.not_before : now + WAITING_MS)
        return
      case 'starting': {
        const due = task.lease_until ?? now
        if (due > now) return this.arm(due)
        const failed = { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' } as const
        await apply(env, ref, failed, { watcher: this })
        return
      }
      case 'running': {
        // Counted from the start too: it may have asked for its task a moment ago, and not be known here yet.
        const due = Math.max(this.lease.end(leaseMs), task.updated_at + leaseMs)
        if (due > now) return this.arm(due)
        const ranMs = await this.ranMs()
        await apply(env, ref, { type: 'lost', attempt: task.attempt, ranMs }, { watcher: this })
        return
      }
      case 'committing':
        return this.commit()
      default:
        return
    }
  }

  /** One batch; the alarm comes again until there are none. Failing is no harm: the job's end tries again. */
  private async discardStale(life: Life): Promise<void> {
    const done = await this.journal
      .discard(() => this.sink(), 'lost', life.attempt)
      .catch((error: unknown) => {
        console.error(JSON.stringify({ level: 'warn', msg: 'removal failed', job: life.jobId, error: String(error) }))
        return true
      })
    // Whatever a request changed meanwhile stays.
    if (!done || this.fence.life?.attempt !== life.attempt) return
    await this.fence.remember({ ...this.fence.life, stale: false })
  }

  private sink(): Promise<Sink | null> {
    return this.fence.life ? openSinkOf(this.env, this.fence.life.jobId) : Promise.resolve(null)
  }

  /** Sooner while there are objects of earlier attempts to remove: there is only one alarm. */
  private async arm(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(this.fence.life?.stale ? Math.min(at, Date.now()) : at)
  }
}
