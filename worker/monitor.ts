// In charge of: one job's live state: the latest progress (in memory), the lease of its current attempt (an alarm), the
// journal of its uploads (durable), and resuming a commit. One Durable Object a job, named by its backend id.
// Not in charge of: transitions: D1 alone decides them (advance.ts); this only notices and asks.
import { DurableObject } from 'cloudflare:workers'
import { terminal } from '#contract/lifecycle.ts'
import type { ProgressPost, ProgressReply } from '#contract/task.ts'
import { commit } from './commit.ts'
import { settings } from './env.ts'
import { apply } from './follow.ts'
import { findTask } from './ledger/tasks.ts'
import { schedule } from './schedule.ts'
import { openSinkOf } from './sink.ts'

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
}

/** Latest figures, never lower than those of an earlier attempt (I4). */
export interface Live extends ProgressPost {
  attempt: number
}

interface Upload {
  attempt: number
  path: string
}

export type Standing = 'current' | 'stale' | 'over'

/** How often the high-water mark of progress is made durable. */
const MARK_EVERY_MS = 10_000
/** Between two tries to resume a commit. */
const COMMIT_RETRY_MS = 5000

export class JobMonitor extends DurableObject<Env> {
  private life: Life | null = null
  private mark: Live | null = null
  private live: Live | null = null
  private markedAt = 0
  /** In memory on purpose: after an eviction it is 0, and the attempt is granted one full lease. */
  private lastBeat = 0
  private ended: ProgressReply['verdict'] | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    void ctx.blockConcurrencyWhile(async () => {
      this.life = (await ctx.storage.get<Life>('life')) ?? null
      this.mark = (await ctx.storage.get<Live>('mark')) ?? null
    })
  }

  /** A new attempt is about to start. Uploads of earlier ones are aborted; an earlier attempt changes nothing. */
  async begin(watched: Watched, leaseMs: number): Promise<void> {
    if (this.life && watched.attempt < this.life.attempt) return
    if (this.life?.attempt !== watched.attempt) {
      this.life = { ...watched, runningSince: null }
      this.ended = null
      await this.ctx.storage.put('life', this.life)
      await this.abortUploads((upload) => upload.attempt < watched.attempt)
    }
    await this.ctx.storage.setAlarm(Date.now() + leaseMs)
  }

  /** The attempt asked for its task: from now on its heartbeats are its lease. */
  async running(watched: Watched): Promise<void> {
    this.life = { ...watched, runningSince: this.life?.runningSince ?? Date.now() }
    this.lastBeat = Date.now()
    this.ended = null
    await this.ctx.storage.put('life', this.life)
    await this.ctx.storage.setAlarm(Date.now() + settings(this.env).leaseMs)
  }

  async beat(attempt: number, post: ProgressPost): Promise<ProgressReply['verdict']> {
    const standing = await this.standing(attempt)
    if (standing === 'over') return this.ended ?? 'stop'
    if (standing === 'stale') return 'stop'
    this.lastBeat = Date.now()
    this.live = highest(this.live ?? this.mark, { ...post, attempt })
    if (this.lastBeat - this.markedAt >= MARK_EVERY_MS) {
      this.markedAt = this.lastBeat
      this.mark = this.live
      await this.ctx.storage.put('mark', this.mark)
    }
    return 'continue'
  }

  /** Whether an attempt may still write. A monitor that has forgotten asks the ledger. */
  async standing(attempt: number): Promise<Standing> {
    if (this.ended) return 'over'
    if (!this.life || attempt < this.life.attempt) return 'stale'
    return attempt === this.life.attempt ? 'current' : 'stale'
  }

  /** Before the first part of an upload: whoever ends the attempt can then abort it (I8). */
  async journal(attempt: number, upload: string, path: string): Promise<Standing> {
    const standing = await this.standing(attempt)
    if (standing === 'current') await this.ctx.storage.put(`upload/${upload}`, { attempt, path } satisfies Upload)
    return standing
  }

  async read(): Promise<Live | null> {
    return this.live ?? this.mark
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
    await this.abortUploads(() => true)
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
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
    const now = Date.now()
    const { leaseMs } = settings(env)
    const ref = { id: task.id, jobId: life.jobId }
    switch (task.state) {
      case 'queued':
        await schedule(env)
        // Somebody else's slot release finds it from here on; this only covers the task's own delay.
        if (task.not_before > now) await this.ctx.storage.setAlarm(task.not_before)
        return
      case 'starting': {
        const due = task.lease_until ?? now
        if (due > now) return this.ctx.storage.setAlarm(due)
        await apply(env, ref, { type: 'start_failed', attempt: task.attempt }, { watcher: this })
        return
      }
      case 'running': {
        if (this.lastBeat === 0) this.lastBeat = now
        const due = this.lastBeat + leaseMs
        if (due > now) return this.ctx.storage.setAlarm(due)
        const ranMs = await this.ranMs()
        await apply(env, ref, { type: 'lost', attempt: task.attempt, ranMs }, { watcher: this })
        return
      }
      case 'committing':
        // Armed first: whatever happens in between, it comes again.
        await this.ctx.storage.setAlarm(now + COMMIT_RETRY_MS)
        await commit(env, task, this)
        return
      default:
        return
    }
  }

  private async abortUploads(which: (upload: Upload) => boolean): Promise<void> {
    const journal = await this.ctx.storage.list<Upload>({ prefix: 'upload/' })
    if (journal.size === 0 || !this.life) return
    const sink = await openSinkOf(this.env, this.life.jobId)
    for (const [key, upload] of journal) {
      if (!which(upload)) continue
      await sink?.abortUpload(upload.path, key.slice('upload/'.length))
      await this.ctx.storage.delete(key)
    }
  }
}

/** What people see never goes back (I4), also when a second attempt starts from nothing. */
function highest(before: Live | null, now: Live): Live {
  if (!before) return now
  const stored = share(before) > share(now) ? before : now
  return {
    ...now,
    transcoded: Math.max(before.transcoded, now.transcoded),
    bytes_stored: stored.bytes_stored,
    bytes_produced: stored.bytes_produced,
  }
}

function share(live: Live): number {
  return live.bytes_produced > 0 ? live.bytes_stored / live.bytes_produced : 0
}
