// In charge of: the input of every decision about a task (the job, the source, the engine), and the warnings that
// decisions give.
// Not in charge of: any decision.
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { EngineFeatures } from './model/engineFeatures.ts'
import type { MediaInfo } from './model/mediaInfo.ts'

/** The result of a decision that is also made outside of planning, where its warnings have already been given. */
export interface Decision<T> {
  value: T
  warnings: Warning[]
}

/** One per plan. Decisions add warnings in the order in which they are made, and the plan lists them in that order. */
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

  /** Returns the value of a decision that the plan follows, and adds its warnings to the plan's. */
  follow<T>({ value, warnings }: Decision<T>): T {
    this.warn(...warnings)
    return value
  }

  /** The same context for a part of the source's streams. */
  withMedia(media: MediaInfo): PlanContext {
    return new PlanContext(this.spec, media, this.features, this.#warnings)
  }

  /** The same context for a job in which some choices have been made. */
  withSpec(spec: JobSpec): PlanContext {
    return new PlanContext(spec, this.media, this.features, this.#warnings)
  }
}
