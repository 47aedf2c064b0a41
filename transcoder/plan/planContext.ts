// In charge of: what every decision about a task stands on (the job, the source, the engine), and the warnings that they give.
// Not in charge of: any decision.
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { EngineFeatures } from './model/engineFeatures.ts'
import type { MediaInfo } from './model/mediaInfo.ts'

/** For decisions that are also made outside of planning, where what they warn of has been said already. */
export interface Decision<T> {
  value: T
  warnings: Warning[]
}

/** One per plan. Decisions warn in the order in which they are made, and the plan lists the warnings in that order. */
export class PlanContext {
  readonly spec: JobSpec
  readonly media: MediaInfo
  readonly features: EngineFeatures
  readonly #warnings: Warning[]

  constructor(spec: JobSpec, media: MediaInfo, features: EngineFeatures, warnings: Warning[] = []) {
    this.spec = spec
    this.media = media
    this.features = features
    this.#warnings = warnings
  }

  get warnings(): readonly Warning[] {
    return this.#warnings
  }

  warn(...warnings: readonly Warning[]): void {
    this.#warnings.push(...warnings)
  }

  /** The value of a decision that the plan follows; its warnings become the plan's. */
  follow<T>({ value, warnings }: Decision<T>): T {
    this.warn(...warnings)
    return value
  }

  /** The same planning, of a job in which something has been settled. */
  withSpec(spec: JobSpec): PlanContext {
    return new PlanContext(spec, this.media, this.features, this.#warnings)
  }
}
