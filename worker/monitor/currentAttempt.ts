// In charge of: the job's current attempt as its monitor knows it (durable, never lowered: I3), and whether the job has
// ended.
// Not in charge of: what follows from it (jobMonitor.ts); the state itself, which only D1 decides (transitionTask.ts).
import type { TaskState } from '#contract/task/lifecycle.ts'
import type { ProgressReply } from '#contract/task/protocol.ts'
import { findTask } from '../db/tasks.ts'
import type { CleanUpState } from './cleanUp.ts'

export interface MonitoredAttempt {
  job: number
  jobId: string
  account: string
  task: string
  attempt: number
}

export interface MonitorState extends MonitoredAttempt {
  /** When the attempt asked for its task; null before. */
  runningSince: number | null
  /** Earlier attempts may have left objects. */
  stale?: boolean
  /** Progress is frozen until then, because the job may be about to end with it. */
  heldUntil?: number
  /** Set once the job has ended: state of the removal of its objects. */
  over?: CleanUpState
}

export type AttemptState = 'current' | 'stale' | 'over'

/** Longer than a write to D1 takes. */
const PROGRESS_HOLD_MS = 60_000

export class CurrentAttempt {
  readonly #storage: DurableObjectStorage
  readonly #db: D1Database
  life: MonitorState | null = null
  /** The reply to an attempt that still reports. In memory only: a monitor that was evicted replies "stop". */
  ended: ProgressReply['instruction'] | null = null

  constructor(storage: DurableObjectStorage, db: D1Database) {
    this.#storage = storage
    this.#db = db
  }

  async load(): Promise<void> {
    this.life = (await this.#storage.get<MonitorState>('life')) ?? null
  }

  async save(life: MonitorState): Promise<void> {
    this.life = life
    await this.#storage.put('life', life)
  }

  /** An attempt is about to start. @returns whether it is a new one; null = it must not start */
  async starting(watched: MonitoredAttempt): Promise<boolean | null> {
    if (!(await this.#accepts('starting', watched))) return null
    if (this.life?.attempt === watched.attempt) return false
    this.ended = null
    await this.save({ ...watched, runningSince: null, stale: watched.attempt > 1 })
    return true
  }

  /** The attempt fetched its task. An older, delayed request must not lower the attempt number. */
  async running(watched: MonitoredAttempt, now: number): Promise<boolean> {
    if (!(await this.#accepts('running', watched))) return false
    this.ended = null
    await this.save({ ...this.life, ...watched, runningSince: this.life?.runningSince ?? now })
    return true
  }

  /** Without state in memory the job may have ended: D1 decides, so that a late request does not revive it. */
  async #accepts(state: TaskState, { task: id, attempt }: MonitoredAttempt): Promise<boolean> {
    if (this.life) return !this.life.over && attempt >= this.life.attempt
    const task = await findTask(this.#db, id)
    return task?.state === state && task.attempt === attempt
  }

  /** Whether an attempt may still write. */
  stateOf(attempt: number): AttemptState {
    if (this.ended || this.life?.over) return 'over'
    return attempt === this.life?.attempt ? 'current' : 'stale'
  }

  get live(): boolean {
    return this.life !== null && !this.life.over
  }

  /** Freezes the reported progress while the job may be about to end with it (I4). */
  async holdProgress(now: number): Promise<void> {
    if (this.life && !this.life.over) await this.save({ ...this.life, heldUntil: now + PROGRESS_HOLD_MS })
  }
}
