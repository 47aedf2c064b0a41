// In charge of: a model of the statements about parts of divided jobs (worker/db/parts.ts): what each must do and return.
// Not in charge of: other statements (databaseModel.ts).
import { created, ENDED, type Job, type Row, type SimulatedPlan, type Task } from './tables.ts'

export class Parts {
  readonly #tasks: Map<string, Task>
  readonly #jobs: ReadonlyMap<number, Job>
  readonly #ended: (part: Task) => void

  /** `ended` is told of parts that end with their main task, as they were. */
  constructor(tasks: Map<string, Task>, jobs: ReadonlyMap<number, Job>, ended: (part: Task) => void) {
    this.#tasks = tasks
    this.#jobs = jobs
    this.#ended = ended
  }

  partsOf(main: string): Task[] {
    return [...this.#tasks.values()].filter((task) => task.main === main)
  }

  mainOf({ main }: Task): Task | null {
    return main === null ? null : (this.#tasks.get(main) ?? null)
  }

  readonly divide = (main: string, attempt: number, parts: number, now: number): Row[] => {
    const task = this.#tasks.get(main)
    if (!task || task.attempt !== attempt || task.state !== 'divided') return []
    const { job, account, priority, hurry_at } = task
    for (let part = 0; part < parts; part++) {
      const id = `job${job}-${part + 1}`
      if (!this.#tasks.has(id))
        this.#tasks.set(id, { id, job, account, kind: 'part', main, part, ...created(now), priority, hurry_at })
    }
    return []
  }

  readonly cancelWaiting = (main: string, now: number): Row[] => {
    if (!ENDED.includes(this.#tasks.get(main)!.state)) return []
    for (const part of this.partsOf(main)) {
      if (part.state !== 'queued') continue
      this.#ended({ ...part })
      Object.assign(part, { state: 'cancelled', updated_at: now })
    }
    return []
  }

  readonly stored = (main: string, part: number): Row[] =>
    this.partsOf(main)
      .filter((task) => task.part === part && isStored(task))
      .map(({ attempt }) => ({ attempt }))

  readonly open = (main: string): Row[] =>
    this.#inOrder(main)
      .filter(({ state }) => !ENDED.includes(state))
      .map((part) => this.#ref(part))

  readonly begun = (main: string): Row[] =>
    this.#inOrder(main)
      .filter(({ attempt }) => attempt > 0)
      .map(({ id }) => ({ id }))

  readonly states = (main: string): Row[] => this.#inOrder(main).map(({ state, attempt }) => ({ state, attempt }))

  #inOrder(main: string): Task[] {
    return this.partsOf(main).toSorted((a, b) => a.part! - b.part!)
  }

  #ref({ id, job }: Task): Row {
    return { id, job_id: this.#jobs.get(job)!.job_id }
  }

  readonly outcome = (main: string): Row[] => {
    const task = this.#tasks.get(main)
    const parts = this.partsOf(main)
    if (task?.state !== 'divided' || parts.length === 0) return []
    const failed = parts.filter(({ state }) => state === 'failed')
    const errors = failed
      .map(({ timeline }) => (JSON.parse(timeline) as { error?: unknown }[]).at(-1)!.error)
      .filter((error) => error !== undefined)
      .map((error) => JSON.stringify(error))
    const completed = parts.filter(isStored).length
    const { attempt } = task
    return [{ attempt, parts: task.parts, completed, failed: failed.length, error: errors.toSorted().at(-1) ?? null }]
  }

  /** All parts are stored, or one has failed for good. */
  areSettled(main: string): boolean {
    const parts = this.partsOf(main)
    return parts.every(isStored) || parts.some(({ state }) => state === 'failed')
  }

  readonly settled = (): Row[] => {
    const mains = [...this.#tasks.values()].filter(({ state }) => state === 'divided')
    return mains.filter(({ id }) => this.areSettled(id)).map((task) => this.#ref(task))
  }

  readonly orphans = (): Row[] => {
    const found = [...this.#tasks.values()].filter((task) => {
      const main = this.mainOf(task)
      return main !== null && ENDED.includes(main.state) && !ENDED.includes(task.state)
    })
    return found.map((task) => this.#ref(task))
  }

  readonly build = (main: string): Row[] => {
    const task = this.#tasks.get(main)
    return task ? [{ build: this.plannedBuild(main) }] : []
  }

  /** The plans of the simulation do not say it. */
  readonly chunkBegins = (main: string): Row[] => (this.#tasks.has(main) ? [{ chunks: null }] : [])

  /** Of the ffmpeg with which all parts of the job are made. */
  plannedBuild(main: string): string | null {
    const plan = this.#tasks.get(main)?.plan ?? null
    return plan === null ? null : (JSON.parse(plan) as SimulatedPlan).engine.build
  }

  /** A part whose last start failed says nothing about when a transcoder was at work. */
  readonly lastWork = (main: string, now: number): Row[] => {
    const begun = this.partsOf(main).filter(
      ({ state, attempt, starts_failed: failed }) => state !== 'starting' && attempt > 0 && failed === 0,
    )
    const times = begun.map(({ state, updated_at: at }) => (state === 'running' ? now : at))
    return [{ at: Math.max(this.#tasks.get(main)!.updated_at, 0, ...times) }]
  }

  /** The rest of the outputs follows the end of the video. */
  isHeldBack(task: Task): boolean {
    const surveys = this.mainOf(task)?.survey_parts ?? 0
    if (task.main === null || task.part !== surveys + 1) return false
    return !isStored(this.partsOf(task.main).find(({ part }) => part === surveys)!)
  }

  /** One of the parts that wait for another one. */
  heldBack(): string | undefined {
    return [...this.#tasks.values()].find((task) => task.state === 'queued' && this.isHeldBack(task))?.id
  }

  partsLeft({ main, parts }: Task): number {
    if (parts > 0) return 0
    if (main === null) return Number.POSITIVE_INFINITY
    return this.partsOf(main).filter((part) => !isStored(part)).length
  }
}

function isStored({ state }: Task): boolean {
  return state === 'completed'
}
