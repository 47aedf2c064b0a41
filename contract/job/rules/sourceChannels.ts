// In charge of: the rules between source_channels and other fields.
// Not in charge of: its notation (contract/job/sourceChannels.ts).
import type { Findings } from '../findings.ts'
import type { AudioProfileFields, JobDraft } from '../fields/request.ts'
import { parseSourceChannels } from '../sourceChannels.ts'

export function checkSourceChannels(
  profile: Partial<AudioProfileFields>,
  path: string,
  draft: JobDraft,
  findings: Findings,
): void {
  const { source_stream: own, source_channels: channels, audio_channels: layout } = profile
  if (channels === undefined) return
  const field = `${path}.source_channels`
  const named = parseSourceChannels(channels)
  const streams = named.map(({ stream }) => stream)
  if (own === undefined && streams.includes(null)) {
    const message = `${field} "${channels}" needs ${path}.source_stream, or a stream before each channel, like "1:3,1:4"`
    findings.problem('required', `${path}.source_stream`, message)
  }
  if (own !== undefined && !streams.includes(null) && !streams.includes(Number(own))) {
    const message = `${field} "${channels}" uses no channel of source_stream ${own}; leave source_stream out, or name one of the streams in it`
    findings.problem('conflict', `${path}.source_stream`, message)
  }
  if (layout === '6' && named.length < 6 && profile.primary_audio_downmix_to_stereo !== true) {
    const message = `${field} names ${named.length} of the 6 channels of audio_channels 6; name six (left, right, centre, LFE, left surround, right surround), or use audio_channels 2`
    findings.problem('conflict', field, message)
  }
  if ((draft.inputs ?? []).length > 1) {
    const message = `${field} cannot be combined with several inputs; join files that have the programme in one stream, or choose one with inputs[].source_streams`
    findings.problem('unsupported_combination', field, message)
  }
}
