// In charge of: the input of every decision about a task (the job, the source, its timeline, the engine), and the warnings
// that decisions give.
// Not in charge of: any decision.
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { EngineFeatures } from './model/engineFeatures.ts'
import type { MediaInfo } from './model/mediaInfo.ts'
import type { Rational } from '../formats/rational.ts'

/** The result of a decision that is also made outside of planning, where its warnings have already been given. */
export interface Decision<T> {
  value: T
  warnings: Warning[]
}

/** The clock of a source, as a job uses it. Made once for each (streams/outputTiming.ts), and handed on. */
export interface Timeline {
  /** Seconds on the source's clock at which the outputs begin: the same in every version of ffmpeg. */
  startSeconds: number
  /** Frames per second of the source as the outputs use it, before detelecining; null = it has no video. */
  rate: Decision<Rational> | null
  /**
   * Seconds to subtract from ffmpeg's own clock so that it is 0 where the outputs begin, in a run that uses all streams of
   * the job, its video alone, or all but its video.
   */
  offsets: { all: number; frames: number; sound: number }
  /** The first frame of the outputs without a cut, on ffmpeg's clock; null = the source has no index. */
  seekOriginSeconds: number | null
}

/** One per plan. Decisions add warnings in the order in which they are made, and the plan lists them in that order. */
export class PlanContext {
  readonly spec: JobSpec
  readonly media: MediaInfo
  readonly timeline: Timeline
  readonly features: EngineFeatures
  readonly #warnings: Warning[]

  constructor(
    spec: JobSpec,
    { media, timeline }: Pick<PlanContext, 'media' | 'timeline'>,
    features: EngineFeatures,
    warnings: Warning[] = [],
  ) {
    this.spec = spec
    this.media = media
    this.timeline = timeline
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
  withMedia(source: Pick<PlanContext, 'media' | 'timeline'>): PlanContext {
    return new PlanContext(this.spec, source, this.features, this.#warnings)
  }

  /** The same context for a job in which some choices have been made. */
  withSpec(spec: JobSpec, timeline: Timeline): PlanContext {
    return new PlanContext(spec, { media: this.media, timeline }, this.features, this.#warnings)
  }
}
