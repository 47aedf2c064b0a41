// In charge of: a size of 0 (the source's), checked once the source is known, by the rules that job creation applies to
// given sizes.
// Not in charge of: computing the size (geometry.ts), sizes that the request gives
// (contract/job/rules/combinations.ts).
import {
  fitsCodec,
  largestSizeText,
  maximumBitrateKbps,
  minimumBitrateKbps,
  tooHighMessage,
  tooLowMessage,
} from '#contract/job/rules/videoBitrates.ts'
import { HEIGHT, WIDTH } from '#contract/limits.ts'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'

/**
 * 2.1 width and height, section 8. `width` and `height` are the output's in pixels. Throws unsupported_combination
 * where the codec does not support the size, video_bitrate_too_low and video_bitrate_too_high.
 */
export function checkSourceSize(spec: JobSpec, profile: VideoProfile, width: number, height: number): void {
  if (profile.width > 0 && profile.height > 0) return
  const { videoCodec: codec } = spec
  const path = `videoProfiles[${profile.index}]`
  const size = { width, height }
  const field = profile.width === 0 ? `${path}.width` : `${path}.height`
  const refuse = (bounds: string) =>
    new TaskError(
      'unsupported_combination',
      `${codec} cannot have the source's ${width}x${height}; ${bounds}: give width and height.`,
      {
        field,
        details: size,
      },
    )
  if (width < WIDTH.minimum || height < HEIGHT.minimum)
    throw refuse(`the smallest is ${WIDTH.minimum}x${HEIGHT.minimum}`)
  if (!fitsCodec(codec, width, height)) throw refuse(`it goes up to ${largestSizeText(codec)}`)
  const minimum = minimumBitrateKbps(codec, width, height, profile.mode)
  const maximum = maximumBitrateKbps(codec, width, height)
  const details = { minimum, maximum, ...size }
  const bitrate = `${path}.video_bitrate`
  if (profile.bitrateKbps < minimum)
    throw new TaskError('video_bitrate_too_low', tooLowMessage(minimum), { field: bitrate, details })
  if (profile.bitrateKbps > maximum)
    throw new TaskError('video_bitrate_too_high', tooHighMessage(maximum), { field: bitrate, details })
}
