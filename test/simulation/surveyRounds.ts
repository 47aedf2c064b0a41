// In charge of: the invariant of jobs whose source parts survey first (I20 of docs/reliability.md): each round of parts
// begins behind the whole of the round before it, works by what that found, ends once, and leaves nothing to the next.
// Not in charge of: what holds for all parts (invariants.ts).
import type { Change, Ledger } from './databaseModel.ts'
import { type JobShape, type Scenario, surveyPartsOf } from './scenario.ts'
import { ENDED, type SimulatedPlan, type Task } from './tables.ts'

/** What a part of a survey tells of itself. */
interface Surveyed {
  part: number
  attempt: number
  tries: string | null
}

/** What the second round tries follows from every record of the first. */
export function gainsOf(records: readonly (Surveyed | null)[]): string {
  return records.map((record) => (record === null ? 'none' : `${record.part}.${record.attempt}`)).join(' ')
}

interface Watch {
  readonly ledger: Pick<Ledger, 'find' | 'parts'>
  readonly scenario: Scenario
  isOver(id: string): boolean
  fault(task: string, invariant: string, what: string): void
}

export class SurveyRounds {
  readonly #watch: Watch
  /** How often each part ended. */
  readonly #ends = new Map<string, number>()

  constructor(watch: Watch) {
    this.#watch = watch
  }

  #shapeOf({ job }: Task): JobShape {
    return this.#watch.scenario.jobs[job - 1]!
  }

  #fault(id: string, what: string): void {
    this.#watch.fault(id, 'I20', what)
  }

  /** How many parts the job has in each round, with those before it; in the last one they make the outputs. */
  #roundsOf(task: Task): number[] {
    const shape = this.#shapeOf(task)
    const surveys = Array.from({ length: shape.surveys === 0 ? 0 : shape.rounds }, (_, n) => (n + 1) * shape.surveys)
    return [...surveys, surveyPartsOf(shape) + shape.parts]
  }

  /** A main task was divided. */
  divided(before: Task, after: Task): void {
    const { id } = after
    const rounds = this.#roundsOf(after)
    const round = rounds.indexOf(after.parts)
    if (before.parts !== (rounds[round - 1] ?? 0)) this.#fault(id, `${before.parts} parts become ${after.parts}`)
    const earlier = this.#watch.ledger.parts.partsOf(id).filter(({ part }) => part! < before.parts)
    if (earlier.length !== before.parts || earlier.some(({ state }) => state !== 'completed'))
      this.#fault(id, `round ${round + 1} begins, and an earlier one has not ended`)
    const surveys = Math.min(after.parts, surveyPartsOf(this.#shapeOf(after)))
    if (after.survey_parts !== surveys)
      this.#fault(id, `${after.survey_parts} parts survey the source instead of ${surveys}`)
  }

  /** A part was changed. */
  changed({ before, after, event }: Change): void {
    const { id, main, part } = after
    if (!ENDED.includes(before.state) && ENDED.includes(after.state)) {
      const ends = (this.#ends.get(id) ?? 0) + 1
      this.#ends.set(id, ends)
      if (ends > 1) this.#fault(id, `it ends ${ends} times`)
    }
    if (event.type !== 'claim' && event.type !== 'delivered') return
    const whole = this.#watch.ledger.find(main!)
    const own = this.#roundsOf(after).find((parts) => part! < parts)
    if (whole.state === 'divided' && own !== whole.parts)
      this.#fault(id, `${event.type} of a part of the first ${own}, while the job has ${whole.parts}`)
  }

  /** An attempt at a part has been told the plan. */
  begins(id: string, attempt: number, plan: SimulatedPlan | null): void {
    const task = this.#watch.ledger.find(id)
    // An answer that was long on its way: another attempt may have followed.
    if (task.state !== 'running' || task.attempt !== attempt || this.#watch.isOver(task.main!)) return
    const { surveys } = this.#shapeOf(task)
    const isSecond = task.part! >= surveys && task.part! < surveyPartsOf(this.#shapeOf(task))
    if (plan === null || (plan.tries !== null) !== isSecond)
      this.#fault(id, `its plan says that the second round tries ${plan?.tries ?? 'nothing'}`)
  }

  /** An attempt behind a survey has read the records of all its parts. */
  read(id: string, attempt: number, records: readonly (Surveyed | null)[]): void {
    const task = this.#watch.ledger.find(id)
    // The records are removed with the job; behind an answer that was long on its way, another attempt may have divided it.
    if (task.state !== 'running' || task.attempt !== attempt) return
    const { surveys } = this.#shapeOf(task)
    if (records.length !== task.parts) this.#fault(id, `it reads ${records.length} records of ${task.parts}`)
    const tries = gainsOf(records.slice(0, surveys))
    for (const [part, record] of records.entries()) {
      const expected = part < surveys ? null : tries
      if (record?.tries !== expected)
        this.#fault(id, `part ${part} tried ${record?.tries ?? 'nothing'}, and the first round says ${expected}`)
    }
  }

  /** `task`: a main task, long after its end. */
  atRest(task: Task): void {
    const parts = this.#watch.ledger.parts.partsOf(task.id)
    const rounds = [0, ...(this.#shapeOf(task).parts === 0 ? [] : this.#roundsOf(task))]
    const wanted = task.state === 'completed' ? rounds.slice(-1) : rounds
    if (!wanted.includes(parts.length))
      this.#fault(task.id, `${parts.length} parts are there, of ${wanted.join(' or ')}`)
    for (const { id } of parts)
      if (this.#ends.get(id) !== 1) this.#fault(id, `it has ended ${this.#ends.get(id) ?? 0} times`)
  }
}
