// In charge of: a model of the statements about parts of divided jobs (worker/db/parts.ts): what each must do and return.
// Not in charge of: other statements (databaseModel.ts).
import { TWIN_ATTEMPT, TWIN_TASKS } from '#contract/taskId.ts'
import { created, ENDED, type Job, type Row, type SimulatedPlan, type Task } from './tables.ts'

/** Of one job; as in worker/db/twins.ts. */
const MAX_TWINS = 4

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

  /** The other task at its part has stored it. */
  isSuperseded({ id, main, part }: Task): boolean {
    return main !== null && this.#tasksAt(main, part!).some((other) => other.id !== id && isStored(other))
  }

  /** The task of a part and its twin. */
  #tasksAt(main: string, part: number): Task[] {
    const { job } = this.#tasks.get(main)!
    return [part + 1, part + 1 + TWIN_TASKS].flatMap((number) => this.#tasks.get(`job${job}-${number}`) ?? [])
  }

  /** The task that stored a part. */
  winner(main: string, part: number): Task | undefined {
    return this.#tasksAt(main, part).find(isStored)
  }

  readonly stored = (main: string, part: number): Row[] => {
    const attempt = this.winner(main, part)?.attempt
    return attempt === undefined ? [] : [{ attempt }]
  }

  readonly open = (main: string): Row[] =>
    this.#inOrder(main)
      .filter(({ state }) => !ENDED.includes(state))
      .map((part) => this.#ref(part))

  readonly begun = (main: string): Row[] =>
    this.#inOrder(main)
      .filter(({ attempt }) => attempt > 0)
      .map(({ id }) => ({ id }))

  readonly states = (main: string): Row[] => {
    const found = Map.groupBy(this.#inOrder(main), ({ part }) => part)
    return [...found.values()].map((both) => {
      const { state, attempt } = both.find(isStored) ?? both.find((task) => task.state === 'running') ?? both[0]!
      return { state, attempt }
    })
  }

  #inOrder(main: string): Task[] {
    return this.partsOf(main).toSorted((a, b) => a.part! - b.part! || a.twin - b.twin)
  }

  #hasFailed(task: Task): boolean {
    return task.state === 'failed' && !this.isSuperseded(task)
  }

  /** Something waits for a slot. */
  isWanted(): boolean {
    return [...this.#tasks.values()].some((task) => task.state === 'queued' && !this.isHeldBack(task))
  }

  readonly chunks = (main: string): Row[] => {
    const whole = this.#tasks.get(main)
    if (whole?.state !== 'divided' || this.isWanted()) return []
    const surveys = whole.survey_parts
    return this.#inOrder(main)
      .filter(({ part }) => part! >= surveys && part !== surveys + 1)
      .map(({ id, part, twin, state, attempt, updated_at, timeline }) => {
        const began = (JSON.parse(timeline) as { at: number }[]).at(-2)?.at ?? 0
        return { id, part, twin, state, attempt, updated_at, took: state === 'completed' ? updated_at - began : null }
      })
  }

  /** @param isFree whether a slot is, for an account that may have one more */
  readonly twin = (
    isFree: (k: number, now: number) => boolean,
    ...[id, attempt, k, lease_until, now]: [string, number, number, number, number]
  ): Task | null => {
    const task = this.#tasks.get(id)
    const whole = task && this.mainOf(task)
    if (task?.state !== 'running' || task.attempt !== attempt || task.twin === 1 || whole?.state !== 'divided')
      return null
    const twins = this.partsOf(whole.id).filter((other) => other.twin === 1)
    if (this.isWanted() || !isFree(k, now) || twins.length >= MAX_TWINS) return null
    if (twins.some(({ part }) => part === task.part)) return null
    const { job, account, main, part, priority, hurry_at } = task
    const same = { job, account, kind: 'part' as const, main, part, priority, hurry_at }
    const begun = { state: 'starting' as const, attempt: TWIN_ATTEMPT, slot: k, lease_until, twin: 1 as const }
    const twin = { ...created(now), ...same, ...begun, id: `job${job}-${part! + 1001}` }
    this.#tasks.set(twin.id, twin)
    return twin
  }

  readonly openTwins = (id: string): Row[] => {
    const task = this.#tasks.get(id)
    if (task?.main == null || !isStored(task)) return []
    const others = this.partsOf(task.main).filter((other) => other.part === task.part && other.id !== id)
    return others.filter(({ state }) => !ENDED.includes(state)).map((other) => this.#ref(other))
  }

  #ref({ id, job }: Task): Row {
    return { id, job_id: this.#jobs.get(job)!.job_id }
  }

  readonly outcome = (main: string): Row[] => {
    const task = this.#tasks.get(main)
    const parts = this.partsOf(main)
    if (task?.state !== 'divided' || parts.length === 0) return []
    const failed = parts.filter((part) => this.#hasFailed(part))
    const errors = failed
      .map(({ timeline }) => (JSON.parse(timeline) as { error?: unknown }[]).at(-1)!.error)
      .filter((error) => error !== undefined)
      .map((error) => JSON.stringify(error))
    const completed = new Set(parts.filter(isStored).map(({ part }) => part)).size
    const { attempt } = task
    return [{ attempt, parts: task.parts, completed, failed: failed.length, error: errors.toSorted().at(-1) ?? null }]
  }

  /** All parts are stored, or one has failed for good. */
  areSettled(main: string): boolean {
    const parts = this.partsOf(main)
    const isDone = (part: Task) => part.twin === 1 || isStored(part) || this.isSuperseded(part)
    return parts.every(isDone) || parts.some((part) => this.#hasFailed(part))
  }

  readonly settled = (): Row[] => {
    const mains = [...this.#tasks.values()].filter(({ state }) => state === 'divided')
    return mains.filter(({ id }) => this.areSettled(id)).map((task) => this.#ref(task))
  }

  readonly orphans = (): Row[] => {
    const found = [...this.#tasks.values()].filter((task) => {
      const main = this.mainOf(task)
      if (main === null || ENDED.includes(task.state)) return false
      return ENDED.includes(main.state) || this.isSuperseded(task)
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
    return this.winner(task.main, surveys) === undefined
  }

  /** One of the parts that wait for another one. */
  heldBack(): string | undefined {
    return [...this.#tasks.values()].find((task) => task.state === 'queued' && this.isHeldBack(task))?.id
  }

  partsLeft({ main, parts }: Task): number {
    if (parts > 0) return 0
    if (main === null) return Number.POSITIVE_INFINITY
    const all = this.partsOf(main).filter(({ twin }) => twin === 0)
    return all.filter(({ part }) => this.winner(main, part!) === undefined).length
  }
}

function isStored({ state }: Task): boolean {
  return state === 'completed'
}
