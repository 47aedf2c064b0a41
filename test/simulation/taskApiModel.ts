// In charge of: a model of the task API (worker/taskApi/): the answer of each address; null = 409, another attempt is current
// or the job has ended.
// Not in charge of: who asks (transcoderModel.ts), the Worker around it (workerModel.ts).
import type { JobError } from '#contract/errors.ts'
import { terminal, type TaskEvent } from '#contract/task/lifecycle.ts'
import type { FinishPost, ProgressPost, ProgressReply } from '#contract/task/protocol.ts'
import type { SimulatedPlan } from './tables.ts'
import type { Program } from './program.ts'
import { typeOf } from './storageModel.ts'
import { jobOf, mainOf } from './taskNames.ts'
import type { Service } from './workerModel.ts'

export class TaskApi {
  readonly #service: Service

  constructor(service: Service) {
    this.#service = service
  }

  async task(program: Program, id: string, attempt: number, build: string): Promise<Told | null> {
    if (!(await this.#isFitting(program, id, attempt, build))) return null
    const result = await this.#service.apply(program, id, { type: 'started', attempt })
    if (!result.ok && result.refusal !== 'same') return null
    this.#service.checker.heard(id, attempt)
    await this.#service.monitor(program, id).attemptRunning(this.#service.watched(id, attempt))
    const task = await this.#service.code.tasks.findTask(program.env.DB, id)
    if (!task) return null
    const plan = await this.#service.code.tasks.findPlan(program.env.DB, task.main ?? id)
    const { part, surveyed, assemble } = this.#service.code.describeDivision(program.env, task)
    return {
      part: part?.index ?? null,
      plan: plan === null ? null : (JSON.parse(plan) as SimulatedPlan),
      surveyed: surveyed?.parts ?? null,
      assemble: assemble === undefined ? null : { first: assemble.first ?? 0, parts: assemble.parts },
    }
  }

  /** As in a request of a transcoder with this build. */
  async #isFitting(program: Program, id: string, attempt: number, build: string): Promise<boolean> {
    const context = { var: { task: id, attempt, jobId: jobOf(id) }, env: program.env, req: { header: () => build } }
    try {
      await this.#service.code.requireFittingBuild(context as never)
      return true
    } catch (error) {
      if ((error as Error).name !== 'RequestError') throw error
      this.#service.checker.unfit(id, attempt)
      return false
    }
  }

  async plan(
    program: Program,
    id: string,
    attempt: number,
    plan: SimulatedPlan,
    replaces: boolean,
  ): Promise<'ok' | null> {
    const { DB } = program.env
    const { now } = this.#service.clock
    const stored = await this.#service.code.tasks.savePlan(DB, id, attempt, JSON.stringify(plan), replaces, now)
    if (stored === null) return null
    if (replaces) this.#service.checker.replaced(id, plan, stored.plan)
    await this.#service.monitor(program, id).notifyListeners()
    return 'ok'
  }

  async divide(
    program: Program,
    id: string,
    attempt: number,
    { parts, survey }: { parts: number; survey: boolean },
  ): Promise<'ok' | null> {
    const result = await this.#service.apply(program, id, { type: 'divide', attempt, parts, survey })
    return result.ok || result.refusal === 'same' ? 'ok' : null
  }

  async deliver(
    program: Program,
    id: string,
    attempt: number,
    record: PartRecord,
    post: ProgressPost,
  ): Promise<'ok' | null> {
    this.#service.checker.reported(id, attempt, post.transcoded)
    const part = await this.#service.code.tasks.findTask(program.env.DB, id)
    if (part?.attempt !== attempt || part.part === null) return null
    if (part.state === 'completed') return 'ok'
    if (part.state !== 'running') return null
    if ((await this.#service.monitor(program, id).heartbeat(attempt, post)) !== 'continue') return null
    await this.#service.code.partRecords.store(program.env, jobOf(id), part.part, attempt, JSON.stringify(record))
    const result = await this.#service.apply(program, id, { type: 'delivered', attempt })
    const isCurrent = result.ok || result.refusal === 'same'
    const main = await this.#service.code.tasks.findTask(program.env.DB, part.main ?? id)
    if (!isCurrent || main === null || terminal[main.state])
      await this.#service.code.partRecords.remove(program.env, jobOf(id), part.part, attempt)
    return isCurrent ? 'ok' : null
  }

  /** missing = the part is not stored. */
  async partRecord(
    program: Program,
    id: string,
    attempt: number,
    part: number,
  ): Promise<PartRecord | 'missing' | null> {
    const { env } = program
    if ((await this.#service.monitor(program, id).attemptState(attempt)) !== 'current') return null
    const made = await this.#service.code.parts.findStoredAttempt(env.DB, mainOf(id), part)
    if (made === null) return 'missing'
    const stored = await this.#service.code.partRecords.open(env, jobOf(id), part, made)
    return stored ? await stored.json<PartRecord>() : 'missing'
  }

  async progress(
    program: Program,
    id: string,
    attempt: number,
    post: ProgressPost,
  ): Promise<ProgressReply['instruction']> {
    this.#service.checker.reported(id, attempt, post.transcoded)
    const instruction = await this.#service.monitor(program, id).heartbeat(attempt, post)
    this.#service.checker.heard(id, attempt)
    this.#service.checker.instructed(id, instruction)
    return instruction
  }

  async beginUpload(program: Program, id: string, attempt: number, path: string): Promise<string | null> {
    const monitor = this.#service.monitor(program, id)
    if ((await monitor.attemptState(attempt)) !== 'current') return null
    const sink = await this.#service.code.openSinkOf(program.env, jobOf(id))
    const upload = await sink!.beginUpload(path, typeOf(id, attempt))
    if ((await monitor.journalUpload(attempt, upload, path)) === 'current') {
      // If it was aborted meanwhile, it does not exist.
      const open = this.#service.store(jobOf(id)).uploads.get(upload)
      if (open) open.isKnown = true
      return upload
    }
    await sink!.abortUpload(path, upload)
    return null
  }

  async putObject(program: Program, id: string, attempt: number, path: string): Promise<'ok' | null> {
    const monitor = this.#service.monitor(program, id)
    if ((await monitor.journalObject(attempt, path)) !== 'current') return null
    const sink = (await this.#service.code.openSinkOf(program.env, jobOf(id)))!
    await sink.put(path, new Uint8Array(0), 0, typeOf(id, attempt), 'segment')
    if ((await monitor.attemptState(attempt)) === 'current') return 'ok'
    const task = await this.#service.code.tasks.findTask(program.env.DB, id)
    if (task?.attempt !== attempt || task.state === 'failed' || task.state === 'cancelled') await sink.delete(path)
    return null
  }

  async finish(program: Program, id: string, attempt: number, finish: FinishPost): Promise<'ok' | null> {
    const { DB } = program.env
    this.#service.checker.reported(id, attempt, finish.progress.transcoded)
    const before = await this.#service.code.tasks.findTask(DB, id)
    if (before?.attempt !== attempt || before.kind === 'plan') return null
    const monitor = this.#service.monitor(program, id)
    const store = () =>
      Promise.all([monitor.storeCommitRecord(attempt, finish), monitor.heartbeat(attempt, finish.progress)])
    if (before.state === 'running' && (await store())[0] === 'current') {
      const undivided = finish.undivided === true
      const result = await this.#service.apply(program, id, { type: 'finish', attempt, undivided })
      if (!result.ok && result.refusal !== 'same') {
        await this.#service.code.dropRecord(program.env, jobOf(id), attempt)
        return null
      }
    } else {
      const now = await this.#service.code.tasks.findTask(DB, id)
      if (now?.attempt !== attempt || (now.state !== 'committing' && now.state !== 'completed')) return null
    }
    await monitor.commit()
    return 'ok'
  }

  async estimate(program: Program, id: string, attempt: number, post: ProgressPost): Promise<'ok' | null> {
    const progress = JSON.stringify({ ...post, attempt })
    const result = await this.#service.apply(program, id, { type: 'planned', attempt }, { progress })
    return result.ok || result.refusal === 'same' ? 'ok' : null
  }

  async fail(program: Program, id: string, attempt: number, error: JobError | null): Promise<'ok' | null> {
    const event: TaskEvent = error ? { type: 'attempt_failed', attempt, error } : { type: 'evicted', attempt }
    const result = await this.#service.apply(program, id, event)
    return !result.ok && result.refusal === 'stale' ? null : 'ok'
  }
}

/** What an attempt is told of its task. */
export interface Told {
  part: number | null
  /** As it is stored. */
  plan: SimulatedPlan | null
  /** How many parts have surveyed the source. */
  surveyed: number | null
  /** How many are to be put together, behind those. */
  assemble: { first: number; parts: number } | null
}

/** What a part tells those who put the parts together. */
export interface PartRecord {
  part: number
  attempt: number
  uploads: { id: string; path: string }[]
}

export const DONE: ProgressPost = {
  phase: 'uploading',
  transcoded: 1,
  transcode_seconds: 10,
  speed: 1,
  bytes_produced: 1000,
  bytes_stored: 1000,
  transfer_seconds: 5,
  eta_seconds: 0,
}
