// In charge of: the ffmpeg for which a plan was made, and whether another ffmpeg can carry the plan out.
// Not in charge of: detecting features (ffmpeg/locate.ts), what follows if it cannot (pipeline/taskPlan.ts).
import type { EngineFeatures } from './model/engineFeatures.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

/** The parts of an engine that a plan depends on. */
interface PlanningEngine {
  version: string
  build: string
  features: EngineFeatures
}

export function withEngine(plan: Plan, { version, build, features }: PlanningEngine): Plan {
  return { ...plan, engine: { version, build, features: { ...features } } }
}

/**
 * Whether this ffmpeg makes the outputs that the plan describes: it needs every feature that the plan was made with. A
 * plan that was not stored yet has no engine: it was made for this one.
 */
export function fitsEngine({ engine }: Plan, features: EngineFeatures): boolean {
  if (engine === undefined) return true
  const { clockFromUsedStreams: clock, ...planned } = engine.features
  const present: Readonly<Record<string, boolean>> = { ...features }
  // The clock decides where the video begins in the source, so neither value includes the other.
  return (
    clock === features.clockFromUsedStreams && Object.keys(planned).every((name) => !planned[name] || present[name])
  )
}

/** The same plan with the arguments of this ffmpeg where they differ and the outputs do not. */
export function forEngine(plan: Plan, features: EngineFeatures): Plan {
  return { ...plan, hevcCaptionsOption: features.hevcCaptions }
}
