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
  /** Part: it is delivered. Its objects stay until its job has ended. */
  delivered?: boolean
  /** Set once the job has ended: state of the removal of its objects. */
  over?: CleanUpState
}

export type AttemptState = 'current' | 'stale' | 'over'

/** Longer than a write to D1 takes. */
const PROGRESS_HOLD_MS = 60_000

export class CurrentAttempt {
  readonly #storage: DurableObjectStorage
  readonly #db: D1Database
  state: MonitorState | null = null
  /** The reply to an attempt that still reports. In memory only: a monitor that was evicted replies "stop". */
  finalReply: ProgressReply['instruction'] | null = null

  constructor(storage: DurableObjectStorage, db: D1Database) {
    this.#storage = storage
    this.#db = db
  }

  async load(): Promise<void> {
    this.state = (await this.#storage.get<MonitorState>('life')) ?? null
  }

  async save(state: MonitorState): Promise<void> {
    this.state = state
    await this.#storage.put('life', state)
  }

  /** An attempt is about to start. @returns whether it is a new one; null = it must not start */
  async starting(watched: MonitoredAttempt): Promise<boolean | null> {
    if (!(await this.#accepts('starting', watched))) return null
    if (this.state?.attempt === watched.attempt) return false
    this.finalReply = null
    await this.save({ ...watched, runningSince: null, stale: watched.attempt > 1 })
    return true
  }

  /** The attempt fetched its task. An older, delayed request must not lower the attempt number. */
  async running(watched: MonitoredAttempt, now: number): Promise<boolean> {
    if (!(await this.#accepts('running', watched))) return false
    this.finalReply = null
    await this.save({ ...this.state, ...watched, runningSince: this.state?.runningSince ?? now })
    return true
  }

  /** Without state in memory the job may have ended: D1 decides, so that a late request does not revive it. */
  async #accepts(state: TaskState, { task: id, attempt }: MonitoredAttempt): Promise<boolean> {
    if (this.state) return !this.state.over && !this.state.delivered && attempt >= this.state.attempt
    const task = await findTask(this.#db, id)
    return task?.state === state && task.attempt === attempt
  }

  /** Whether an attempt may still write. */
  stateOf(attempt: number): AttemptState {
    if (this.finalReply || this.state?.over || this.state?.delivered) return 'over'
    return attempt === this.state?.attempt ? 'current' : 'stale'
  }

  get isActive(): boolean {
    return this.state !== null && !this.state.over
  }

  /** Freezes the reported progress while the job may be about to end with it (I4). */
  async holdProgress(now: number): Promise<void> {
    if (this.state && !this.state.over) await this.save({ ...this.state, heldUntil: now + PROGRESS_HOLD_MS })
  }
}
