// In charge of: whether one of the source's audio streams can be copied into a job's outputs, and why not.
// Not in charge of: what a refusal leads to (settleCopies.ts).
import { AUDIO_CODECS, audioRules, type AudioCodec, type SegmentForm } from '#contract/codecs.ts'
import type { AudioProfile, JobSpec } from '#contract/job/jobSpec.ts'
import { fileContainerOf } from '../forms.ts'
import type { AudioStream } from '../model/mediaInfo.ts'

export type AudioVerdict =
  | { copies: true; codec: AudioCodec }
  | { copies: false; reason: string; details: Record<string, unknown> }

/** Codecs and fields of ffprobe have the same names. */
export function audioVerdict(spec: JobSpec, profile: AudioProfile, stream: AudioStream): AudioVerdict {
  const { packaging } = spec
  const refuse = (reason: string): AudioVerdict => ({ copies: false, reason, details: { codec: stream.codec } })
  if (spec.inputs !== null) return refuse(`the source is joined from ${spec.inputs.length} pieces`)
  if (stream.bursts !== undefined)
    return refuse(`source stream ${stream.number} is ${stream.codec} in bursts of data in ${stream.bursts.around}`)
  const codec = AUDIO_CODECS.find((each) => each === stream.codec)
  if (codec === undefined)
    return refuse(
      `the codec of source stream ${stream.number} is ${stream.codec}; ${AUDIO_CODECS.join(', ')} can be copied`,
    )
  const forms: SegmentForm[] = [
    ...(packaging?.hls === true || packaging?.dash === true ? (['cmaf'] as const) : []),
    ...(packaging?.smooth === true ? (['smooth'] as const) : []),
  ]
  const missing = forms.filter((form) => !audioRules(codec).segments.includes(form))
  if (missing.length > 0) return refuse(`${codec} cannot be carried in ${missing.join(' and ')} segments`)
  const file = fileContainerOf(spec)
  const isCarried = spec.video.some(({ audioProfiles }) => audioProfiles.includes(profile.index))
  if (isCarried && file !== null && !audioRules(codec).videoFiles.includes(file))
    return refuse(`${codec} cannot be carried in ${file} files`)
  return { copies: true, codec }
}
