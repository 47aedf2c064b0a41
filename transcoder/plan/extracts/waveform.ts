// In charge of: the audio stream and the resolution of a waveform.
// Not in charge of: computing the peaks (transcoder/extracts), the formats (formats/waveform).
import { MAX_WAVEFORM_PIXELS, SAMPLES_PER_PIXEL } from '#contract/limits.ts'
import { waveformPath, waveformTypes } from '#contract/job/paths/extractNames.ts'
import type { WaveformSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { missingAudio } from '../audio/missingAudio.ts'
import type { WaveformPlan } from '#contract/task/plan/extractsPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { outputDuration, outputStartSeconds } from '../streams/outputTiming.ts'

/** The default of audiowaveform. */
const DEFAULT_SAMPLES_PER_PIXEL = 256

export function planWaveform({ spec, media }: PlanContext): WaveformPlan | null {
  const { waveform } = spec
  if (waveform === null) return null
  const stream = media.audio.find(({ number }) => number === waveform.sourceStream)
  if (stream === undefined)
    throw missingAudio(media, waveform.sourceStream, 'waveform.source_stream', 'choose another one for the waveform')
  const seconds = outputDuration(media, [stream], outputStartSeconds(spec, media))
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
