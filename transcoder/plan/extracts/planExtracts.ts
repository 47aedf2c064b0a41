// In charge of: which frames become stills and the animated preview, at which size, and which audio becomes a waveform.
// Not in charge of: the arguments (argv/extractArgs.ts), making the files (transcoder/extracts).
import { HEIGHT, WIDTH, MAX_WAVEFORM_PIXELS, SAMPLES_PER_PIXEL } from '#contract/limits.ts'
import { previewPath, previewTypes, waveformPath, waveformTypes } from '#contract/job/paths/extractNames.ts'
import type { AnimatedPreviewSpec, JobSpec, VideoProfile, WaveformSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { multiply, ratio, toNumber, type Rational } from '../../formats/rational.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { PieceVideoPlan, FieldPlan, SourceVideo } from '#contract/task/plan/videoPlan.ts'
import type { AnimatedPreviewPlan, ExtractsPlan, WaveformPlan } from '#contract/task/plan/extractsPlan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import { PlanContext } from '../planContext.ts'
import { outputDuration } from '../streams/outputTiming.ts'
import { planGeometry, uprightSize } from '../video/geometry.ts'
import { planFields, type SourceFields } from '../video/interlacing.ts'
import { planStills } from './stills.ts'
import { unavailable } from './unavailableFormat.ts'
import { secondsOf, type FrameTimeline } from './timeline.ts'
import { wantsFrames } from './wantsFrames.ts'
import { missingAudio } from '../audio/missingAudio.ts'

/** The default of audiowaveform. */
const DEFAULT_SAMPLES_PER_PIXEL = 256

function planWaveform({ spec, media, timeline }: PlanContext): WaveformPlan | null {
  const { waveform } = spec
  if (waveform === null) return null
  const stream = media.audio.find(({ number }) => number === waveform.sourceStream)
  if (stream === undefined)
    throw missingAudio(media, waveform.sourceStream, 'waveform.source_stream', 'choose another one for the waveform')
  const seconds = outputDuration(media, [stream], timeline.startSeconds)
  const channels = waveform.splitChannels ? stream.channels : 1
  const samples = seconds === null ? null : seconds * stream.sampleRate
  const samplesPerPixel = resolution(waveform, stream.sampleRate, samples)
  const pixels = samples === null ? 0 : Math.ceil(samples / samplesPerPixel) * channels
  if (waveform.format !== 'png' && pixels > MAX_WAVEFORM_PIXELS && samples !== null)
    throw new TaskError(
      'unsupported_combination',
      `The waveform would have ${pixels} pixels; at most ${MAX_WAVEFORM_PIXELS} are possible: use samples_per_pixel ${Math.ceil((samples * channels) / MAX_WAVEFORM_PIXELS)} or more.`,
      {
        field: waveform.pixelsPerSecond === null ? 'waveform.samples_per_pixel' : 'waveform.pixels_per_second',
        details: { pixels, maximum: MAX_WAVEFORM_PIXELS },
      },
    )
  const { format, bits, width, height, backgroundColor, waveformColor } = waveform
  return {
    format,
    path: waveformPath(spec, waveform),
    contentType: waveformTypes[format],
    sourceStream: stream.number,
    sampleRate: stream.sampleRate,
    sourceChannels: stream.channels,
    channels,
    samplesPerPixel,
    bits,
    width,
    height,
    backgroundColor,
    waveformColor,
    durationSeconds: seconds,
  }
}

/** An image is drawn from finer peaks than it has columns. */
function resolution(
  { format, samplesPerPixel, pixelsPerSecond, width }: WaveformSpec,
  sampleRate: number,
  samples: number | null,
): number {
  if (format === 'png')
    return samples === null
      ? DEFAULT_SAMPLES_PER_PIXEL
      : Math.max(1, Math.min(SAMPLES_PER_PIXEL.maximum, Math.floor(samples / width / 8)))
  if (pixelsPerSecond !== null) return Math.max(2, Math.floor(sampleRate / pixelsPerSecond))
  return samplesPerPixel ?? DEFAULT_SAMPLES_PER_PIXEL
}

/** What is known about the frames of the source. */
export interface FoundFrames {
  video: VideoStream
  picture: SourceVideo
  rate: Rational
  scan: SourceFields & { fields: FieldPlan }
  cut: CutPlan | null
}

/** `found` null: the source has no video, which the caller has reported. Returns null if nothing is left to make. */
export function planExtracts(context: PlanContext, found: FoundFrames | null): ExtractsPlan | null {
  const { spec } = context
  const waveform = planWaveform(context)
  if (found === null || !wantsFrames(spec))
    return waveform === null ? null : { frames: null, stills: [], preview: null, waveform }
  const video = frameSource(context, found)
  const timeline = frameTimeline(context, found)
  const aspect = toNumber(multiply(video.sar, ratio(video.width, video.height)))
  const sizes = {
    aspect,
    native: {
      width: Math.max(video.width, video.height * aspect),
      height: Math.max(video.height, video.width / aspect),
    },
  }
  const stills = planStills(context, timeline, ({ width, height }) => stillSize(sizes, width, height))
  const preview = spec.animatedPreview === null ? null : planPreview(context, spec.animatedPreview, timeline, aspect)
  if (stills.length === 0 && preview === null && waveform === null) return null
  return {
    frames: {
      video,
      picture: found.picture,
      fields: found.scan.fields,
      cut: found.cut,
      offsetSeconds: context.timeline.offsets.frames,
      seekOriginSeconds: context.timeline.seekOriginSeconds,
      seekSeconds: SECONDS_PER_SEEK,
      separate: spec.video.length === 0,
    },
    stills,
    preview,
    waveform,
  }
}

/**
 * One seek costs about as much as decoding this much: a process, the header of the source, the frames from the key frame
 * before.
 */
const SECONDS_PER_SEEK = 8

/** The source at its own rate and size, one frame per frame, as all outputs of the job show it. */
function frameSource(context: PlanContext, { video, rate, scan }: FoundFrames): PieceVideoPlan {
  // Only sizes and fields are read. Their warnings belong to the video outputs.
  const spec: JobSpec = { ...context.spec, videoCodec: 'h264' }
  const silent = new PlanContext(spec, context, context.features)
  const geometry = planGeometry(NATIVE, spec, uprightSize(video)).value
  const fields = planFields(silent, NATIVE, { video, scan }, { geometry, untouched: false })
  return { ...geometry, ...fields, frameRate: rate, pictureRate: rate, color: BT709 }
}

/** Not read: images have colours of their own. */
const BT709 = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' } as const

const NATIVE: VideoProfile = {
  index: 0,
  rung: null,
  output: '',
  width: 0,
  height: 0,
  mode: 'vbr',
  bitrateKbps: 0,
  frameRateFactor: '1x',
  audioProfiles: [],
  progressive: true,
  copy: false,
}

function frameTimeline({ media, timeline }: PlanContext, { video, rate }: FoundFrames): FrameTimeline {
  const seconds = outputDuration(media, [video], timeline.startSeconds)
  const framesPerSecond = toNumber(rate)
  return {
    rate,
    framesPerSecond,
    seconds,
    frames: seconds === null ? null : Math.max(1, Math.ceil(seconds * framesPerSecond - 0.5)),
  }
}

interface NativeSize {
  aspect: number
  native: { width: number; height: number }
}

/** The largest size of the source's shape inside the limits that the job gives. */
function stillSize(source: NativeSize, width: number, height: number): { width: number; height: number } {
  const { aspect, native } = source
  const [w, h] = width === 0 && height === 0 ? [native.width, native.height] : [width, height]
  const fitted = Math.min(w || WIDTH.maximum, (h || HEIGHT.maximum) * aspect)
  return { width: Math.max(2, Math.round(fitted)), height: Math.max(2, Math.round(fitted / aspect)) }
}

function planPreview(
  context: PlanContext,
  wanted: AnimatedPreviewSpec,
  timeline: FrameTimeline,
  aspect: number,
): AnimatedPreviewPlan | null {
  const { spec, features } = context
  const { format } = wanted
  if (format === 'webp' && !features.webp) throw unavailable('animated_preview.format', format, ['mp4', 'gif'])
  if (format === 'gif' && !features.gif) throw unavailable('animated_preview.format', format, ['mp4'])
  const start = secondsOf(wanted.start, timeline, 'animated_preview.start_seconds')
  if (timeline.seconds === null || timeline.frames === null)
    throw new TaskError(
      'unsupported_combination',
      'An animated preview needs a source that states its length, and this one does not.',
      { field: 'animated_preview' },
    )
  if (start >= timeline.seconds)
    throw new TaskError(
      'cut_outside_source',
      `animated_preview.start_seconds is ${start} s, but the outputs last only ${Number(timeline.seconds.toFixed(3))} s.`,
      { field: 'animated_preview.start_seconds', details: { source_seconds: timeline.seconds } },
    )
  const even = (value: number) => Math.max(2, 2 * Math.round(value / 2))
  const framesPerSecond = Math.min(wanted.framesPerSecond, timeline.framesPerSecond)
  return {
    format,
    path: previewPath(spec, wanted),
    contentType: previewTypes[format],
    width: even(wanted.width),
    height: even(wanted.width / aspect),
    framesPerSecond,
    frames: previewFrames(
      wanted,
      { ...timeline, seconds: timeline.seconds, frames: timeline.frames },
      start,
      framesPerSecond,
    ),
  }
}

/** Each part is in the middle of one of as many equal stretches. A source that is shorter than the preview is one part. */
function previewFrames(
  { seconds, parts }: AnimatedPreviewSpec,
  timeline: FrameTimeline & { seconds: number; frames: number },
  start: number,
  framesPerSecond: number,
): number[] {
  const left = timeline.seconds - start
  const length = Math.min(seconds, left)
  const count = seconds >= left ? 1 : parts
  const perPart = Math.max(1, Math.round((length / count) * framesPerSecond))
  const stretch = left / count
  const found = new Set<number>()
  for (let part = 0; part < count; part++) {
    const begin = count === 1 ? start : start + stretch * part + (stretch - length / count) / 2
    for (let n = 0; n < perPart; n++) {
      const frame = Math.floor((begin + n / framesPerSecond) * timeline.framesPerSecond + 1e-6)
      if (frame < timeline.frames) found.add(frame)
    }
  }
  if (found.size === 0) found.add(timeline.frames - 1)
  return [...found].toSorted((a, b) => a - b)
}
