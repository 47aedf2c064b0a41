// In charge of: watching one task: the lease of its current attempt (an alarm) and the cleanup after the end of its job.
// One Durable Object per task. For a main task it is named by the job's backend id, for a part by the task. The pieces of
// its state are in the other files of this folder.
// Not in charge of: state transitions, which only D1 decides (transitionTask.ts). The monitor detects and triggers
// them.
import { log } from '../log.ts'
import { DurableObject, waitUntil } from 'cloudflare:workers'
import { publicEvents } from '#contract/api/events.ts'
import { terminal } from '#contract/task/lifecycle.ts'
import { MAIN_TASK, parseTaskId, partOf } from '#contract/taskId.ts'
import type { FinishPost, ProgressPost, ProgressReply } from '#contract/task/protocol.ts'
import { CommitRunner } from './commitRunner.ts'
import { settings } from '../env.ts'
import { CurrentAttempt, type MonitorState, type AttemptState, type MonitoredAttempt } from './currentAttempt.ts'
import { PartsProgress } from './partsProgress.ts'
import { ProgressSnapshot } from './progressSnapshot.ts'
import { applyEvent, checkMain, jobMonitor } from '../scheduler/applyEvent.ts'
import type { AttemptUsed } from '../scheduler/transitionTask.ts'
import { WriteJournal } from './writeJournal.ts'
import { Lease } from './lease.ts'
import { findTask, findTimeline, type TaskRow } from '../db/tasks.ts'
import { EventStream } from './eventStream.ts'
import type { JobProgress } from '../scheduler/jobProgress.ts'
import { CLEANUP_RETRY_MS, cleanUpParts, cleanUpStep } from './cleanUp.ts'
import { assignSlots } from '../scheduler/assignSlots.ts'
import { openJobSink } from '../storage/jobStores.ts'
import type { Sink } from '../storage/objectStore.ts'

/** While a task waits for its next attempt: how often the monitor checks whether the job has ended. */
const QUEUED_CHECK_MS = 2 * 60_000
/** As often as a part reports. */
const DIVIDED_READ_MS = 5000

export class JobMonitor extends DurableObject<Env> {
  private readonly lease: Lease
  private readonly currentAttempt: CurrentAttempt
  private readonly journal: WriteJournal
  private readonly progressSnapshot: ProgressSnapshot
  private readonly commitRunner: CommitRunner
  private readonly partsProgress = new PartsProgress()
  private divided: { row: TaskRow; readAt: number } | null = null
  /** Nothing of the job remains to be removed. */
  private isDeleted = false
  /** The removal that runs. */
  private removal = Promise.resolve()
  readonly listeners = new EventStream()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.lease = new Lease(ctx.storage)
    this.currentAttempt = new CurrentAttempt(ctx.storage, env.DB)
    this.journal = new WriteJournal(ctx.storage)
    this.progressSnapshot = new ProgressSnapshot(ctx.storage)
    this.commitRunner = new CommitRunner(ctx.storage, env)
    void ctx.blockConcurrencyWhile(async () => {
      await this.lease.load()
      await this.currentAttempt.load()
      await this.progressSnapshot.load()
    })
  }

  /** A new attempt is about to start: what earlier ones stored is removed. No effect for an earlier attempt. */
  async attemptStarting(attempt: MonitoredAttempt, leaseMs: number): Promise<void> {
    const isNew = await this.currentAttempt.starting(attempt)
    if (isNew === null) return
    // Set before any request to the store, so that the start of an attempt does not depend on the store's answer. A
    // repeated start message does not postpone it.
    const due = Date.now() + leaseMs
    const alarm = isNew ? null : await this.ctx.storage.getAlarm()
    if (alarm === null || alarm > due) await this.scheduleAlarm(due)
    if (!isNew) return
    // Uploads that cannot be aborted now stay in the journal until the job ends.
    await this.journal
      .abortUploads(() => this.sink(), attempt.attempt)
      .catch((error: unknown) => {
        const { jobId: job } = attempt
        log.warn('uploads not aborted', { job, error: String(error) })
      })
  }

  /** The attempt fetched its task: from now on heartbeats renew its lease. */
  async attemptRunning(attempt: MonitoredAttempt): Promise<void> {
    if (!(await this.currentAttempt.running(attempt, Date.now()))) return
    await this.lease.restart(Date.now())
    await this.scheduleAlarm(Date.now() + settings(this.env).leaseMs)
  }

  async heartbeat(attempt: number, post: ProgressPost): Promise<ProgressReply['instruction']> {
    const attemptState = this.currentAttempt.stateOf(attempt)
    if (attemptState === 'over') return this.currentAttempt.finalReply ?? 'stop'
    if (attemptState === 'stale') return 'stop'
    const now = Date.now()
    await this.lease.renew(now, settings(this.env).leaseMs)
    if (now < (this.currentAttempt.state?.heldUntil ?? 0)) return 'continue'
    const progress = await this.progressSnapshot.update(attempt, post, now)
    const { state } = this.currentAttempt
    const part = state === null ? null : partOf(parseTaskId(state.task).number)
    if (state === null || part === null) this.listeners.sendProgress(progress)
    else waitUntil(this.tellMain(state.jobId, part, post))
    return 'continue'
  }

  /** Best effort: the next report comes within seconds. */
  private async tellMain(jobId: string, part: number, post: ProgressPost): Promise<void> {
    await jobMonitor(this.env, jobId)
      .partProgress(part, post)
      .catch((error: unknown) => log.warn('progress not told', { job: jobId, part, error: String(error) }))
  }

  /** A part of this job reported its progress. */
  async partProgress(part: number, post: ProgressPost): Promise<void> {
    const now = Date.now()
    const main = await this.readDivided(now)
    if (main === null) return
    const whole = await this.partsProgress.update(this.env.DB, main, part, post, now)
    // The job may be about to end with the progress as it was (I4).
    if (!this.currentAttempt.isActive || now < (this.currentAttempt.state?.heldUntil ?? 0)) return
    this.listeners.sendProgress(await this.progressSnapshot.update(main.attempt, whole, now))
  }

  /** The task of this monitor while it is divided. Read at intervals: hundreds of parts report each few seconds. */
  private async readDivided(now: number): Promise<TaskRow | null> {
    const { state } = this.currentAttempt
    if (state === null || state.over) return null
    if (this.divided?.row.attempt !== state.attempt || now - this.divided.readAt >= DIVIDED_READ_MS) {
      const row = await findTask(this.env.DB, state.task)
      this.divided = row?.state === 'divided' ? { row, readAt: now } : null
    }
    return this.divided?.row ?? null
  }

  /** Whether an attempt may still write. */
  async attemptState(attempt: number): Promise<AttemptState> {
    return this.currentAttempt.stateOf(attempt)
  }

  /** Called before the first part of an upload, so that the upload can be aborted when the attempt ends (I8). */
  async journalUpload(attempt: number, upload: string, path: string): Promise<AttemptState> {
    const attemptState = await this.attemptState(attempt)
    if (attemptState === 'current') await this.journal.addUpload(attempt, upload, path)
    return attemptState
  }

  /** Called before an object is written, so that the object can be deleted when the attempt ends (I8). */
  async journalObject(attempt: number, path: string): Promise<AttemptState> {
    const attemptState = await this.attemptState(attempt)
    if (attemptState === 'current') await this.journal.addObject(attempt, path)
    return attemptState
  }

  async progress(): Promise<JobProgress | null> {
    return this.progressSnapshot.read(!this.currentAttempt.isActive)
  }

  /** As it is in memory: for /metrics, which shows it to no client of the job. */
  async latestProgress(): Promise<JobProgress | null> {
    return this.progressSnapshot.latest
  }

  /**
   * Opens the event stream of a client: `?job=<backend id>&after=<last event id>`. 429 when too many clients follow.
   */
  override async fetch(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams
    const jobId = query.get('job') ?? ''
    const stream = await this.listeners.connect(Number(query.get('after')), await this.progress(), async () => {
      const found = await findTimeline(this.env.DB, jobId)
      return found && { events: publicEvents(found.timeline), isOver: found.finished_at !== null }
    })
    return stream ?? new Response(null, { status: 429 })
  }

  /** Called when an event was added to the job's timeline. */
  async notifyListeners(): Promise<void> {
    await this.listeners.sendNewEvents()
  }

  /** True when nothing of the job remains to be removed: its credentials can be deleted. */
  async isCleanedUp(): Promise<boolean> {
    return (await this.ctx.storage.get('life')) === undefined
  }

  /** The progress with which the job is about to end. Until it has ended, no higher values are shown (I4). */
  async lastProgress(): Promise<JobProgress | null> {
    await this.currentAttempt.holdProgress(Date.now())
    return this.progress()
  }

  /**
   * How long the current attempt has been running, in milliseconds, what share of its work it has encoded, and what it
   * has used as it last reported it.
   */
  async attemptFigures(attempt: number): Promise<{ ranMs: number; share: number; used: AttemptUsed }> {
    const since = this.currentAttempt.state?.runningSince
    return {
      ranMs: since ? Date.now() - since : 0,
      share: this.progressSnapshot.reachedBy(attempt),
      used: this.progressSnapshot.usedBy(attempt),
    }
  }

  /** A task of this job becomes due at that time: the alarm then assigns slots. */
  async wakeAt(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(at)
  }

  /** A part has stored its result: it writes nothing more, and what it wrote stays until its job has ended. */
  async attemptDelivered(attempt: number): Promise<void> {
    const { state } = this.currentAttempt
    if (state?.attempt !== attempt || state.over) return
    await this.currentAttempt.save({ ...state, delivered: true })
    await this.scheduleAlarm(Date.now() + QUEUED_CHECK_MS)
  }

  /** Part: its job has ended. @returns true when nothing of the part remains to be removed */
  async jobEnded(): Promise<boolean> {
    // Once begun, its own alarm continues.
    if (this.currentAttempt.state?.over) await this.ensureAlarm()
    else await this.cleanUp()
    return this.isCleanedUp()
  }

  /**
   * Called when the job has ended: aborts its uploads and removes its remaining objects. Its parts, which may be hundreds,
   * follow with the alarm: the caller has more to do.
   */
  async cleanUp(): Promise<void> {
    await this.removeRemains(false)
  }

  /** One removal at a time: a second removal would store its progress after the first has deleted everything. */
  private removeRemains(includesParts: boolean): Promise<void> {
    const removal = this.removal.then(() => this.removeBatch(includesParts))
    this.removal = removal.catch(() => undefined)
    return removal
  }

  private async removeBatch(includesParts: boolean): Promise<void> {
    const task = this.currentAttempt.state ? await findTask(this.env.DB, this.currentAttempt.state.task) : null
    const main = task?.main == null ? task : await findTask(this.env.DB, task.main)
    // What a part stored belongs to its job: it stays until the job has ended.
    if (main !== task && main !== null && !terminal[main.state]) return this.scheduleAlarm(Date.now() + QUEUED_CHECK_MS)
    this.currentAttempt.finalReply = task?.state === 'cancelled' ? 'cancel' : 'stop'
    if (!this.currentAttempt.state || this.isDeleted) return this.deleteState()
    const state: MonitorState = {
      ...this.currentAttempt.state,
      over: this.currentAttempt.state.over ?? { since: Date.now(), pass: 'end', tries: 0 },
    }
    await this.currentAttempt.save(state)
    // Set first: if a later step fails, the alarm repeats the cleanup.
    await this.ctx.storage.setAlarm(Date.now() + CLEANUP_RETRY_MS)
    const isMain = parseTaskId(state.task).number === MAIN_TASK
    if (isMain && state.over?.tries === 0) await this.commitRunner.deleteRecords(state.jobId)
    // The outputs of a successful job stay. The outputs of parts stay unless one attempt made the job after all.
    const isUsed = main?.state === 'completed' && task?.state === 'completed' && (isMain || main.parts > 0)
    const below = isUsed ? task.attempt : null
    const own = await cleanUpStep(this.journal, () => this.sink(), state, below)
    // In its first attempt, no job has parts.
    const mayHaveParts = isMain && ((task?.parts ?? 0) > 0 || (task?.attempt ?? 0) > 1)
    const partsLater = { over: own?.over ?? state.over!, at: Date.now() }
    const remaining = !mayHaveParts ? own : includesParts ? await cleanUpParts(this.env, state, own) : partsLater
    if (!remaining) return this.deleteState()
    await this.currentAttempt.save({ ...state, over: remaining.over })
    await this.ctx.storage.setAlarm(remaining.at)
  }

  private async deleteState(): Promise<void> {
    // A part that is starting has no state yet. It may still begin: the request that ended its job may have died before it
    // ended the part.
    this.isDeleted = this.currentAttempt.state !== null
    // In this order: an alarm without state does nothing, but state without an alarm would stay.
    await this.ctx.storage.deleteAll()
    await this.ctx.storage.deleteAlarm()
  }

  /** Stored before the transition to `committing`. Only the current attempt may store one: none after the end (I8). */
  async storeCommitRecord(attempt: number, finish: FinishPost): Promise<AttemptState> {
    const attemptState = await this.attemptState(attempt)
    if (attemptState === 'current' && this.currentAttempt.state)
      await this.commitRunner.storeRecord(this.currentAttempt.state.jobId, attempt, finish)
    return attemptState
  }

  /**
   * Runs or resumes the commit of a task that is `committing`. Called only here, so that two never run at once.
   * Does not reject because of the store: the alarm tries again.
   */
  async commit(): Promise<void> {
    const { state } = this.currentAttempt
    if (state) await this.commitRunner.run(state.task, this, (at) => this.scheduleAlarm(at))
  }

  /** Called by the reconciler: sets the alarm again if it was lost. */
  async ensureAlarm(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now())
  }

  override async alarm(): Promise<void> {
    const { env } = this
    const { state } = this.currentAttempt
    if (!state) return assignSlots(env)
    const task = await findTask(env.DB, state.task)
    // First: until it is done, every other alarm is due at once, also the alarm of a part which waits for the end of its job.
    if (state.stale) await this.discardEarlierAttempts(state)
    if (!task || terminal[task.state]) return this.removeRemains(true)
    const now = Date.now()
    const { leaseMs } = settings(env)
    const ref = { id: task.id, jobId: state.jobId }
    switch (task.state) {
      case 'queued':
        await assignSlots(env)
        // When another task frees a slot, this one is found without the alarm. The check is for a job that ended while
        // its task waited: the request that ended it may have died before it called this monitor.
        await this.scheduleAlarm(task.not_before > now ? task.not_before : now + QUEUED_CHECK_MS)
        return
      case 'starting': {
        const due = task.lease_until ?? now
        if (due > now) return this.scheduleAlarm(due)
        const failed = { type: 'start_failed', attempt: task.attempt, reason: 'no_answer' } as const
        return this.lookAgainUnless(await applyEvent(env, ref, failed, { monitor: this }))
      }
      case 'running': {
        // Counted from the task's last change too: the attempt may have fetched its task a moment ago, unknown to this
        // monitor.
        const due = Math.max(this.lease.expiresAt(leaseMs), task.updated_at + leaseMs)
        if (due > now) return this.scheduleAlarm(due)
        const { attempt } = task
        const { used, ...figures } = await this.attemptFigures(attempt)
        return this.lookAgainUnless(
          await applyEvent(env, ref, { type: 'lost', attempt, ...figures }, { monitor: this, ...used }),
        )
      }
      case 'divided':
        // Before the check: if the check ends the job, the next alarm is for the clean-up.
        await this.scheduleAlarm(now + QUEUED_CHECK_MS)
        return checkMain(env, ref, { monitor: this })
      case 'committing':
        return this.commit()
      default:
        return
    }
  }

  /**
   * Something else happened to the task meanwhile. Whoever wrote it calls this monitor next, but may die before: then only
   * this alarm finds that the job has ended.
   */
  private async lookAgainUnless({ ok }: { ok: boolean }): Promise<void> {
    if (!ok && this.currentAttempt.state && !this.isDeleted) await this.scheduleAlarm(Date.now() + QUEUED_CHECK_MS)
  }

  /**
   * Deletes one batch; the alarm repeats it until none remain. After an error, the cleanup at the job's end tries
   * again.
   */
  private async discardEarlierAttempts(life: MonitorState): Promise<void> {
    const done = await this.journal
      .deleteBatch(() => this.sink(), 'lost', life.attempt)
      .catch((error: unknown) => {
        log.warn('removal failed', { job: life.jobId, error: String(error) })
        return true
      })
    // A request may have changed the state meanwhile: then it is not overwritten.
    if (!done || this.currentAttempt.state?.attempt !== life.attempt) return
    await this.currentAttempt.save({ ...this.currentAttempt.state, stale: false })
  }

  private sink(): Promise<Sink | null> {
    return this.currentAttempt.state ? openJobSink(this.env, this.currentAttempt.state.jobId) : Promise.resolve(null)
  }

  /** Due at once while objects of earlier attempts remain to be removed: a Durable Object has only one alarm. */
  private async scheduleAlarm(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(this.currentAttempt.state?.stale ? Math.min(at, Date.now()) : at)
  }
}
