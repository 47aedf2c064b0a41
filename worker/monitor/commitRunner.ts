// In charge of: the commit of one job: its records, one try at a time, retries with back-off, and giving up some time
// after the deadline.
// Not in charge of: what a commit does (commitOutputs.ts), the alarm that starts the next try (jobMonitor.ts).
import { log } from '../log.ts'
import type { FinishPost } from '#contract/task/protocol.ts'
import { commitOutputs, deleteCommitRecords, storeCommitRecord } from './commitOutputs.ts'
import { applyEvent, type MonitorHandle } from '../scheduler/applyEvent.ts'
import { findJobByJobId } from '../db/jobs.ts'
import { findTask, type TaskRow } from '../db/tasks.ts'
import { retryBackoffMs } from './cleanUp.ts'

/** Time after the deadline in which the commit is still tried. */
const DEADLINE_GRACE_MS = 3600_000

/** `at`: when the next try is due, in milliseconds since 1970. */
type ScheduleAlarm = (at: number) => Promise<void>

export class CommitRunner {
  readonly #storage: DurableObjectStorage
  readonly #env: Env
  readonly #pendingRecords = new Set<Promise<void>>()
  #running: Promise<void> | null = null

  constructor(storage: DurableObjectStorage, env: Env) {
    this.#storage = storage
    this.#env = env
  }

  async storeRecord(jobId: string, attempt: number, finish: FinishPost): Promise<void> {
    const stored = storeCommitRecord(this.#env, jobId, attempt, finish)
    this.#pendingRecords.add(stored)
    await stored.finally(() => this.#pendingRecords.delete(stored))
  }

  /** Called after the job has ended. Waits for records that a repeated request is still storing. */
  async deleteRecords(jobId: string): Promise<void> {
    await Promise.allSettled(this.#pendingRecords)
    await deleteCommitRecords(this.#env, jobId)
  }

  /** Runs or resumes the commit of a task that is `committing`. Concurrent callers share one try. */
  run(id: string, monitor: MonitorHandle, scheduleAlarm: ScheduleAlarm): Promise<void> {
    this.#running ??= this.#tryCommit(id, monitor, scheduleAlarm).finally(() => (this.#running = null))
    return this.#running
  }

  async #tryCommit(id: string, monitor: MonitorHandle, scheduleAlarm: ScheduleAlarm): Promise<void> {
    const task = await findTask(this.#env.DB, id)
    if (task?.state !== 'committing') return
    const tries = ((await this.#storage.get<number>('commits')) ?? 0) + 1
    await this.#storage.put('commits', tries)
    // Set before the try and once more after it: the alarm may fire while the try is still running.
    await scheduleAlarm(Date.now() + retryBackoffMs(tries))
    try {
      await commitOutputs(this.#env, task, monitor)
    } catch (error) {
      log.warn('commit postponed', { job: task.job_id, task: task.id, tries, error: String(error) })
      await scheduleAlarm(Date.now() + retryBackoffMs(tries))
      await this.#giveUp(task, monitor)
    }
  }

  /** Ends a commit that fails without a known cause (I1). Until the deadline, commitOutputs.ts handles errors. */
  async #giveUp(task: TaskRow, monitor: MonitorHandle): Promise<void> {
    const job = await findJobByJobId(this.#env.DB, task.job_id)
    if (!job || Date.now() < job.deadline_at + DEADLINE_GRACE_MS) return
    const message = 'The outputs could not be published before the job’s deadline.'
    const error = { code: 'deadline_exceeded', message } as const
    const ref = { id: task.id, jobId: task.job_id }
    await applyEvent(this.#env, ref, { type: 'commit_failed', attempt: task.attempt, error }, { monitor })
  }
}
