// In charge of: the requests of one job to its store as named steps, and holding it at one of them.
// Not in charge of: what the store does (fakes/s3Server.ts), what is struck meanwhile (commitKills.ts).

/**
 * Where a step stands when the blow falls. lost: the request was sent and never has an effect; late: it has one, but only
 * after the job has ended; unanswered: it has had its effect, and nobody hears of it; answered: the answer has just left.
 */
export const PHASES = ['lost', 'late', 'unanswered', 'answered'] as const
export type Phase = (typeof PHASES)[number]

export interface GatePoint {
  step: string
  phase: Phase
}

/** What only looks has no effect that could be late or unheard of. */
export function phasesOfStep(step: string): readonly Phase[] {
  return /^(Head|Get|List)/.test(step) ? ['lost', 'answered'] : PHASES
}

const ATTEMPT = /(?<=\/|^)[\w-]{8,}-(\d+)(?=\/|$)/g

export class StoreGate {
  /** First element of all its keys. */
  readonly root: string
  /** Every step so far, in order: `CompleteMultipartUpload video.mp4`, `HeadObject video.mp4 #2`. */
  readonly seen: string[] = []
  readonly #point: GatePoint | null
  readonly #counts = new Map<string, number>()
  #isNext = false
  #isOpen: (() => boolean) | null = null
  #answer: () => void = () => undefined
  #take: (hasEffect: boolean) => void = () => undefined

  constructor(root: string, point: GatePoint | null) {
    this.root = root
    this.#point = point
  }

  /** The step has come, and whoever sent it still waits. */
  get isHeld(): boolean {
    return this.#isOpen?.() ?? false
  }

  get wasReached(): boolean {
    return this.#isOpen !== null
  }

  /** Of a step of this job: whether it waits for its effect. */
  hold(operation: string, path: string, isOpen: () => boolean): Promise<boolean> | null {
    const name = `${operation} ${path.replace(ATTEMPT, 'attempt-$1').replaceAll(this.root, 'job')}`
    const n = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, n)
    const step = n === 1 ? name : `${name} #${n}`
    this.seen.push(step)
    if (this.wasReached || step !== this.#point?.step) return null
    this.#isOpen = isOpen
    if (this.#point.phase === 'lost' || this.#point.phase === 'late')
      return new Promise((resolve) => (this.#take = resolve))
    this.#isNext = true
    return null
  }

  /** Right behind `hold`: whether its answer waits. */
  answer(): Promise<void> | null {
    if (!this.#isNext) return null
    this.#isNext = false
    return new Promise((resolve) => (this.#answer = resolve))
  }

  /** The blow is about to fall. */
  beforeKill(): void {
    if (this.#point?.phase === 'answered') this.#answer()
  }

  /** The job has ended. */
  releaseAll(): void {
    this.#take(this.#point?.phase === 'late')
    this.#answer()
  }
}
