// In charge of: the requests of one job to its store as named steps, and holding the job at one of them.
// Not in charge of: what the store does (fakes/s3Server.ts), what is killed meanwhile (commitKills.ts).

/**
 * State of a step when the process is killed. lost: the request was sent and never takes effect; late: it takes effect,
 * but only after the job has ended; unanswered: it has taken effect, but the answer does not arrive; answered: the
 * answer was just sent.
 */
export const PHASES = ['lost', 'late', 'unanswered', 'answered'] as const
export type Phase = (typeof PHASES)[number]

export interface GatePoint {
  step: string
  phase: Phase
}

/** A step that only reads has no effect that could be late or unconfirmed. */
export function phasesOfStep(step: string): readonly Phase[] {
  return /^(Head|Get|List)/.test(step) ? ['lost', 'answered'] : PHASES
}

const ATTEMPT = /(?<=\/|^)[\w-]{8,}-(\d+)(?=\/|$)/g

export class StoreGate {
  /** First path segment of all its keys. */
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

  /** The step was reached, and its sender is still waiting. */
  get isHeld(): boolean {
    return this.#isOpen?.() ?? false
  }

  get wasReached(): boolean {
    return this.#isOpen !== null
  }

  /** Whether a step of this job has to wait before it takes effect. */
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

  /** Called after `hold`: whether the answer has to wait. */
  answer(): Promise<void> | null {
    if (!this.#isNext) return null
    this.#isNext = false
    return new Promise((resolve) => (this.#answer = resolve))
  }

  /** Called just before the kill. */
  beforeKill(): void {
    if (this.#point?.phase === 'answered') this.#answer()
  }

  /** The job has ended. */
  releaseAll(): void {
    this.#take(this.#point?.phase === 'late')
    this.#answer()
  }
}
