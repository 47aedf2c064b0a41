// In charge of: stills, animated preview and waveform in a dry run: what is made, estimated sizes, processor time.
// Not in charge of: the rest of the estimate (estimateJob.ts, costModel.ts).
import type { EstimateRange, PlannedFile } from '#contract/task/dryRunEstimate.ts'
import { toNumber } from '../../formats/rational.ts'
import { groupFrames } from '../extracts/groupFrames.ts'
import { distinctFrames } from '../argv/extractArgs.ts'
import type { AnimatedPreviewPlan, StillsPlan, WaveformPlan } from '#contract/task/plan/extractsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

/** CPU-seconds per million pixels: measured on a fractal zoom with ffmpeg 5.1.9 and rounded up. */
const IMAGE_SECONDS = { jpeg: 0.02, webp: 0.08, avif: 2.5 } as const
const PREVIEW_SECONDS = { mp4: 0.1, gif: 0.2, webp: 0.15 } as const
/** Starting ffmpeg and reading the header of the source. */
const SEEK_CPU_SECONDS = 0.3
/** Bytes per pixel at quality 90: guesses, from a flat image to noise. */
const IMAGE_BYTES = {
  jpeg: { low: 0.02, likely: 0.2, high: 1.5 },
  webp: { low: 0.01, likely: 0.12, high: 1 },
  avif: { low: 0.005, likely: 0.08, high: 1 },
} as const
const PREVIEW_BYTES = {
  mp4: { low: 0.002, likely: 0.02, high: 0.2 },
  gif: { low: 0.05, likely: 0.4, high: 1.2 },
  webp: { low: 0.005, likely: 0.06, high: 0.4 },
} as const
const HEADER_BYTES = 1000

export function extractReports({ extracts }: Plan): PlannedFile[] {
  const { stills = [], preview = null, waveform = null } = extracts ?? {}
  return [
    ...stills.flatMap(stillReports),
    ...(preview === null ? [] : [previewReport(preview)]),
    ...(waveform === null ? [] : [waveformReport(waveform)]),
  ]
}

const NO_MEDIA = { profile: null, video: null, audio: [] }

function stillReports({ index, format, contentType, width, height, images }: StillsPlan): PlannedFile[] {
  return images.map(({ path, frame }) => ({
    ...NO_MEDIA,
    path,
    content_type: contentType,
    description: [`Still of frame ${frame}, ${width} × ${height} (stills[${index}]).`],
    output_bytes: scaled(IMAGE_BYTES[format], width * height),
  }))
}

function previewReport(preview: AnimatedPreviewPlan): PlannedFile {
  const { format, path, contentType, width, height, frames, framesPerSecond } = preview
  const seconds = Number((frames.length / framesPerSecond).toFixed(3))
  return {
    ...NO_MEDIA,
    path,
    content_type: contentType,
    description: [
      `Animated preview of ${seconds} s, ${width} × ${height}, ${Number(framesPerSecond.toFixed(3))} frames per second.`,
    ],
    output_bytes: scaled(PREVIEW_BYTES[format], width * height * frames.length),
  }
}

function waveformReport(waveform: WaveformPlan): PlannedFile {
  const { format, path, contentType, sourceStream, channels, samplesPerPixel, bits, width, height } = waveform
  const shown =
    format === 'png' ? `${width} × ${height}` : `${samplesPerPixel} samples per pixel, ${bits} bits, version 2`
  return {
    ...NO_MEDIA,
    path,
    content_type: contentType,
    description: [
      `Waveform of source stream ${sourceStream} in ${channels === 1 ? 'one channel' : `${channels} channels`}, ${shown}.`,
    ],
    output_bytes: waveformBytes(waveform),
  }
}

function waveformBytes({
  format,
  durationSeconds,
  sampleRate,
  samplesPerPixel,
  channels,
  bits,
  ...image
}: WaveformPlan) {
  if (format === 'png') return scaled({ low: 0.002, likely: 0.03, high: 0.15 }, image.width * image.height)
  if (durationSeconds === null) return null
  const values = 2 * channels * Math.ceil((durationSeconds * sampleRate) / samplesPerPixel)
  if (format === 'dat') return exactly(24 + (values * bits) / 8)
  return scaled(bits === 8 ? { low: 2, likely: 3.5, high: 5 } : { low: 2, likely: 6, high: 7 }, values)
}

function exactly(bytes: number): EstimateRange {
  return { low: bytes, likely: bytes, high: bytes }
}

function scaled(share: EstimateRange, count: number): EstimateRange {
  const bytes = (end: keyof EstimateRange) => Math.round(share[end] * count) + HEADER_BYTES
  return { low: Math.round(share.low * count), likely: bytes('likely'), high: bytes('high') }
}

/** CPU-seconds of the files themselves, without reading the source. */
export function extractCpuSeconds({ extracts }: Plan): number {
  const { stills = [], preview = null } = extracts ?? {}
  const images = stills.reduce(
    (sum, { format, width, height, images: each }) =>
      sum + (IMAGE_SECONDS[format] * width * height * each.length) / 1e6,
    0,
  )
  const animated =
    preview === null
      ? 0
      : (PREVIEW_SECONDS[preview.format] * preview.width * preview.height * preview.frames.length) / 1e6
  return images + animated + seeks(extracts) * SEEK_CPU_SECONDS
}

/**
 * Seconds of the source that are decoded for frames of a job that makes no video; null = the job decodes all of it for
 * something else, or no frame is needed.
 */
export function seekedSeconds({ extracts, durationSeconds }: Plan): number | null {
  const frames = extracts?.frames ?? null
  if (frames === null || !frames.separate || frames.seekOriginSeconds === null || frames.seekSeconds === null)
    return null
  const rate = toNumber(frames.video.pictureRate)
  const ranges = frameRanges(extracts)
  const seconds = ranges.reduce((sum, { from, to }) => sum + (to - from + 1) / rate + (frames.seekSeconds ?? 0), 0)
  return durationSeconds === null ? seconds : Math.min(seconds, durationSeconds)
}

function seeks(extracts: Plan['extracts']): number {
  return extracts?.frames?.separate === true ? frameRanges(extracts).length : 0
}

function frameRanges(extracts: Plan['extracts']) {
  const frames = extracts?.frames
  if (extracts === null || frames == null || frames.seekSeconds === null) return []
  const wanted = [...extracts.stills.flatMap(distinctFrames), ...(extracts.preview?.frames ?? [])]
  return groupFrames(wanted, frames.seekSeconds * toNumber(frames.video.pictureRate))
}
