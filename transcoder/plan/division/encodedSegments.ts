// In charge of: the video of a job as segments, as chunks make it, also where the outputs are no segments.
// Not in charge of: where chunks begin (planDivision.ts), the outputs that are made of them (copyPlan.ts).
import { multiply, ratio, toNumber, type Rational } from '../../formats/rational.ts'
import type { PackagingPlan, Plan } from '../model/plan.ts'
import type { VideoPlan } from '../model/videoPlan.ts'

/** Of the segments of single files: short enough for one request each, also at high rates. */
const SEGMENT_SECONDS = 4
/** Chunks begin where GOPs of all files begin: if that is rarer, their number could not be chosen. */
const LONGEST_SECONDS = 30

/** Unchanged where the outputs are segments; without packaging where the GOPs of the files do not fit together. */
export function encodedSegments(plan: Plan): Plan {
  const { packaging, outputs } = plan
  const duration = packaging === null ? commonSegment(outputs.map(({ video }) => video)) : null
  if (duration === null) return plan
  const renditions = outputs.map(({ video, profile }, position): PackagingPlan['renditions'][number] => ({
    kind: 'video',
    id: `video_${position}`,
    directory: '',
    profile,
    video,
    audio: [],
    audioRenditions: [],
    forms: ['cmaf'],
    segmentFrames: Math.round((duration.num * video.frameRate.num) / (duration.den * video.frameRate.den)),
  }))
  const nothing = { hls: null, dash: false, smooth: null, tar: null, textTracks: false, thumbnails: null } as const
  const captions = { captionChannels: [], captionLanguages: {} }
  return {
    ...plan,
    outputs: [],
    packaging: {
      ...nothing,
      ...captions,
      directory: '',
      segmentDuration: duration,
      programStart: 0,
      isIntermediate: true,
      renditions,
    },
  }
}

/** Whole GOPs of every video; null = they begin together too seldom. */
function commonSegment(videos: readonly VideoPlan[]): Rational | null {
  const gops = videos.map(({ gopFrames, frameRate }) => ratio(gopFrames * frameRate.den, frameRate.num))
  const [first, ...others] = gops
  if (first === undefined) return null
  const common = others.reduce(commonMultiple, first)
  if (toNumber(common) > LONGEST_SECONDS) return null
  return multiply(common, { num: Math.max(1, Math.round(SEGMENT_SECONDS / toNumber(common))), den: 1 })
}

/** Of fractions in lowest terms. */
function commonMultiple(a: Rational, b: Rational): Rational {
  const quotient = ratio(a.num, b.num)
  return ratio(a.num * quotient.den, a.den / ratio(a.den, b.den).num)
}
