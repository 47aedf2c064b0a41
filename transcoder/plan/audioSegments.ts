// In charge of: segmented output without video: its audio renditions, and where their segments end.
// Not in charge of: segments with video (packagingPlan.ts), writing the arguments (argv/segmentArgs.ts), cutting
// (transcoder/segmenter).
import { audioRules, type SegmentForm } from '#contract/codecs.ts'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import { archiveBaseName } from '#contract/job/rules/segmentedOutput.ts'
import type { PackagingSpec } from '#contract/job/jobSpec.ts'
import { frameSamples } from '../formats/codecs.ts'
import { ratio } from '../formats/rational.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PackagingPlan, RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { PlanContext } from './planContext.ts'

/** A shorter difference from the requested length gives no warning: no codec has frames that fit every length. */
const TOLERANCE_SECONDS = 0.1

export function planAudioSegments(
  context: PlanContext,
  packaging: PackagingSpec,
  tracks: readonly AudioPlan[],
): PackagingPlan {
  const { spec } = context
  const hls = hlsForm(context, packaging, tracks)
  const forms: SegmentForm[] = [
    ...(packaging.dash || hls === 'cmaf' ? (['cmaf'] as const) : []),
    ...(hls === 'ts' ? (['ts'] as const) : []),
  ]
  const sampleRate = tracks[0]?.sampleRate ?? 48_000
  const samples = segmentSamples(context, packaging, tracks, sampleRate)
  return {
    directory: spec.outputDirectory,
    hls,
    dash: packaging.dash,
    smooth: null,
    segmentDuration: ratio(samples, sampleRate),
    tar: packaging.tar ? joinPath(spec.outputDirectory, `${archiveBaseName(spec)}.tar`) : null,
    textTracks: false,
    subtitles: [],
    captionChannels: [],
    captionLanguages: {},
    embedded: [],
    thumbnails: null,
    programStart: packaging.programStart,
    renditions: tracks.map((track): RenditionPlan => {
      const id = `audio_${track.profile}`
      return {
        kind: 'audio',
        id,
        directory: id,
        profile: track.profile,
        video: null,
        audio: [track],
        audioRenditions: [],
        forms,
        segmentFrames: samples,
        segmentStarts: null,
      }
    }),
  }
}

/** Transport streams where the job prefers them and every codec is carried in them alone. */
function hlsForm(context: PlanContext, packaging: PackagingSpec, tracks: readonly AudioPlan[]): PackagingPlan['hls'] {
  if (!packaging.hls) return null
  if (!packaging.preferTransportStream) return 'cmaf'
  const other = tracks.find(({ codec }) => !audioRules(codec).isSegmentedAlone)
  if (other === undefined) return 'ts'
  context.warn({
    code: 'segments_are_cmaf',
    field: 'output_container',
    message: `The segments are fragmented MP4 (CMAF), not transport streams: separate ${other.codec} is carried in these.`,
  })
  return 'cmaf'
}

/** Whole frames of every codec, so that all renditions have segments of exactly the same length. */
function segmentSamples(
  context: PlanContext,
  { segmentSeconds }: PackagingSpec,
  tracks: readonly AudioPlan[],
  sampleRate: number,
): number {
  const unit = tracks.map(({ codec }) => frameSamples[codec]).reduce(leastCommonMultiple, 1)
  const samples = Math.max(1, Math.round((segmentSeconds * sampleRate) / unit)) * unit
  const used = samples / sampleRate
  if (Math.abs(used - segmentSeconds) > TOLERANCE_SECONDS)
    context.warn({
      code: 'segment_length_snapped',
      field: 'segment_length',
      message: `Segments last ${shown(used)} s instead of ${shown(segmentSeconds)} s: whole audio frames of every rendition, each time ${shown(unit / sampleRate)} s.`,
    })
  return samples
}

function leastCommonMultiple(a: number, b: number): number {
  let [rest, divisor] = [a, b]
  while (divisor !== 0) [rest, divisor] = [divisor, rest % divisor]
  return (a / rest) * b
}

function shown(seconds: number): string {
  return String(Number(seconds.toFixed(3)))
}
