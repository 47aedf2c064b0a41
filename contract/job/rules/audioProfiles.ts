// In charge of: rules between the fields of one audio profile, and warnings about those without effect.
// Not in charge of: single fields (fields/), the outputs that carry the codec (combinations.ts).
import { hasVideo } from '../jobConfig.ts'
import { AUDIO_CODECS, audioCodecOf, audioFileOf, audioRules, type AudioCodec } from '../../codecs.ts'
import { containerRules, hasHls, isSegmented } from '../../containers.ts'
import type { Findings } from '../findings.ts'
import type { AudioProfileFields, JobDraft } from '../fields/request.ts'
import { primaryStream, parseSourceChannels } from '../sourceChannels.ts'
import { allowedAudioBitrates, effectiveChannels } from './audioBitrates.ts'
import { requestsAudioCopy } from './copy.ts'

function checkSourceChannels(
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

const SAMPLE_RATE = 48_000

type Draft = Partial<AudioProfileFields>

/** Decision "audio legality": checks the effective channels; the message lists the allowed bitrates. */
export function checkAudio(profile: Draft, path: string, draft: JobDraft, findings: Findings): void {
  const { audio_channels: layout } = profile
  // 2.2 source_stream: "Required for audio to be produced."
  if (primaryStream(profile) === undefined && profile.source_channels === undefined) {
    const message = `${path} has no source_stream, so it produces no audio; set source_stream to the number of an audio stream of the source, counted from 1`
    findings.warn('audio_without_source_stream', `${path}.source_stream`, message)
  }
  checkSourceChannels(profile, path, draft, findings)
  warnPurpose(profile, path, draft, findings)
  // copy.ts checks a copied stream. Its channels and its bitrate are those of the source.
  if (profile.audio_codec === undefined || (requestsAudioCopy(profile) && draft.copy_if_possible !== true)) return
  const codec = audioCodecOf(profile.audio_codec)
  checkFile(profile, codec, path, draft, findings)
  checkSamples(profile, codec, path, draft, findings)
  if (profile.dolby_digital_dialnorm && !audioRules(codec).hasDialnorm) {
    const carriers = AUDIO_CODECS.filter((each) => audioRules(each).hasDialnorm).join(' and ')
    const message = `has no effect with ${codec}; only ${carriers} carry a dialogue level`
    findings.warn('no_effect', `${path}.dolby_digital_dialnorm`, `${path}.dolby_digital_dialnorm ${message}`)
  }
  if (layout === undefined) return
  const channels = effectiveChannels(layout, profile.primary_audio_downmix_to_stereo)
  for (const name of ['downmix', 'downmix_lfe'] as const)
    if (channels === 6 && profile[name] !== undefined) {
      const field = `${path}.${name}`
      findings.warn('no_effect', field, `${field} has no effect with 6 channels; only stereo is a downmix`)
    }
  checkBitrate(profile, codec, channels, { path, findings })
}

function checkBitrate(
  { audio_bitrate: bitrate }: Draft,
  codec: AudioCodec,
  channels: 2 | 6,
  { path, findings }: { path: string; findings: Findings },
): void {
  const allowed = allowedAudioBitrates(codec, channels)
  const field = `${path}.audio_bitrate`
  if (allowed === null) {
    if (bitrate !== undefined)
      findings.warn('no_effect', field, `${field} has no effect with ${codec}, which keeps every sample`)
    return
  }
  if (allowed.length === 0) {
    const able = AUDIO_CODECS.filter((each) => allowedAudioBitrates(each, channels)?.length !== 0)
    findings.problem(
      'unsupported_combination',
      `${path}.audio_channels`,
      `${codec} cannot carry ${channels} channels; use 2, or ${able.join(' or ')}`,
      { allowed: ['2'] },
    )
    return
  }
  if (bitrate === undefined) return
  const advised = audioRules(codec).surroundAdvisedKbps
  const kbps = Number(bitrate)
  if (!allowed.includes(kbps)) {
    const message = `audio_bitrate ${kbps} is not available for ${codec} with ${channels} channels; use one of ${allowed.join(', ')}`
    findings.problem('audio_bitrate_not_allowed', field, message, { allowed })
  } else if (advised !== null && channels === 6 && kbps < advised) {
    const message = `${field} ${kbps} is low for ${codec} with 6 channels; ${advised} or more is advised`
    findings.warn('audio_bitrate_low', field, message)
  }
}

/** audio_container: of the file that contains this audio alone. */
function checkFile(profile: Draft, codec: AudioCodec, path: string, draft: JobDraft, findings: Findings): void {
  const { audio_container: container } = profile
  if (container === undefined) return
  const field = `${path}.audio_container`
  if (audioFileOf(codec, container).container !== container) {
    const allowed = audioRules(codec).files.map((file) => file.container)
    const message = `audio_container ${container} does not fit audio_codec ${codec}; use ${allowed.join(' or ')}`
    findings.problem('unsupported_combination', field, message, { allowed })
  } else if (!draft.audio_output_path && (hasVideo(draft) || isSegmented(draft)))
    findings.warn(
      'no_effect',
      field,
      `${field} has no effect: without audio_output_path, this audio has no file of its own`,
    )
}

/** What cannot be signalled in the outputs. In HLS at least the name says it. */
function warnPurpose(profile: Draft, path: string, draft: JobDraft, findings: Findings): void {
  const { purpose = 'main', audio_codec: codec = 'aac' } = profile
  const isManifest = hasHls(draft) || draft.segmented_output_dash === true
  if (purpose === 'main' || isManifest) return
  const file = hasVideo(draft) ? containerRules(draft.output_container)?.file : codec === 'aac' ? 'mp4' : null
  const lacks = isSegmented(draft) || file == null ? true : NOT_SIGNALLED[file].includes(purpose)
  if (!lacks) return
  const field = `${path}.purpose`
  findings.warn('no_effect', field, `${field} has no effect: the outputs have no place for ${purpose}`)
}

const NOT_SIGNALLED: Readonly<Record<'mp4' | 'ts', readonly string[]>> = {
  mp4: ['clean_effects'],
  ts: ['commentary', 'dub'],
}

/** audio_sample_rate and audio_bit_depth. */
function checkSamples(profile: Draft, codec: AudioCodec, path: string, draft: JobDraft, findings: Findings): void {
  const { audio_sample_rate: rate, audio_bit_depth: depth } = profile
  const { sampleRates, bitDepths } = audioRules(codec)
  if (depth !== undefined && bitDepths.length === 0) {
    const field = `${path}.audio_bit_depth`
    const able = AUDIO_CODECS.filter((each) => audioRules(each).bitDepths.length > 0)
    findings.warn('no_effect', field, `${field} has no effect with ${codec}; only ${able.join(' and ')} have one`)
  }
  if (rate === undefined || Number(rate) === SAMPLE_RATE) return
  const field = `${path}.audio_sample_rate`
  const isFile = !hasVideo(draft) && !isSegmented(draft)
  const allowed = isFile ? sampleRates : [SAMPLE_RATE]
  if (allowed.includes(Number(rate))) return
  const why = isFile ? `for ${codec}` : 'with video or in segments'
  findings.problem(
    'unsupported_combination',
    field,
    `audio_sample_rate ${rate} is not available ${why}; use ${allowed.join(' or ')}`,
    { allowed: allowed.map(String) },
  )
}
