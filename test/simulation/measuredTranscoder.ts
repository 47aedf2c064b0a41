// In charge of: a transcoder whose tasks take the time they were given, as the Worker sees it: claims, heartbeats,
// stored objects, records, ends.
// Not in charge of: faults (transcoderModel.ts), where the times come from (bench/rows/replay.ts).
import { HEARTBEAT_MS, PART_HEARTBEAT_MS, TASK_PROTOCOL, type FinishPost } from '#contract/task/protocol.ts'
import type { Program } from './program.ts'
import { OLD_BUILD } from './scenario.ts'
import { typeOf } from './storageModel.ts'
import { type Process, settled } from './virtualClock.ts'
import { DONE, TaskApi } from './taskApiModel.ts'
import type { Service } from './workerModel.ts'

export interface PartCost {
  seconds: number
  /** Segments that it stores while it works. */
  objects: number
  /** Of the output's video, which chunks have. */
  videoSeconds: number
}

/** Seconds of one transcoder for each task of a divided job. */
export interface TaskCosts {
  /** From the acceptance of a task until its work begins, of every task. */
  start: number
  /** The first attempt: probing and planning, and the samples if no part makes them. */
  survey: number
  /** Parts that sample the source before it is divided; none = the first attempt does. */
  surveys: readonly number[]
  /** As the ledger orders them: the last chunk, the rest, the other chunks. */
  parts: readonly PartCost[]
  /** The attempt that writes the manifests. */
  assembly: number
  /** Manifests and playlists that it writes. */
  manifests: number
}

/** As in transcoder/pipeline/division/jobRecords.ts. */
const RECORDS_AT_ONCE = 6
/** How long a new task waits for the end of the one before, as in transcoder/server/controlServer.ts. */
const HANDOVER_MS = 5000
const LOOK_MS = 20
const NO_OBJECTS: PartCost = { seconds: 0, objects: 0, videoSeconds: 0 }

export class MeasuredTranscoder {
  /** Milliseconds of work so far. */
  worked = 0
  heartbeats = 0
  readonly #service: Service
  readonly #api: TaskApi
  readonly #costs: TaskCosts
  #isBusy = false

  constructor(service: Service, costs: TaskCosts) {
    this.#service = service
    this.#api = new TaskApi(service)
    this.#costs = costs
  }

  /** `POST /run`. */
  async run(id: string, attempt: number, protocol: number): Promise<boolean> {
    const { clock, checker } = this.#service
    const until = clock.now + HANDOVER_MS
    while (this.#isBusy && clock.now < until) await clock.sleep(LOOK_MS)
    if (this.#isBusy || protocol !== TASK_PROTOCOL) return false
    this.#isBusy = true
    checker.runs(id, attempt, 1)
    clock.spawn(this.#live(id, attempt))
    return true
  }

  /** Nothing is cancelled, and nothing ends. */
  cancel(): void {}
  kill(): void {}
  freeze(): void {}
  stop(): void {}

  *#ask<T>(handle: (program: Program) => Promise<T | null>): Process<T> {
    const answer = yield* settled(this.#service.request(handle))
    if (answer === null) throw new Error('an attempt was refused though nothing fails')
    return answer
  }

  *#live(id: string, attempt: number): Process {
    const { clock, checker } = this.#service
    const began = clock.now
    const state = { isOver: false, share: 0 }
    yield this.#costs.start * 1000
    const told = yield* this.#ask((program) => this.#api.task(program, id, attempt, OLD_BUILD))
    clock.spawn(this.#beat(id, attempt, state, told.part === null ? HEARTBEAT_MS : PART_HEARTBEAT_MS))
    if (told.part !== null) yield* this.#makePart(id, attempt, told.part, state)
    else if (told.assemble !== null) yield* this.#assemble(id, attempt, told.assemble)
    else yield* this.#divide(id, attempt, told.surveyed)
    state.isOver = true
    this.worked += clock.now - began
    this.#isBusy = false
    checker.runs(id, attempt, -1)
  }

  *#beat(id: string, attempt: number, state: { isOver: boolean; share: number }, everyMs: number): Process {
    while (!state.isOver) {
      const post = { ...DONE, transcoded: state.share, bytes_stored: Math.floor(900 * state.share) }
      this.heartbeats++
      yield* settled(this.#service.request((program) => this.#api.progress(program, id, attempt, post)))
      yield everyMs
    }
  }

  *#divide(id: string, attempt: number, surveyed: number | null): Process {
    const { survey, surveys, parts } = this.#costs
    if (surveyed === null) yield survey * 1000
    else yield* this.#records(id, attempt, 0, surveyed)
    const isSurvey = surveyed === null && surveys.length > 0
    const division = { survey: isSurvey, parts: surveys.length + (isSurvey ? 0 : parts.length) }
    yield* this.#ask((program) => this.#api.divide(program, id, attempt, division))
  }

  *#makePart(id: string, attempt: number, part: number, state: { share: number }): Process {
    const surveys = this.#costs.surveys.length
    const { seconds, objects } =
      part < surveys
        ? { ...NO_OBJECTS, seconds: this.#costs.surveys[part]! }
        : (this.#costs.parts[part - surveys] ?? NO_OBJECTS)
    const stored: Promise<unknown>[] = []
    const names: string[] = []
    for (let n = 1; n <= objects; n++) {
      yield (seconds / objects) * 1000
      const path = `0-${part}-${attempt}/${n}`
      names.push(path)
      // Beside the encode, as in the product.
      stored.push(this.#service.request((program) => this.#api.putObject(program, id, attempt, path)))
      state.share = n / objects
    }
    if (objects === 0) yield seconds * 1000
    yield* settled(Promise.all(stored))
    const record = { part, attempt, tries: null, segments: [names], uploads: [] }
    // Refused where another task at the same chunk was first.
    yield* settled(this.#service.request((program) => this.#api.deliver(program, id, attempt, record, DONE)))
  }

  *#records(id: string, attempt: number, first: number, count: number): Process {
    for (let at = first; at < first + count; at += RECORDS_AT_ONCE) {
      const indexes = Array.from({ length: Math.min(RECORDS_AT_ONCE, first + count - at) }, (_, n) => at + n)
      const reading = indexes.map((index) =>
        this.#service.request((program) => this.#api.partRecord(program, id, attempt, index)),
      )
      const records = yield* settled(Promise.all(reading))
      if (records.some((record) => record === null || record === 'missing')) throw new Error('a record is missing')
    }
  }

  *#assemble(id: string, attempt: number, { first, parts }: { first: number; parts: number }): Process {
    yield* this.#records(id, attempt, first, parts)
    yield this.#costs.assembly * 1000
    const finish: FinishPost = {
      objects: [],
      written: Array.from({ length: this.#costs.manifests }, (_, n) => ({
        path: `manifest${n}.m3u8`,
        content_type: typeOf(id, attempt),
        profile: null,
        role: 'media' as const,
        stage: n === 0 ? (2 as const) : (1 as const),
        body: '',
      })),
      warnings: [],
      progress: DONE,
    }
    yield* this.#ask((program) => this.#api.finish(program, id, attempt, finish))
  }
}
