// In charge of: one job's live state: the latest progress (in memory), the lease of its current attempt (an alarm), the
// journal of what it stores, removing that, and the commit, one at a time. One Durable Object a job, named by its backend id.
// Not in charge of: transitions: D1 alone decides them (advance.ts); this only notices and asks.
import { DurableObject } from 'cloudflare:workers'
import { publicEvents } from '#contract/events.ts'
import type { TaskState } from '#contract/lifecycle.ts'
import { terminal } from '#contract/lifecycle.ts'
import type { ProgressPost, ProgressReply } from '#contract/task.ts'
import { commit, dropRecords } from './commit.ts'
import { settings } from './env.ts'
import { apply } from './follow.ts'
import { Journal } from './journal.ts'
import { findJobByBackendId } from './ledger/jobs.ts'
import type { TaskRow } from './ledger/tasks.ts'
import { findTask, findTimeline } from './ledger/tasks.ts'
import { Listeners } from './listeners.ts'
import type { Live } from './live.ts'
import { highest } from './live.ts'
import type { Over } from './removal.ts'
import { backOff, RETRY_MS, removeLeft } from './removal.ts'
import { schedule } from './schedule.ts'
import { openSinkOf } from './sink.ts'
import type { Sink } from './storage/store.ts'

/** Which attempt is current, as far as the monitor knows; never lowered. */
export interface Watched {
  job: number
  jobId: string
  account: string
  task: string
  attempt: number
}

interface Life extends Watched {
  /** When the attempt asked for its task; null before. */
  runningSince: number | null
  /** Objects of earlier attempts may be left. */
  stale?: boolean
  /** Its figures stand still until then: the job may be about to end with them. */
  heldUntil?: number
  /** The job ended then; what it left is being removed. */
  over?: Over
}

export type Standing = 'current' | 'stale' | 'over'

/** How often the high-water mark of progress is made durable. */
const MARK_EVERY_MS = 10_000
/** After the deadline; until then the store is asked again and again. */
const COMMIT_GRACE_MS = 3600_000
/** How often the monitor of a task that waits for its next attempt asks whether the job has ended meanwhile. */
const WAITING_MS = 2 * 60_000
/** Longer than a write to the ledger takes. */
const HOLD_MS = 60_000

export class JobMonitor extends DurableObject<Env> {
  private life: Life | null = null
  private mark: Live | null = null
  private live: Live | null = null
  private markedAt = 0
  /** In memory on purpose: after an eviction it is 0, and the attempt is granted one full lease. */
  private lastBeat = 0
  private ended: ProgressReply['verdict'] | null = null
  private committing: Promise<void> | null = null
  private readonly journal: Journal
  readonly listeners = new Listeners()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.journal = new Journal(ctx.storage)
    void ctx.blockConcurrencyWhile(async () => {
      this.life = (await ctx.storage.get<Life>('life')) ?? null
      this.mark = (await ctx.storage.get<Live>('mark')) ?? null
    })
  }

  /** A new attempt is about to start. What earlier ones stored is removed; an earlier attempt changes nothing. */
  async begin(watched: Watched, leaseMs: number): Promise<void> {
    if (this.life?.over || (this.life && watched.attempt < this.life.attempt)) return
    if (!this.life && !(await this.expects('starting', watched))) return
    if (this.life?.attempt !== watched.attempt) {
      this.ended = null
      await this.remember({ ...watched, runningSince: null, stale: watched.attempt > 1 })
      // Armed before the store is asked: an attempt that is about to start does not depend on its answer.
      await this.arm(Date.now() + leaseMs)
      // What is not aborted now stays in the journal until the job ends.
      await this.journal
        .abortUploads(() => this.sink(), watched.attempt)
        .catch((error: unknown) => {
          const { jobId: job } = watched
          console.error(JSON.stringify({ level: 'warn', msg: 'uploads not aborted', job, error: String(error) }))
        })
    } else {
      await this.arm(Date.now() + leaseMs)
    }
  }

  /** A monitor that knows nothing may have forgotten an ended job: a late request must not bring it back to life. */
  private async expects(state: TaskState, { task: id, attempt }: Watched): Promise<boolean> {
    const task = await findTask(this.env.DB, id)
    return task?.state === state && task.attempt === attempt
  }

  /** The attempt asked for its task: from now on its heartbeats are its lease. */
  async running(watched: Watched): Promise<void> {
    // A request that was overtaken on its way here must not lower the fence.
    if (this.life?.over || (this.life && watched.attempt < this.life.attempt)) return
    if (!this.life && !(await this.expects('running', watched))) return
    this.lastBeat = Date.now()
    this.ended = null
    await this.remember({ ...this.life, ...watched, runningSince: this.life?.runningSince ?? Date.now() })
    await this.arm(Date.now() + settings(this.env).leaseMs)
  }

  async beat(attempt: number, post: ProgressPost): Promise<ProgressReply['verdict']> {
    const standing = await this.standing(attempt)
    if (standing === 'over') return this.ended ?? 'stop'
    if (standing === 'stale') return 'stop'
    this.lastBeat = Date.now()
    if (this.lastBeat < (this.life?.heldUntil ?? 0)) return 'continue'
    this.live = highest(this.live ?? this.mark, { ...post, attempt })
    this.listeners.progress(this.live)
    if (this.lastBeat - this.markedAt >= MARK_EVERY_MS) {
      this.markedAt = this.lastBeat
      this.mark = this.live
      await this.ctx.storage.put('mark', this.mark)
    }
    return 'continue'
  }

  /** Whether an attempt may still write. A monitor that has forgotten asks the ledger. */
  async standing(attempt: number): Promise<Standing> {
    if (this.ended || this.life?.over) return 'over'
    if (!this.life || attempt < this.life.attempt) return 'stale'
    return attempt === this.life.attempt ? 'current' : 'stale'
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

  /** What is shown is kept first, so that it does not go back when this memory is lost (I4). */
  async read(): Promise<Live | null> {
    if (this.live && this.live !== this.mark && this.life && !this.life.over) {
      this.mark = this.live
      await this.ctx.storage.put('mark', this.mark)
    }
    return this.live ?? this.mark
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
    if (this.life && !this.life.over) await this.remember({ ...this.life, heldUntil: Date.now() + HOLD_MS })
    return this.read()
  }

  /** For how long the current attempt has been running, in milliseconds. */
  async ranMs(): Promise<number> {
    return this.life?.runningSince ? Date.now() - this.life.runningSince : 0
  }

  /** A task of this job becomes due then: look for a slot. */
  async wakeAt(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(at)
  }

  /** The job has ended: nothing of it may be left in flight. */
  async settle(): Promise<void> {
    const task = this.life ? await findTask(this.env.DB, this.life.task) : null
    // In memory only: a monitor that wakes up empty later says "stop" to whoever still asks.
    this.ended = task?.state === 'cancelled' ? 'cancel' : 'stop'
    if (!this.life) return this.forget()
    const life: Life = { ...this.life, over: this.life.over ?? { since: Date.now(), pass: 'end', tries: 0 } }
    await this.remember(life)
    // Armed first: whatever happens in between, it comes again.
    await this.ctx.storage.setAlarm(Date.now() + RETRY_MS)
    if (life.over?.tries === 0) await dropRecords(this.env, life.jobId)
    // What the job's success points at stays.
    const below = task?.state === 'completed' ? task.attempt : null
    const left = await removeLeft(this.journal, () => this.sink(), life, below)
    if (!left) return this.forget()
    await this.remember({ ...life, over: left.over })
    await this.ctx.storage.setAlarm(left.at)
  }

  private async forget(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
  }

  /**
   * Carries out, or goes on with, the commit of a task that is `committing`. Only here, so that no two run at once.
   * Never rejects for the store's sake: the alarm tries again.
   */
  async commit(): Promise<void> {
    this.committing ??= this.tryCommit().finally(() => (this.committing = null))
    return this.committing
  }

  private async tryCommit(): Promise<void> {
    const task = this.life ? await findTask(this.env.DB, this.life.task) : null
    if (task?.state !== 'committing') return
    const tries = ((await this.ctx.storage.get<number>('commits')) ?? 0) + 1
    await this.ctx.storage.put('commits', tries)
    // Armed first, and once more below, since the alarm may go off while this still runs.
    await this.arm(Date.now() + backOff(tries))
    try {
      await commit(this.env, task, this)
    } catch (error) {
      console.error(
        JSON.stringify({ level: 'warn', msg: 'commit put off', task: task.id, tries, error: String(error) }),
      )
      await this.arm(Date.now() + backOff(tries))
      await this.giveUp(task)
    }
  }

  /** A commit that cannot even find out what is wrong ends too (I1): commit.ts had its time until the deadline. */
  private async giveUp(task: TaskRow): Promise<void> {
    const job = await findJobByBackendId(this.env.DB, task.job_id)
    if (!job || Date.now() < job.deadline_at + COMMIT_GRACE_MS) return
    const message = 'The outputs could not be put in their places before the deadline of the job.'
    const error = { code: 'deadline_exceeded', message } as const
    const ref = { id: task.id, jobId: task.job_id }
    await apply(this.env, ref, { type: 'commit_failed', attempt: task.attempt, error }, { watcher: this })
  }

  /** The sweep asks: is the alarm still set? */
  async look(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now())
  }

  override async alarm(): Promise<void> {
    const { env, life } = this
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
        await apply(env, ref, { type: 'start_failed', attempt: task.attempt }, { watcher: this })
        return
      }
      case 'running': {
        if (this.lastBeat === 0) this.lastBeat = now
        const due = this.lastBeat + leaseMs
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
    if (!done || this.life?.attempt !== life.attempt) return
    await this.remember({ ...this.life, stale: false })
  }

  private async remember(life: Life): Promise<void> {
    this.life = life
    await this.ctx.storage.put('life', life)
  }

  private sink(): Promise<Sink | null> {
    return this.life ? openSinkOf(this.env, this.life.jobId) : Promise.resolve(null)
  }

  /** Sooner while there are objects of earlier attempts to remove: there is only one alarm. */
  private async arm(at: number): Promise<void> {
    await this.ctx.storage.setAlarm(this.life?.stale ? Math.min(at, Date.now()) : at)
  }
}
