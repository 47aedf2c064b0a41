// In charge of: watching one job: the lease of its current attempt (an alarm), and what is due when it is over. One Durable
// Object a job, named by its backend id; what it is asked goes to its fence, figures, journal, commit and listeners.
// Not in charge of: transitions: D1 alone decides them (transitionTask.ts); this only notices and asks.
import { DurableObject } from 'cloudflare:workers'
import { publicEvents } from '#contract/api/events.ts'
import { terminal } from '#contract/task/lifecycle.ts'
import type { FinishPost, ProgressPost, ProgressReply } from '#contract/task/protocol.ts'
import { CommitRunner } from './commitRunner.ts'
import { settings } from '../env.ts'
import type { MonitorState, AttemptState, MonitoredAttempt } from './currentAttempt.ts'
import { CurrentAttempt } from './currentAttempt.ts'
import { ProgressSnapshot } from './progressSnapshot.ts'
import { applyEvent } from '../scheduler/applyEvent.ts'
import { WriteJournal } from './writeJournal.ts'
import { Lease } from './lease.ts'
import { findTask, findTimeline } from '../db/tasks.ts'
import { EventStream } from './eventStream.ts'
import type { JobProgress } from './jobProgress.ts'
import { CLEANUP_RETRY_MS, cleanUpStep } from './cleanUp.ts'
import { assignSlots } from '../scheduler/assignSlots.ts'
import { openJobSink } from '../storage/jobStores.ts'
import type { Sink } from '../storage/objectStore.ts'

/** How often the monitor of a task that waits for its next attempt asks whether the job has ended meanwhile. */
const QUEUED_CHECK_MS = 2 * 60_000

export class JobMonitor extends DurableObject<Env> {
  private readonly lease: Lease
  private readonly fence: CurrentAttempt
  private readonly journal: WriteJournal
  private readonly figures: ProgressSnapshot
  private readonly committing: CommitRunner
  readonly listeners = new EventStream()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.lease = new Lease(ctx.storage)
    this.fence = new CurrentAttempt(ctx.storage, env.DB)
    this.journal = new WriteJournal(ctx.storage)
    this.figures = new ProgressSnapshot(ctx.storage)
    this.committing = new CommitRunner(ctx.storage, env)
    void ctx.blockConcurrencyWhile(async () => {
      await this.lease.load()
      await this.fence.load()
      await this.figures.load()
    })
  }

  /** A new attempt is about to start. What earlier ones stored is removed; an earlier attempt changes nothing. */
  async attemptStarting(attempt: MonitoredAttempt, leaseMs: number): Promise<void> {
    const isNew = await this.fence.starting(attempt)
    if (isNew === null) return
    // Armed before the store is asked: an attempt that is about to start does not depend on its answer.
    await this.scheduleAlarm(Date.now() + leaseMs)
    if (!isNew) return
    // What is not aborted now stays in the journal until the job ends.
    await this.journal
      .abortUploads(() => this.sink(), attempt.attempt)
      .catch((error: unknown) => {
        const { jobId: job } = attempt
        console.error(JSON.stringify({ level: 'warn', msg: 'uploads not aborted', job, error: String(error) }))
      })
  }

  /** The attempt asked for its task: from now on its heartbeats are its lease. */
  async attemptRunning(attempt: MonitoredAttempt): Promise<void> {
    if (!(await this.fence.running(attempt, Date.now()))) return
    await this.lease.restart(Date.now())
    await this.scheduleAlarm(Date.now() + settings(this.env).leaseMs)
  }

  async heartbeat(attempt: number, post: ProgressPost): Promise<ProgressReply['verdict']> {
    const attemptState = this.fence.stateOf(attempt)
    if (attemptState === 'over') return this.fence.ended ?? 'stop'
    if (attemptState === 'stale') return 'stop'
    const now = Date.now()
    await this.lease.renew(now, settings(this.env).leaseMs)
    if (now < (this.fence.life?.heldUntil ?? 0)) return 'continue'
    this.listeners.sendProgress(await this.figures.update(attempt, post, now))
    return 'continue'
  }

  /** Whether an attempt may still write. */
  async attemptState(attempt: number): Promise<AttemptState> {
    return this.fence.stateOf(attempt)
  }

  /** Before the first part of an upload: whoever ends the attempt can then abort it (I8). */
  async journalUpload(attempt: number, upload: string, path: string): Promise<AttemptState> {
    const standing = await this.attemptState(attempt)
    if (standing === 'current') await this.journal.addUpload(attempt, upload, path)
    return standing
  }

  /** Before an object is put: whoever ends the attempt can then delete it (I8). */
  async journalObject(attempt: number, path: string): Promise<AttemptState> {
    const standing = await this.attemptState(attempt)
    if (standing === 'current') await this.journal.addObject(attempt, path)
    return standing
  }

  async progress(): Promise<JobProgress | null> {
    return this.figures.read(!this.fence.live)
  }

  /** A client follows the job: `?job=<backend id>&after=<last event id>`. 429 when too many do. */
  override async fetch(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams
    const jobId = query.get('job') ?? ''
    const stream = await this.listeners.connect(Number(query.get('after')), await this.progress(), async () => {
      const found = await findTimeline(this.env.DB, jobId)
      return found && { events: publicEvents(found.timeline), over: found.finished_at !== null }
    })
    return stream ?? new Response(null, { status: 429 })
  }

  /** The timeline has grown. */
  async notifyListeners(): Promise<void> {
    await this.listeners.sendNewEvents()
  }

  /** Whether nothing of the job is left to be done: its credentials may go. */
  async isCleanedUp(): Promise<boolean> {
    return (await this.ctx.storage.get('life')) === undefined
  }

  /** The figures with which the job is about to end: nobody is shown higher ones before it has (I4). */
  async lastProgress(): Promise<JobProgress | null> {
    await this.fence.holdProgress(Date.now())
    return this.progress()
  }

  /** For how long the current attempt has been running, in milliseconds. */
  async attemptRunningMs(): Promise<number> {
    const since = this.fence.life?.runningSince
    return since ? Date.now() - since : 0
  }

  /** A task of this job becomes due then: look for a slot. */
  async wakeAt(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(at)
  }

  /** The job has ended: nothing of it may be left in flight. */
  async cleanUp(): Promise<void> {
    const task = this.fence.life ? await findTask(this.env.DB, this.fence.life.task) : null
    this.fence.ended = task?.state === 'cancelled' ? 'cancel' : 'stop'
    if (!this.fence.life) return this.deleteState()
    const state: MonitorState = {
      ...this.fence.life,
      over: this.fence.life.over ?? { since: Date.now(), pass: 'end', tries: 0 },
    }
    await this.fence.save(state)
    // Armed first: whatever happens in between, it comes again.
    await this.ctx.storage.setAlarm(Date.now() + CLEANUP_RETRY_MS)
    if (state.over?.tries === 0) await this.committing.deleteRecords(state.jobId)
    // What the job's success points at stays.
    const below = task?.state === 'completed' ? task.attempt : null
    const remaining = await cleanUpStep(this.journal, () => this.sink(), state, below)
    if (!remaining) return this.deleteState()
    await this.fence.save({ ...state, over: remaining.over })
    await this.ctx.storage.setAlarm(remaining.at)
  }

  private async deleteState(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
  }

  /** Before the transition to `committing`. Only a current attempt stores one, so that none comes behind the end (I8). */
  async storeCommitRecord(attempt: number, finish: FinishPost): Promise<AttemptState> {
    const standing = await this.attemptState(attempt)
    if (standing === 'current' && this.fence.life)
      await this.committing.storeRecord(this.fence.life.jobId, attempt, finish)
    return standing
  }

  /**
   * Carries out, or goes on with, the commit of a task that is `committing`. Only here, so that no two run at once.
   * Never rejects for the store's sake: the alarm tries again.
   */
  async commit(): Promise<void> {
    const { life } = this.fence
    if (life) await this.committing.run(life.task, this, (at) => this.scheduleAlarm(at))
  }

  /** The sweep asks: is the alarm still set? */
  async ensureAlarm(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now())
  }

  override async alarm(): Promise<void> {
    const { env } = this
    const { life } = this.fence
    if (!life) return assignSlots(env)
    const task = await findTask(env.DB, life.task)
    if (!task || terminal[task.state]) return this.cleanUp()
    if (life.stale) await this.discardEarlierAttempts(life)
    const now = Date.now()
    const { leaseMs } = settings(env)
    const ref = { id: task.id, jobId: life.jobId }
    switch (task.state) {
      case 'queued':
        await assignSlots(env)
        // Somebody else's slot release finds it from here on. But whoever ends it while it waits may die before saying so here.
        await this.scheduleAlarm(task.not_before > now ? task.not_before : now + QUEUED_CHECK_MS)
        return
      case 'starting': {
        const due = task.lease_until ?? now
        if (due > now) return this.scheduleAlarm(due)
        const failed = { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' } as const
        await applyEvent(env, ref, failed, { watcher: this })
        return
      }
      case 'running': {
        // Counted from the start too: it may have asked for its task a moment ago, and not be known here yet.
        const due = Math.max(this.lease.expiresAt(leaseMs), task.updated_at + leaseMs)
        if (due > now) return this.scheduleAlarm(due)
        const ranMs = await this.attemptRunningMs()
        await applyEvent(env, ref, { type: 'lost', attempt: task.attempt, ranMs }, { watcher: this })
        return
      }
      case 'committing':
        return this.commit()
      default:
        return
    }
  }

  /** One batch; the alarm comes again until there are none. Failing is no harm: the job's end tries again. */
  private async discardEarlierAttempts(life: MonitorState): Promise<void> {
    const done = await this.journal
      .deleteBatch(() => this.sink(), 'lost', life.attempt)
      .catch((error: unknown) => {
        console.error(JSON.stringify({ level: 'warn', msg: 'removal failed', job: life.jobId, error: String(error) }))
        return true
      })
    // Whatever a request changed meanwhile stays.
    if (!done || this.fence.life?.attempt !== life.attempt) return
    await this.fence.save({ ...this.fence.life, stale: false })
  }

  private sink(): Promise<Sink | null> {
    return this.fence.life ? openJobSink(this.env, this.fence.life.jobId) : Promise.resolve(null)
  }

  /** Sooner while there are objects of earlier attempts to remove: there is only one alarm. */
  private async scheduleAlarm(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(this.fence.life?.stale ? Math.min(at, Date.now()) : at)
  }
}
