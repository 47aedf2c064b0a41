// In charge of: whether all streams together match the plan: the same boundaries, and the duration of the source.
// Not in charge of: single streams (segmentWriter.ts), ffmpeg's exit (pipeline/encode.ts).
import { requireExpectedDuration } from '../analysis/durationCheck.ts'
import { TaskError } from '#contract/taskError.ts'
import { frameTicks, nextBoundary, segmentsBefore, ticksOf, type Cadence } from './cutters/cutter.ts'
import { frameSamples } from '../formats/codecs.ts'
import { mixedStreams } from '../plan/model/channelMix.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../plan/model/mediaInfo.ts'
import { segmentForms } from '../plan/forms.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { outputDuration, requiredDuration } from '../plan/streams/outputTiming.ts'
import type { RecordedStream } from './segmentWriter.ts'

export interface RecordedRendition {
  rendition: RenditionPlan
  form: SegmentForm
  /** Below the packaging directory. */
  directory: string
  recorded: RecordedStream
  /** Ticks per second of its times. */
  timescale: number
  /** RFC 6381, video first. */
  codecs: string[]
  /** Hex, for Smooth. */
  codecPrivateData: string
  /** What precedes the first segment. For a range it is the video before it, otherwise nothing. */
  before: { segments: number; frames: number }
  /** Where each audio stream that is muxed with video ends, in ticks, in the order of the rendition's audio. */
  audioEnds: number[]
  /** Range of a constant bitrate: bytes by which it is too long for the next one (constantRateRange.ts). */
  overrun?: number
}

/** The rendition at whose boundaries all are cut: the first with video, or without video the first. */
export function leadingRendition(renditions: readonly RenditionPlan[]): RenditionPlan | undefined {
  return renditions.find(({ kind }) => kind === 'video') ?? renditions[0]
}

/** The rule for where the segments of a leading rendition end. */
export function cadenceFor(rendition: RenditionPlan): Cadence {
  const { video, segmentFrames, segmentStarts, audio } = rendition
  if (video === null) {
    const [track] = audio
    if (track === undefined || segmentFrames === 0)
      throw new TaskError('internal', 'An audio rendition has no video frames to cut at.')
    return { segmentFrames, spliceFrames: [], frameRate: { num: track.sampleRate, den: 1 } }
  }
  const starts = segmentStarts === null ? {} : { starts: segmentStarts }
  return { segmentFrames, spliceFrames: video.spliceFrames, frameRate: video.frameRate, ...starts }
}

/** Nothing precedes a stream that is encoded as a whole. */
export const FROM_THE_BEGINNING: RecordedRendition['before'] = { segments: 0, frames: 0 }

/** What precedes a range that begins with full segment `from` of the regular grid. */
export function beforeRange(rendition: RenditionPlan, from: number): RecordedRendition['before'] {
  const frames = from * rendition.segmentFrames
  return { segments: segmentsBefore(cadenceFor(rendition), frames), frames }
}

/**
 * Checks all renditions. `startSeconds`: the time in the source at which the outputs begin. Throws output_incomplete.
 */
export function requireCompleteSegments(
  plan: Pick<Plan, 'durationSeconds' | 'sourceAudio'>,
  all: readonly RecordedRendition[],
  source: MediaInfo,
  startSeconds: number,
): void {
  const leading = leadingRendition(all.map(({ rendition }) => rendition))
  const first = all.find(({ rendition }) => rendition === leading)
  const count = first === undefined ? 0 : segmentCount(first)
  for (const each of all) {
    const segments = segmentCount(each)
    const ownSeconds = streamDuration(each.rendition, source, startSeconds)
    // Audio that is known to last longer than the video continues after it, with the same segment length.
    const filled = Math.max(ownSeconds ?? 0, ...each.rendition.audio.map((track) => track.silenceUntilSeconds))
    const most = Math.max(count, leading === undefined ? 0 : segmentsIn(cadenceFor(leading), filled))
    const surplus = each.rendition.kind === 'video' ? segments !== count : segments > most
    if (segments === 0 || surplus)
      throw incompleteRendition(each, `has ${segments} segments where the first rendition has ${count}`)
    if (each.rendition.kind === 'video') requireAlignment(each)
    requireRenditionDuration(each, ownSeconds, source)
    requireSampleCount(each)
    requireMuxedAudio(each, source, startSeconds)
  }
  // If muxed audio lasts longer than the video, the segments have the duration of the video only.
  const known = all.every(({ rendition }) => streamDuration(rendition, source, startSeconds) !== null)
  if (known && all.some(({ rendition }) => rendition.kind === 'video' && rendition.audio.length > 0)) return
  const longest = all.toSorted((a, b) => renditionSeconds(b) - renditionSeconds(a))[0]
  const expected = requiredDuration(source, plan.sourceAudio, plan.durationSeconds, startSeconds)
  if (longest !== undefined) requireRenditionDuration(longest, expected, source)
}

/**
 * `to`: the full segment at which the range ends; null = the end of the video. Whether audio is as long is checked where
 * it is made. Throws output_incomplete.
 */
export function requireCompleteRange(
  to: number | null,
  all: readonly RecordedRendition[],
  source: MediaInfo,
  startSeconds: number,
): void {
  for (const each of all) {
    const { rendition, before, recorded } = each
    requireAlignment(each)
    if (to === null) {
      if (segmentCount(each) !== segmentCount(all[0]!) || recorded.segments.length === 0)
        throw incompleteRendition(
          each,
          `has ${segmentCount(each)} segments, and the first rendition has another number`,
        )
      requireRenditionDuration(each, streamDuration(rendition, source, startSeconds), source)
      continue
    }
    const end = beforeRange(rendition, to)
    const frames = recorded.segments.reduce((sum, segment) => sum + segment.frames, 0)
    if (frames !== end.frames - before.frames || segmentCount(each) !== end.segments)
      throw incompleteRendition(
        each,
        `has ${frames} frames from ${before.frames} on instead of those up to ${end.frames}`,
      )
  }
}

/** Including those before. */
export function segmentCount({ before, recorded }: RecordedRendition): number {
  return before.segments + recorded.segments.length
}

/** Segments of the same number must begin at the same time in all renditions, each computed from its own frame rate. */
function requireAlignment(each: RecordedRendition): void {
  const cadence = cadenceFor(each.rendition)
  const tolerance = frameTicks(cadence, each.timescale) / 2
  let { frames: frame } = each.before
  for (const [index, { start }] of each.recorded.segments.entries()) {
    if (Math.abs(start - ticksOf(frame, cadence, each.timescale)) > tolerance)
      throw incompleteRendition(
        each,
        `begins its segment ${each.before.segments + index + 1} at ${(start / each.timescale).toFixed(3)} s`,
      )
    frame = nextBoundary(cadence, frame)
  }
}

/** Packets that share one time, or overlap, make the samples of a track longer than it says. */
const SAMPLES_SECONDS = 0.5
const SAMPLES_SHARE = 0.01

/** The frames of encoded audio, all of which have the same length, must add up to what its segments declare. */
function requireSampleCount(each: RecordedRendition): void {
  const { rendition, recorded, timescale, form } = each
  const [track] = rendition.audio
  const frames = recorded.segments.reduce((sum, segment) => sum + segment.frames, 0)
  // Segments of transport streams do not count frames of audio.
  if (rendition.kind !== 'audio' || form === 'ts' || track === undefined || track.copied !== null || frames === 0)
    return
  const declared = recorded.segments.reduce((sum, { duration }) => sum + duration, 0) / timescale
  const held = (frames * frameSamples[track.codec]) / track.sampleRate
  if (Math.abs(held - declared) <= SAMPLES_SECONDS + declared * SAMPLES_SHARE) return
  throw incompleteRendition(each, `declares ${declared.toFixed(3)} s and holds ${held.toFixed(3)} s of audio`)
}

/** Muxed audio must be as long as its own stream of the source. */
function requireMuxedAudio(each: RecordedRendition, source: MediaInfo, startSeconds: number): void {
  const { rendition, audioEnds, timescale, form } = each
  // Fragmented MP4 has each audio stream in a rendition of its own.
  if (rendition.kind === 'audio' || !segmentForms[form].carriesAudio) return
  for (const [index, track] of rendition.audio.entries()) {
    const expected = longestOf(streamsOf(track, source), source, startSeconds)
    const path = `Sound ${index + 1} of ${rendition.id} (${form})`
    const measured = { durationSeconds: (audioEnds[index] ?? 0) / timescale }
    if (!(measured.durationSeconds > 0)) throw new TaskError('output_incomplete', `${path} is missing.`)
    requireExpectedDuration({ path, frameSeconds: 0 }, expected, measured, source)
  }
}

/** The number of segments for a duration in seconds. */
function segmentsIn(cadence: Cadence, seconds: number): number {
  const scale = 1e6
  let count = 0
  for (let frame = 0; ticksOf(frame, cadence, scale) < seconds * scale; frame = nextBoundary(cadence, frame)) count += 1
  return count
}

function requireRenditionDuration(each: RecordedRendition, expected: number | null, source: MediaInfo): void {
  const frameRate = each.rendition.video?.frameRate
  const frameSeconds = frameRate === undefined ? 0 : frameRate.den / frameRate.num
  const output = { path: `${each.rendition.id} (${each.form})`, frameSeconds }
  requireExpectedDuration(output, expected, { durationSeconds: renditionSeconds(each) }, source)
}

/** The time at which a rendition ends; 0 if it has no segments. */
export function renditionSeconds({ recorded, timescale }: RecordedRendition): number {
  const last = recorded.segments.at(-1)
  return last === undefined ? 0 : (last.start + last.duration) / timescale
}

/** Streams of one source may end at different times; null if this one does not state its duration. */
function streamDuration({ kind, audio }: RenditionPlan, source: MediaInfo, startSeconds: number): number | null {
  const streams =
    kind === 'video' ? [source.video ?? []].flat() : audio.slice(0, 1).flatMap((track) => streamsOf(track, source))
  return longestOf(streams, source, startSeconds)
}

function streamsOf(track: AudioPlan, source: MediaInfo): AudioStream[] {
  const numbers = mixedStreams(track)
  return source.audio.filter(({ number }) => numbers.includes(number))
}

function longestOf(
  streams: readonly (VideoStream | AudioStream)[],
  source: MediaInfo,
  startSeconds: number,
): number | null {
  const isKnown = streams.length > 0 && streams.every(({ durationSeconds }) => durationSeconds !== null)
  return isKnown ? outputDuration(source, streams, startSeconds) : null
}

function incompleteRendition(each: RecordedRendition, what: string): TaskError {
  return new TaskError('output_incomplete', `${each.rendition.id} (${each.form}) ${what}.`)
}
