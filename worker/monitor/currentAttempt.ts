// In charge of: which attempt of a job is current, as far as its monitor knows: durable, never lowered (I3); and whether the
// job has ended.
// Not in charge of: what follows from it (jobMonitor.ts); D1 alone decides (transitionTask.ts).
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
  /** Objects of earlier attempts may be left. */
  stale?: boolean
  /** Its figures stand still until then: the job may be about to end with them. */
  heldUntil?: number
  /** The job ended then; what it left is being removed. */
  over?: CleanUpState
}

export type AttemptState = 'current' | 'stale' | 'over'

/** Longer than a write to the ledger takes. */
const PROGRESS_HOLD_MS = 60_000

export class CurrentAttempt {
  readonly #storage: DurableObjectStorage
  readonly #db: D1Database
  life: MonitorState | null = null
  /** What an attempt is told that still asks. In memory only: a monitor that wakes up empty says "stop". */
  ended: ProgressReply['verdict'] | null = null

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

  /** An attempt is about to start. @returns whether it is a new one; null = it is not to start at all */
  async starting(watched: MonitoredAttempt): Promise<boolean | null> {
    if (!(await this.#accepts('starting', watched))) return null
    if (this.life?.attempt === watched.attempt) return false
    this.ended = null
    await this.save({ ...watched, runningSince: null, stale: watched.attempt > 1 })
    return true
  }

  /** The attempt asked for its task. A request that was overtaken on its way here must not lower the fence. */
  async running(watched: MonitoredAttempt, now: number): Promise<boolean> {
    if (!(await this.#accepts('running', watched))) return false
    this.ended = null
    await this.save({ ...this.life, ...watched, runningSince: this.life?.runningSince ?? now })
    return true
  }

  /** A monitor that knows nothing may have forgotten an ended job: a late request must not bring it back to life. */
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

  /** Nobody is shown higher figures than these for as long as the job may be about to end with them (I4). */
  async holdProgress(now: number): Promise<void> {
    if (this.life && !this.life.over) await this.save({ ...this.life, heldUntil: now + PROGRESS_HOLD_MS })
  }
}
