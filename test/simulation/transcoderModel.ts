// In charge of: a model of transcoder/server/controlServer.ts and transcoder/runTask.ts as the Worker sees
// them: the requests to the task API, their order and their retries, and how the task ends.
// Not in charge of: media.
import type { JobError } from '#contract/errors.ts'
import type { FinishPost, ProgressPost } from '#contract/task/protocol.ts'
import { type Process, settled } from './virtualClock.ts'
import type { Program } from './program.ts'
import { NEW_BUILD, type JobShape } from './scenario.ts'
import type { SimulatedPlan } from './tables.ts'
import { DONE, TaskApi, type PartRecord, type Told } from './taskApiModel.ts'
import type { Service } from './workerModel.ts'
import { FILE_BYTES, typeOf } from './storageModel.ts'

const BEAT_MS = 5000
const UNHEARD_MS = 60_000
const REQUEST_TRIES = 12
const HANDOVER_MS = 5000

/** Which part makes what. */
const LAST_CHUNK = 0
const REST = 1

/** returned = the attempt is given back by a transcoder that goes on. */
type Ending = 'cancel' | 'stop' | 'unheard' | 'interrupted' | 'returned'
interface Made extends Pick<PartRecord, 'uploads'> {
  /** Of each media playlist. */
  segments: string[][]
}

interface Run {
  id: string
  attempt: number
  halted: Ending | null
  over: boolean
  /** Only the report of success is left to send. */
  ending: boolean
  post: ProgressPost
}

class Halted extends Error {}
class Killed extends Error {}

export class Transcoder {
  readonly k: number
  readonly #protocol: number
  #build: string
  readonly #service: Service
  readonly #api: TaskApi
  #current: Run | null = null
  #ended: string[] = []
  /** Counts its processes, so that work of an earlier process is ignored. */
  #life = 0
  #away = false
  #frozenUntil = 0

  constructor(service: Service, k: number, protocol: number, build: string) {
    this.#service = service
    this.#api = new TaskApi(service)
    this.k = k
    this.#protocol = protocol
    this.#build = build
    service.checker.hasBuild(k, build)
  }

  /** `POST /run`. @returns false for a refusal or a missing answer */
  async run(id: string, attempt: number, protocol: number): Promise<boolean> {
    if (this.#away || this.#service.clock.now < this.#frozenUntil || protocol !== this.#protocol) return false
    const key = `${id} ${attempt}`
    const known = (): boolean => this.#isCurrent(id, attempt) || this.#ended.includes(key)
    if (known()) return true
    if (this.#current?.id === id && this.#current.attempt < attempt) this.#current.halted ??= 'stop'
    const last = this.#current
    if (last?.ending || last?.halted) {
      const [life, until] = [this.#life, this.#service.clock.now + HANDOVER_MS]
      while (!last.over && this.#service.clock.now < until) await this.#service.clock.sleep(20)
      if (this.#away || life !== this.#life) return false
      // Another message of the same attempt was waiting too.
      if (known()) return true
    }
    if (this.#current) return false
    // The container of the next attempt replaces it.
    const { scenario } = this.#service
    if (scenario.hang > 0 && this.#service.fault(scenario.hang)) return true
    const run: Run = {
      id,
      attempt,
      halted: null,
      over: false,
      ending: false,
      post: { ...DONE, transcoded: 0, bytes_stored: 0 },
    }
    this.#current = run
    this.#service.checker.runs(id, attempt, 1)
    this.#service.clock.spawn(this.#live(run, this.#life))
    this.#service.clock.spawn(this.#beat(run, this.#life), BEAT_MS)
    return true
  }

  #isCurrent(id: string, attempt: number): boolean {
    return this.#current?.id === id && this.#current.attempt === attempt
  }

  cancel(id: string, attempt: number): void {
    if (this.#current?.id === id && this.#current.attempt === attempt) this.#current.halted ??= 'cancel'
  }

  /** SIGKILL; a new process replaces it. */
  kill(): void {
    if (this.#current) this.#silent(this.#current)
    if (this.#current) this.#release(this.#current)
    this.#life++
    this.#ended = []
    this.#away = true
    this.#service.clock.spawn(this.#restart(), this.#service.random.whole(500, 20_000))
  }

  /** SIGSTOP and, later, SIGCONT. */
  freeze(): void {
    if (this.#current) this.#silent(this.#current)
    this.#frozenUntil = this.#service.clock.now + this.#service.random.whole(1000, 120_000)
  }

  #silent(run: Run): void {
    if (!run.over) this.#service.checker.silent(run.id, run.attempt)
  }

  /** SIGTERM: it accepts nothing new, returns the task, then the process ends. */
  stop(): void {
    if (!this.#current) return this.kill()
    this.#away = true
    this.#current.halted ??= 'interrupted'
    this.#service.clock.spawn(this.#leave(this.#life), 25_000)
  }

  *#leave(life: number): Process {
    if (life === this.#life) this.kill()
    yield 0
  }

  *#restart(): Process {
    this.#away = false
    if (this.#service.scenario.isRollout) this.#build = NEW_BUILD
    this.#service.checker.hasBuild(this.k, this.#build)
    yield 0
  }

  #release(run: Run): void {
    if (run.over) return
    run.over = true
    this.#service.checker.runs(run.id, run.attempt, -1)
    this.#ended.push(`${run.id} ${run.attempt}`)
    if (this.#current === run) this.#current = null
  }

  *#wait(life: number, ms: number): Process {
    yield ms
    while (this.#service.clock.now < this.#frozenUntil) yield this.#frozenUntil - this.#service.clock.now
    if (life !== this.#life) throw new Killed()
  }

  /** One request to the task API, repeated until it is answered; sometimes it arrives several times. */
  *#ask<T>(run: Run, life: number, handle: (program: Program) => Promise<T | null>, tries = REQUEST_TRIES): Process<T> {
    const { scenario } = this.#service
    for (let n = 0; n < tries; n++) {
      yield* this.#wait(life, this.#service.random.whole(1, 50))
      if (this.#service.fault(scenario.loss)) {
        yield* this.#wait(life, 1000 * 2 ** Math.min(n, 4))
        continue
      }
      for (let more = 1; more < scenario.posts; more++)
        this.#service.post(handle, this.#service.random.whole(0, this.#service.fault(0.1) ? 90_000 : 500))
      try {
        const answer = yield* settled(this.#service.request(handle))
        yield* this.#wait(life, 0)
        if (this.#service.fault(scenario.loss)) continue
        if (answer !== null) return answer
        this.#service.checker.refused(run.id, run.attempt)
        run.halted ??= 'stop'
        throw new Halted()
      } catch (error) {
        if (error instanceof Halted || error instanceof Killed) throw error
        this.#service.survive(error)
        yield* this.#wait(life, 1000 * 2 ** Math.min(n, 4))
      }
    }
    run.halted ??= 'unheard'
    throw new Halted()
  }

  *#live(run: Run, life: number): Process {
    try {
      yield* this.#work(run, life)
    } catch (error) {
      if (error instanceof Halted) yield* this.#tell(run, life)
      else if (!(error instanceof Killed)) throw error
    }
    if (life === this.#life) this.#release(run)
    if (life === this.#life && run.halted === 'interrupted') this.kill()
  }

  *#work(run: Run, life: number): Process {
    const service = this.#service
    const { id, attempt } = run
    const shape = service.scenario.jobs[service.ledger.find(id).job - 1]!
    // A late repetition of a request is still one of this process.
    const build = this.#build
    const told = yield* this.#ask(run, life, (program) => this.#api.task(program, id, attempt, build))
    if (told.part !== null) service.checker.makes(id, build)
    if (told.assemble !== null) return yield* this.#assemble(run, life, shape, told.assemble)
    if (told.part === null && shape.parts > 0) return yield* this.#divide(run, life, shape, told)
    const made = yield* this.#encode(run, life, workOf(shape, told.part))
    if (made === null) return
    if (told.part !== null) return yield* this.#deliver(run, life, { part: told.part, uploads: made.uploads })
    run.ending = true
    if (shape.kind === 'plan') {
      yield* this.#ask(run, life, (program) => this.#api.estimate(program, id, attempt, DONE))
      return
    }
    yield* this.#finish(run, life, made)
  }

  /** @returns null if the encode failed, and its end is reported */
  *#encode(run: Run, life: number, shape: JobShape): Process<Made | null> {
    const { id, attempt } = run
    const uploads: Made['uploads'] = []
    if (shape.kind === 'transcode')
      for (let n = 0; n < shape.files; n++) {
        const path = `file${n}.mp4`
        uploads.push({
          path,
          id: yield* this.#ask(run, life, (program) => this.#api.beginUpload(program, id, attempt, path)),
        })
      }
    const segments: string[][] = Array.from({ length: shape.playlists }, () => [])
    for (let step = 1; step <= shape.steps; step++) {
      yield* this.#wait(life, shape.stepMs * this.#service.scenario.slowness[this.k]!)
      this.#heed(run)
      if (this.#isPoisoned(shape, id, attempt, step)) throw new Killed()
      run.post = { ...run.post, transcoded: step / shape.steps, bytes_stored: Math.floor((900 * step) / shape.steps) }
      if (shape.kind === 'plan' || step > shape.segments) continue
      for (const [n, list] of segments.entries()) yield* this.#put(run, life, `${n}-${attempt}/${step}`, list)
    }
    if (shape.outcome !== 'well') {
      yield* this.#fail(run, life, shape.outcome)
      return null
    }
    if (shape.kind === 'transcode')
      for (const [n, list] of segments.entries())
        for (let step = list.length + 1; step <= shape.segments; step++)
          yield* this.#put(run, life, `${n}-${attempt}/${step}`, list)
    this.#heed(run)
    return { segments, uploads }
  }

  /** First into the parts of a survey, if there is one, then into chunks. */
  *#divide(run: Run, life: number, shape: JobShape, { plan: stored, surveyed }: Told): Process {
    const { id, attempt } = run
    const { surveys } = shape
    const isSurvey = surveyed === null && surveys > 0
    for (let part = 0; part < (surveyed ?? 0); part++) yield* this.#record(run, life, part)
    if (surveyed !== null) this.#service.checker.surveyed(id, attempt, surveyed)
    yield* this.#wait(life, shape.stepMs)
    this.#heed(run)
    // A plan for another build is of no use here, but what surveyed parts made stays of theirs.
    const replaces = surveyed !== null || (stored !== null && stored.engine.build !== this.#build)
    const build = surveyed === null || stored === null ? this.#build : stored.engine.build
    const plan: SimulatedPlan = {
      engine: { build },
    }
    yield* this.#ask(run, life, (program) => this.#api.plan(program, id, attempt, plan, replaces))
    run.ending = true
    const division = { survey: isSurvey, parts: isSurvey ? surveys : surveys + shape.parts }
    yield* this.#ask(run, life, (program) => this.#api.divide(program, id, attempt, division))
  }

  *#deliver(run: Run, life: number, made: Omit<PartRecord, 'attempt'>): Process {
    const { id, attempt } = run
    const { surveys } = this.#service.scenario.jobs[this.#service.ledger.find(id).job - 1]!
    if (made.part === surveys + REST) yield* this.#requireLastChunk(run, life, surveys + LAST_CHUNK)
    run.ending = true
    const record = { ...made, attempt }
    yield* this.#ask(run, life, (program) => this.#api.deliver(program, id, attempt, record, DONE))
  }

  /** The rest of the outputs needs its end. */
  *#requireLastChunk(run: Run, life: number, part: number): Process {
    const { id, attempt } = run
    const last = yield* this.#ask(run, life, (program) => this.#api.partRecord(program, id, attempt, part))
    if (last !== 'missing') return
    this.#service.checker.missed(id, part)
    run.halted ??= 'returned'
    this.#heed(run)
  }

  *#assemble(run: Run, life: number, shape: JobShape, { first, parts }: { first: number; parts: number }): Process {
    const uploads: Made['uploads'] = []
    for (let part = first; part < first + parts; part++) {
      const record = yield* this.#record(run, life, part)
      if (record === null) return yield* this.#fail(run, life, 'permanent')
      uploads.push(...record.uploads)
      this.#heed(run)
    }
    if (shape.unlike) return yield* this.#makeAll(run, life, shape)
    // All but the rest are chunks.
    const copied = { files: 0, steps: 1, segments: shape.segments * (parts - 1) }
    const made = yield* this.#encode(run, life, { ...shape, ...copied, outcome: 'well', poison: null })
    if (made === null) return
    run.ending = true
    yield* this.#finish(run, life, { ...made, uploads })
  }

  /** Nothing of what the parts stored is used. */
  *#makeAll(run: Run, life: number, shape: JobShape): Process {
    const made = yield* this.#encode(run, life, { ...shape, outcome: 'well', poison: null })
    if (made === null) return
    run.ending = true
    yield* this.#finish(run, life, made, true)
  }

  *#record(run: Run, life: number, part: number): Process<PartRecord | null> {
    const record = yield* this.#ask(run, life, (program) => this.#api.partRecord(program, run.id, run.attempt, part))
    const found = record === 'missing' ? null : record
    this.#service.checker.assembled(run.id, part, found)
    return found
  }

  *#finish(run: Run, life: number, made: Made, undivided = false): Process {
    const { id, attempt } = run
    const post: FinishPost = { ...finishOf(id, attempt, made), ...(undivided ? { undivided } : {}) }
    yield* this.#ask(run, life, (program) => this.#api.finish(program, id, attempt, post))
  }

  /** The source makes this transcoder end. */
  #isPoisoned({ poison, steps }: JobShape, id: string, attempt: number, step: number): boolean {
    if (poison === null || step / steps < poison.share + poison.later * this.#service.attemptsBefore(id, attempt))
      return false
    this[poison.kind]()
    return poison.kind === 'kill'
  }

  *#put(run: Run, life: number, path: string, list: string[]): Process {
    yield* this.#ask(run, life, (program) => this.#api.putObject(program, run.id, run.attempt, path))
    list.push(path)
    this.#heed(run)
  }

  *#fail(run: Run, life: number, outcome: 'permanent' | 'passing'): Process {
    const error: JobError = {
      code: outcome === 'permanent' ? 'source_not_media' : 'source_unreachable',
      message: 'the source',
    }
    yield* this.#ask(run, life, (program) => this.#api.fail(program, run.id, run.attempt, error))
  }

  #heed(run: Run): void {
    if (run.halted) throw new Halted()
  }

  /** Reports the end of an attempt that was halted. */
  *#tell(run: Run, life: number): Process {
    if (run.halted !== 'interrupted' && run.halted !== 'returned' && run.halted !== 'unheard') return
    try {
      // A missing answer is reported as an error: an eviction that is not counted could repeat for ever.
      const error: JobError | null = run.halted === 'unheard' ? { code: 'internal', message: 'unheard' } : null
      yield* this.#ask(run, life, (program) => this.#api.fail(program, run.id, run.attempt, error), 3)
    } catch (error) {
      if (!(error instanceof Halted) && !(error instanceof Killed)) throw error
    }
  }

  *#beat(run: Run, life: number): Process {
    let lastReply = this.#service.clock.now
    while (!run.over && life === this.#life) {
      try {
        if (!this.#service.fault(this.#service.scenario.loss)) {
          const instruction = yield* settled(
            this.#service.request((program) => this.#api.progress(program, run.id, run.attempt, run.post)),
          )
          lastReply = this.#service.clock.now
          if (instruction !== 'continue') {
            this.#service.checker.refused(run.id, run.attempt)
            run.halted ??= instruction
          }
        } else if (this.#service.clock.now - lastReply > UNHEARD_MS) run.halted ??= 'unheard'
        yield* this.#wait(life, BEAT_MS)
      } catch (error) {
        if (error instanceof Killed) return
        this.#service.survive(error)
        yield BEAT_MS
      }
    }
  }
}

/** What one part stores among the outputs: the rest the files, the others nothing: the last attempt copies what chunks made. */
function workOf(shape: JobShape, part: number | null): JobShape {
  if (part === null) return shape
  const { surveys } = shape
  return {
    ...shape,
    playlists: 0,
    ...(part === surveys + REST ? {} : { files: 0 }),
    ...(part === shape.failing ? {} : { outcome: 'well', poison: null }),
  }
}

interface Manifest {
  path: string
  refs: readonly string[]
  stage: 1 | 2
}

function manifests(segments: string[][]): Manifest[] {
  if (segments.length === 0) return []
  const media = segments.map((refs, n) => ({ path: `media${n}.m3u8`, refs, stage: 1 as const }))
  return [...media, { path: 'master.m3u8', refs: media.map(({ path }) => path), stage: 2 as const }]
}

function finishOf(id: string, attempt: number, { uploads, segments }: Made): FinishPost {
  const same = { content_type: typeOf(id, attempt), profile: null, role: 'media' } as const
  return {
    objects: uploads.map(({ id: upload, path }) => ({
      ...same,
      path,
      upload,
      size: FILE_BYTES,
      sha256: '',
      parts: [],
    })),
    written: manifests(segments).map(({ path, refs, stage }) => ({ ...same, path, stage, body: refs.join('\n') })),
    warnings: [],
    progress: DONE,
  }
}
