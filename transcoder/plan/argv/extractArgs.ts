// In charge of: the filters and arguments that read stills, frames of the animated preview and samples of the waveform
// into pipes; and the plan of a run that reads only a part of the source.
// Not in charge of: which frames (plan/extracts), what is made of them (transcoder/extracts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { toNumber } from '../../formats/rational.ts'
import { extractPipes } from '../model/plannedPipes.ts'
import type { ExtractsPlan, StillsPlan, WaveformPlan } from '#contract/task/plan/extractsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import { audioCutFilters } from './cutArgs.ts'
import { alignFilter } from './filters.ts'
import type { Branch } from './filterGraph.ts'
import type { FrameRange } from '../extracts/groupFrames.ts'
import { JPEG, sampledFilters } from './thumbnailArgs.ts'

/** Files of the run that makes the outputs: without frames that are read in runs of their own. */
export function withMainExtracts(plan: Plan): Plan {
  const { extracts } = plan
  if (extracts?.frames?.separate !== true) return plan
  return { ...plan, extracts: { ...extracts, frames: null, stills: [], preview: null } }
}

/** A run that reads nothing but the frames `from` to `to` for some of the files. */
export function framesOnly(plan: Plan, part: Pick<ExtractsPlan, 'stills' | 'preview'>, range: FrameRange | null): Plan {
  const frames = plan.extracts?.frames
  if (frames == null) throw new TypeError('the plan has no frames')
  const { cut, shift } = range === null ? { cut: frames.cut, shift: 0 } : cutTo(frames, range)
  const inRange = (frame: number) => range === null || (frame >= range.from && frame <= range.to)
  return {
    ...plan,
    packaging: null,
    outputs: [],
    audioFiles: [],
    sourceAudio: [],
    subtitles: [],
    cues: null,
    cut,
    picture: frames.picture,
    fields: frames.fields,
    videoOffsetSeconds: frames.offsetSeconds,
    extracts: {
      frames: { ...frames, separate: false },
      stills: part.stills.map((still) => ({
        ...still,
        images: still.images
          .filter(({ frame }) => inRange(frame))
          .map(({ path, frame }) => ({ path, frame: frame - shift })),
      })),
      preview:
        part.preview === null
          ? null
          : { ...part.preview, frames: part.preview.frames.filter(inRange).map((frame) => frame - shift) },
      waveform: null,
    },
  }
}

/** A cut inside the job's own cut. */
function cutTo(
  { cut, video, seekOriginSeconds }: NonNullable<ExtractsPlan['frames']>,
  { from, to }: FrameRange,
): { cut: CutPlan; shift: number } {
  const rate = cut?.frames?.rate ?? video.pictureRate
  const before = cut?.frames?.start ?? 0
  const secondsOf = (frame: number) => frame / toNumber(rate)
  return {
    cut: {
      startSeconds: secondsOf(before + from),
      endSeconds: secondsOf(before + to + 1),
      frames: { rate, start: before + from, end: before + to + 1 },
      seekOriginSeconds,
      movesClock: false,
    },
    shift: from,
  }
}

/** Distinct frames of a still's images, in order. */
export function distinctFrames(still: Pick<StillsPlan, 'images'>): number[] {
  return [...new Set(still.images.map(({ frame }) => frame))]
}

export function extractBranches(plan: Plan): Branch[] {
  const { extracts } = plan
  if (extracts?.frames == null || extracts.frames.separate) return []
  const { video } = extracts.frames
  return [
    ...extracts.stills.map((still, element) => ({
      filters: [
        ...sampledFilters(plan, video, anyOf(distinctFrames(still)), still.width, still.height),
        ...STILL_PIXELS[still.format],
      ],
      label: `still${element}`,
    })),
    ...(extracts.preview === null
      ? []
      : [
          {
            filters: [
              ...sampledFilters(
                plan,
                video,
                anyOf(extracts.preview.frames),
                extracts.preview.width,
                extracts.preview.height,
              ),
              'format=rgb24',
            ],
            label: 'preview',
          },
        ]),
  ]
}

/** WebP is BT.601 in limited range. AVIF is made of a lossless image. */
const STILL_PIXELS: Readonly<Record<StillsPlan['format'], readonly string[]>> = {
  jpeg: JPEG,
  webp: ['scale=out_color_matrix=bt601:out_range=limited', 'format=yuv420p'],
  avif: ['format=rgb24'],
}

/** Runs of equal distances are one term each: a job may have a thousand stills. */
function anyOf(frames: readonly number[]): string {
  const terms: string[] = []
  for (let at = 0; at < frames.length;) {
    const first = frames[at]!
    const step = (frames[at + 1] ?? first) - first
    let end = at
    if (step > 0) while (frames[end + 1] === first + step * (end + 1 - at)) end += 1
    const last = frames[end]!
    if (end - at < 2) {
      terms.push(`eq(n\\,${first})`)
      at += 1
      continue
    }
    const inside = `between(n\\,${first}\\,${last})`
    terms.push(step === 1 ? inside : `${inside}*not(mod(n-${first}\\,${step}))`)
    at = end + 1
  }
  return terms.length === 0 ? '0' : sumOf(terms)
}

/** ffmpeg 5.1 parses no expression of more than 100 terms in a row (measured). */
const MAX_TERMS = 50

function sumOf(terms: readonly string[]): string {
  if (terms.length <= MAX_TERMS) return terms.join('+')
  const size = Math.ceil(terms.length / MAX_TERMS)
  const groups: string[] = []
  for (let at = 0; at < terms.length; at += size) groups.push(`(${sumOf(terms.slice(at, at + size))})`)
  return groups.join('+')
}

/** Whole samples of the source's own rate and channels, on the timeline of the outputs. */
export function waveformBranch(
  cut: Plan['cut'],
  { sampleRate }: WaveformPlan,
): { label: string; filters: () => string[] } {
  return {
    label: 'waveform',
    filters: () => [alignFilter(sampleRate), ...audioCutFilters(cut, sampleRate), 'aformat=sample_fmts=s16'],
  }
}

/** `targets`: one pipe for each of `extractPipes`. */
export function extractOutputs(plan: Plan, targets: readonly string[]): string[] {
  return extractPipes(plan).flatMap((pipe, index) => {
    const target = targets[index]
    if (target === undefined || !/^pipe:\d+$/.test(target)) throw new TypeError('every stream needs a pipe')
    switch (pipe.kind) {
      case 'still':
        return [...imageArgs(`still${pipe.element}`, pipe.still), target]
      case 'preview':
        return [...mapped('preview'), ...['-c:v', 'rawvideo', '-fps_mode', 'passthrough', '-f', 'rawvideo'], target]
      case 'waveform':
        return [
          ...mapped('waveform'),
          ...['-c:a', 'pcm_s16le', '-ac', `${pipe.waveform.sourceChannels}`, '-f', 's16le', target],
        ]
    }
  })
}

const mapped = (label: string) => ['-map', `[${label}]`, '-map_metadata', '-1', '-map_chapters', '-1']

/** Quality 1 to 100 in the scale of each encoder. */
function imageArgs(label: string, { format, quality }: StillsPlan): string[] {
  const encoders: Readonly<Record<StillsPlan['format'], string[]>> = {
    // mjpeg: 31 to 2.
    jpeg: ['-c:v', 'mjpeg', '-q:v', `${Math.round(31 - ((quality - 1) * 29) / 99)}`],
    webp: ['-c:v', 'libwebp', '-quality', `${quality}`, '-compression_level', '4'],
    avif: ['-c:v', 'png', '-pred', 'none', '-compression_level', '1'],
  }
  return [
    ...mapped(label),
    ...encoders[format],
    // Each frame once: the muxer's default is a constant rate.
    ...['-fps_mode', 'passthrough', '-fflags', '+bitexact', '-flags:v', '+bitexact', '-f', 'image2pipe'],
  ]
}
