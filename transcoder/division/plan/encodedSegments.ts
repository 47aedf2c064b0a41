// In charge of: the video of a job as chunks make it: segments, from which the outputs are copied.
// Not in charge of: where chunks begin (planDivision.ts), the outputs that are made of them (copyPlan.ts).
import { multiply, ratio, toNumber, type Rational } from '../../formats/rational.ts'
import type { PackagingPlan, RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/** Length of the segments of single files: each is small enough for one request, also at high rates. */
export const SEGMENT_SECONDS = 4
/** Chunks begin where GOPs of all files begin: if that is rarer, their number could not be chosen. */
const LONGEST_SECONDS = 30

/** Unchanged where the GOPs of single files do not fit together. `seconds`: about how long the segments of single files are. */
export function encodedSegments(plan: Plan, seconds = plan.division?.segmentSeconds ?? SEGMENT_SECONDS): Plan {
  if (plan.packaging?.isIntermediate === true) return plan
  const { packaging, outputs } = plan
  const duration =
    packaging?.segmentDuration ??
    commonSegment(
      outputs.map(({ video }) => video),
      seconds,
    )
  if (duration === null) return plan
  const renditions = packaging?.renditions.filter(({ kind }) => kind === 'video') ?? outputs.map(renditionOf)
  return {
    ...plan,
    outputs: [],
    packaging: {
      ...NOTHING,
      segmentDuration: duration,
      isIntermediate: true,
      renditions: renditions.map((rendition) => ({
        ...rendition,
        audio: [],
        audioRenditions: [],
        forms: ['cmaf'],
        segmentFrames: rendition.segmentFrames || framesIn(duration, rendition.video!),
      })),
    },
  }
}

const NOTHING: Omit<PackagingPlan, 'segmentDuration' | 'renditions'> = {
  directory: '',
  hls: null,
  dash: false,
  smooth: null,
  tar: null,
  textTracks: false,
  subtitles: [],
  captionChannels: [],
  captionLanguages: {},
  embedded: [],
  thumbnails: null,
  programStart: 0,
}

function renditionOf({ profile, video }: Plan['outputs'][number], position: number): RenditionPlan {
  const id = `video_${position}`
  return {
    kind: 'video',
    id,
    directory: '',
    profile,
    video,
    audio: [],
    audioRenditions: [],
    forms: [],
    segmentFrames: 0,
    segmentStarts: null,
  }
}

function framesIn({ num, den }: Rational, { frameRate }: VideoPlan): number {
  return Math.round((num * frameRate.num) / (den * frameRate.den))
}

/** Whole GOPs of every video; null = they begin together too seldom. */
function commonSegment(videos: readonly VideoPlan[], seconds: number): Rational | null {
  const gops = videos.map(({ gopFrames, frameRate }) => ratio(gopFrames * frameRate.den, frameRate.num))
  const [first, ...others] = gops
  if (first === undefined) return null
  const common = others.reduce(commonMultiple, first)
  if (toNumber(common) > LONGEST_SECONDS) return null
  return multiply(common, { num: Math.max(1, Math.round(seconds / toNumber(common))), den: 1 })
}

/** The least common multiple of two fractions in lowest terms. */
function commonMultiple(a: Rational, b: Rational): Rational {
  const quotient = ratio(a.num, b.num)
  return ratio(a.num * quotient.den, a.den / ratio(a.den, b.den).num)
}
