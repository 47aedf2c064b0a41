// In charge of: whether the source's video can be copied into a job's outputs, and why not, with the numbers.
// Not in charge of: reading the packets (transcoder/analysis/surveyVideo.ts), what a refusal leads to (settleCopies.ts).
import { videoRules, type SegmentForm } from '#contract/codecs.ts'
import type { JobSpec, PackagingSpec } from '#contract/job/jobSpec.ts'
import { videoCodecOfSource, videoEncodings } from '../codecs.ts'
import { fileContainerOf } from '../forms.ts'
import type { MediaInfo, VideoStream } from '../model/mediaInfo.ts'
import type { SegmentStarts } from '#contract/task/plan/packagingPlan.ts'
import type { VideoSurvey } from '../model/videoSurvey.ts'
import type { Timeline } from '../planContext.ts'
import type { WantedPart } from '../streams/requestedPart.ts'
import { segmentGridRate } from '../video/frameRate.ts'
import { copiedStretch, type CopiedStretch } from './copiedStretch.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'

/** A share of a frame: rounding of the container. */
const ON_GRID = 0.1

/**
 * Key frames that a segment may begin with, with the number of frames of the part before each. `grid`: the lowest rate of
 * the encoded renditions, on which they must lie too; null = all renditions are copied.
 */
export function segmentCandidates(survey: VideoSurvey, part: CopiedStretch, grid: Rational | null): SegmentStarts {
  const { times, closedKeyFrames } = survey
  const open = openKeyFrames(survey)
  const found: SegmentStarts = { frames: [], seconds: [] }
  for (const [number, frame] of part.frames.entries()) {
    if (!closedKeyFrames.has(frame) || open.has(frame)) continue
    const seconds = Math.max(0, times[frame]! - part.startSeconds)
    const onGrid = grid === null ? 0 : seconds * toNumber(grid)
    if (Math.abs(onGrid - Math.round(onGrid)) > ON_GRID) continue
    found.frames.push(number)
    found.seconds.push(seconds)
  }
  return found
}

/** Key frames with frames after them that are shown before them. */
function openKeyFrames({ times, keyFrames }: VideoSurvey): Set<number> {
  const open = new Set<number>()
  for (const [at, frame] of keyFrames.entries()) {
    const end = keyFrames[at + 1] ?? times.length
    for (let next = frame + 1; next < end && !open.has(frame); next++) if (times[next]! < times[frame]!) open.add(frame)
  }
  return open
}

/** The candidates that are nearest to the wanted length, one after the other. The end counts as one of them. */
export function chooseStarts(candidates: SegmentStarts, wantedSeconds: number, endSeconds: number): SegmentStarts {
  const { frames } = candidates
  const seconds = [...candidates.seconds, endSeconds]
  const chosen: SegmentStarts = { frames: [], seconds: [] }
  let last = -Infinity
  for (let at = 0; at < frames.length;) {
    chosen.frames.push(frames[at]!)
    chosen.seconds.push(seconds[at]!)
    last = seconds[at]!
    let next = at + 1
    while (next < frames.length && distance(next + 1) <= distance(next)) next += 1
    at = next
  }
  return chosen

  function distance(at: number): number {
    return Math.abs(seconds[at]! - last - wantedSeconds)
  }
}

/** The duration of each segment in seconds. */
function segmentLengths({ seconds }: SegmentStarts, endSeconds: number): number[] {
  return seconds.map((start, at) => (seconds[at + 1] ?? endSeconds) - start)
}

export type VideoVerdict =
  | { copies: true; part: CopiedStretch; survey: VideoSurvey; starts: SegmentStarts | null; description: string }
  | { copies: false; reason: string; details: Record<string, unknown> }

/** Longer segments make players start and switch late. A longer segment_length raises the limit. */
const LONGEST_SEGMENT_SECONDS = 10
/** A fragment of Smooth Streaming is rewritten in memory (segmenter/cutters/refragmentingCutter.ts). */
const LARGEST_FRAGMENT_BYTES = 60 * 1024 * 1024
/** A list of key frames for the encoder is one argument of 128 KiB. */
const MOST_SEGMENTS = 10_000

/**
 * `media` without the cut, `part`: what the job wants of it, `rate`: of its timeline. null = no profile asks for a copy, or
 * there is no video.
 */
export function videoVerdict(
  spec: JobSpec,
  media: MediaInfo,
  part: WantedPart | null,
  rate: Timeline['rate'],
): VideoVerdict | null {
  const { video } = media
  if (video === null || rate === null || !spec.video.some(({ copy }) => copy)) return null
  const refuse = (reason: string, details: Record<string, unknown> = {}): VideoVerdict => ({
    copies: false,
    reason,
    details,
  })
  if (spec.inputs !== null) return refuse(`it is joined from ${spec.inputs.length} pieces`)
  const codec = videoCodecOfSource(video.codec)
  if (codec === null)
    return refuse(
      `its codec is ${video.codec}; ${Object.values(videoEncodings)
        .map(({ sourceCodec }) => sourceCodec)
        .join(', ')} can be copied`,
      { codec: video.codec },
    )
  const missing = formsOf(spec).filter((form) => !videoRules(codec).segments.includes(form))
  if (missing.length > 0)
    return refuse(`${video.codec} cannot be carried in ${missing.join(' and ')} segments`, { codec: video.codec })
  if (video.rotation !== 0 && fileContainerOf(spec) !== 'mp4')
    return refuse(`it must be rotated by ${video.rotation}° when it is shown, which only mp4 files can say`, {
      rotation: video.rotation,
    })
  const { survey } = video
  if (survey === undefined) return refuse('its packets could not be listed')
  if (survey.backwardsAt !== null)
    return refuse(`its timestamps go back at ${shown(survey.backwardsAt)} s`, { at_seconds: survey.backwardsAt })
  if (survey.parameterSets > 1 && fileContainerOf(spec) !== 'ts')
    return refuse(`its size or coding changes: it has ${survey.parameterSets} different sequence parameter sets`, {
      parameter_sets: survey.parameterSets,
    })
  const wanted = part ?? { startSeconds: 0, endSeconds: null }
  return spec.packaging === null
    ? fileVerdict(survey, wanted, refuse)
    : segmentedVerdict(spec, spec.packaging, { video, rate: rate.value }, survey, wanted, refuse)
}

type Refuse = (reason: string, details?: Record<string, unknown>) => VideoVerdict
type Wanted = Parameters<typeof copiedStretch>[1]

function fileVerdict(survey: VideoSurvey, wanted: Wanted, refuse: Refuse): VideoVerdict {
  const part = copiedStretch(survey, wanted)
  if (part === null) return refuse(`none of its ${survey.times.length} frames is a key frame`)
  return { copies: true, part, survey, starts: null, description: `${describeGops(survey, part)}.` }
}

function segmentedVerdict(
  spec: JobSpec,
  { segmentSeconds, smooth }: PackagingSpec,
  { video, rate }: { video: VideoStream; rate: Rational },
  survey: VideoSurvey,
  wanted: Wanted,
  refuse: Refuse,
): VideoVerdict {
  if (smooth && video.variableFrameRate)
    return refuse('its frame rate is variable, which Smooth Streaming does not allow')
  const open = openKeyFrames(survey)
  const isUsable = (frame: number): boolean => survey.closedKeyFrames.has(frame) && !open.has(frame)
  const part = copiedStretch(survey, wanted, isUsable)
  const counts = {
    key_frames: survey.keyFrames.length,
    closed_key_frames: survey.keyFrames.filter(isUsable).length,
    frames: survey.times.length,
  }
  if (part === null)
    return refuse(
      `segments must begin with closed GOPs (IDR), and none of its ${counts.key_frames} key frames begins one`,
      counts,
    )
  const grid = spec.video.every(({ copy }) => copy) ? null : segmentGridRate(spec, rate)
  const candidates = segmentCandidates(survey, part, grid)
  const length = (part.endSeconds ?? survey.endSeconds) - part.startSeconds
  const starts = chooseStarts(candidates, segmentSeconds, length)
  const lengths = segmentLengths(starts, length)
  const longest = lengths.reduce((most, seconds) => Math.max(most, seconds), 0)
  const limit = Math.max(LONGEST_SEGMENT_SECONDS, segmentSeconds)
  const gops = describeGops(survey, part)
  const numbers = {
    ...counts,
    segment_seconds: segmentSeconds,
    longest_segment_seconds: Number(longest.toFixed(3)),
    longest_allowed_seconds: limit,
  }
  if (longest > limit + 0.05) {
    const at = starts.seconds[lengths.indexOf(longest)]!
    const openText =
      counts.closed_key_frames < counts.key_frames
        ? ` (of its ${counts.key_frames} key frames, ${counts.closed_key_frames} begin a closed GOP)`
        : ''
    return refuse(
      `the segment at ${shown(at)} s would last ${shown(longest)} s, and segments may last ${shown(limit)} s at most: ${gops}${openText}`,
      numbers,
    )
  }
  if (starts.frames.length > MOST_SEGMENTS)
    return refuse(`it would have ${starts.frames.length} segments; ${MOST_SEGMENTS} are possible`, numbers)
  const largest = segmentSizes(survey, part, starts).reduce((most, bytes) => Math.max(most, bytes), 0)
  if (smooth && largest > LARGEST_FRAGMENT_BYTES)
    return refuse(
      `a fragment would have ${largest} bytes; Smooth Streaming can have ${LARGEST_FRAGMENT_BYTES} here`,
      numbers,
    )
  const description = `${gops}; ${starts.frames.length} segments of ${range(lengths)} s where ${shown(segmentSeconds)} s were asked for.`
  return { copies: true, part, survey, starts, description }
}

function segmentSizes({ sizes }: VideoSurvey, { frames }: CopiedStretch, starts: SegmentStarts): number[] {
  return starts.frames.map((first, at) =>
    frames.slice(first, starts.frames[at + 1]).reduce((sum, frame) => sum + sizes[frame]!, 0),
  )
}

function formsOf({ packaging }: JobSpec): SegmentForm[] {
  if (packaging === null) return []
  return [
    // HLS can have transport streams too, where CMAF is possible (packagingPlan.ts).
    ...(packaging.hls || packaging.dash ? (['cmaf'] as const) : []),
    ...(packaging.smooth ? (['smooth'] as const) : []),
  ]
}

function describeGops(survey: VideoSurvey, part: CopiedStretch): string {
  const { times, keyFrames, endSeconds } = survey
  const end = part.endSeconds ?? endSeconds
  const starts = keyFrames
    .map((frame) => times[frame]!)
    .filter((time) => time >= part.startSeconds - 0.002 && time < end)
  const lengths = starts.map((start, at) => (starts[at + 1] ?? end) - start)
  const open = openKeyFrames(survey).size
  const kind = open === 0 ? 'closed' : open === keyFrames.length ? 'open' : `${open} of them open`
  return lengths.length === 1
    ? `it has one GOP of ${shown(lengths[0]!)} s`
    : `it has ${lengths.length} GOPs of ${range(lengths)} s, ${kind}`
}

function range(values: readonly number[]): string {
  // Not by spreading: a day of single-frame GOPs would be too many arguments.
  const least = shown(values.reduce((lowest, value) => Math.min(lowest, value), Infinity))
  const most = shown(values.reduce((highest, value) => Math.max(highest, value), 0))
  return least === most ? least : `${least} to ${most}`
}

function shown(seconds: number): string {
  return String(Number(seconds.toFixed(3)))
}
