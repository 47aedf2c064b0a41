// In charge of: the plan of one part of a divided job.
// Not in charge of: how the job is divided (planDivision.ts), the frames of a range by number (plan/model/encodedRange.ts).
import type { DivisionPlan } from '#contract/task/plan/divisionPlan.ts'
import { intermediateTracks } from './copyPlan.ts'
import { encodedSegments } from './encodedSegments.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

/** What one part makes: a range of the video (EncodedRange), or everything else. `chunk`: its position in the video. */
export type PartPlan = { kind: 'chunk'; chunk: number; from: number; to: number | null } | { kind: 'rest' }

/**
 * The parts in the order of their index: the last chunk, the rest, chunk 0, chunk 1 and so on. The rest needs the number of
 * frames of the last chunk for the end of the audio.
 */
export function partsOf({ chunks }: DivisionPlan): PartPlan[] {
  const parts = chunks.map((from, chunk): PartPlan => ({ kind: 'chunk', chunk, from, to: chunks[chunk + 1] ?? null }))
  const last = parts.at(-1)
  return last === undefined ? [] : [last, { kind: 'rest' }, ...parts.slice(0, -1)]
}

/**
 * What a part does not make is left out; renditions keep their positions, and times and frames count in the whole
 * job, so that captions and splice points need no other clock.
 */
export function planOfPart(plan: Plan, part: PartPlan): Plan {
  const segmented = encodedSegments(plan)
  const { packaging } = segmented
  if (packaging === null) throw new TypeError('the video of this plan has no common segments')
  if (part.kind === 'rest') return planOfRest(plan)
  // The main task has reported the warnings of the plan.
  const { from, to } = part
  const rateFactors = plan.division?.rateFactors
  const range = { from, to, ...(rateFactors === undefined ? {} : { rateFactors }) }
  const common = { ...segmented, range, warnings: [] }
  return {
    ...common,
    packaging: { ...packaging, textTracks: false, subtitles: [], thumbnails: null },
    sourceAudio: [],
    disableDrc: false,
    audioFiles: [],
    sidecars: [],
    extracts: null,
  }
}

function planOfRest(plan: Plan): Plan {
  const audioFiles = [...plan.audioFiles, ...intermediateTracks(plan)]
  const common = { ...plan, range: null, warnings: [], burnIn: null, audioFiles }
  const { packaging } = plan
  // Captions are added when the files are made.
  if (packaging === null) return { ...common, outputs: [], sidecars: [] }
  const renditions = packaging.renditions.filter(({ kind }) => kind === 'video')
  return { ...common, packaging: { ...packaging, tar: null, renditions } }
}
