// In charge of: which audio streams an output carries, and how.
// Not in charge of: allowed codecs, channels and bitrates (checked when the job is created).
import type { AudioProfile, VideoProfile } from '#contract/job/jobSpec.ts'
import { audioEncodings } from '../codecs.ts'
import { copiedAudio } from '../copy/copiedStreams.ts'
import { planDialnorm } from './dialnorm.ts'
import { planChannelMix } from './downmix.ts'
import { planLoudness } from './loudnessGain.ts'
import type { AudioStream } from '../model/mediaInfo.ts'
import { missingProfileAudio, requestedAudio, warnHalfOfPair } from './sourceChannels.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { TaskError } from '#contract/taskError.ts'
import { silencePaddingUntil } from './silencePadding.ts'

/** ISO 639-2 as containers write it; "und" means undetermined. No other text of a source reaches the arguments. */
const LANGUAGE = /^[a-z]{3}$/

/**
 * The audio of one output. Throws as missingAudio says where the source lacks a stream that a profile selects.
 */
export function planAudioTracks(context: PlanContext, profile: VideoProfile): AudioPlan[] {
  const { spec } = context
  return profile.audioProfiles.flatMap((position) => {
    const audio = spec.audio.find((candidate) => candidate.index === position)
    const kind = spec.packaging === null ? 'file' : 'segments'
    const track = audio === undefined ? null : planTrack(context, audio, kind)
    return track === null ? [] : [track]
  })
}

/** null = the profile produces no audio. Throws as missingAudio says. */
export function planTrack(context: PlanContext, audio: AudioProfile, kind: 'segments' | 'file'): AudioPlan | null {
  const { spec, media } = context
  // 2.2 source_stream: required to produce audio. A profile without it has none.
  if (audio.sourceStream === null) return null
  requireEncoder(context, audio)
  const stream = requestedAudio(audio, media.audio)
  if (stream === null)
    throw missingProfileAudio(audio, media).error('set optional on the audio profile to make the outputs without it')
  requireDecoder(audio, stream)
  const language =
    stream.language !== null && LANGUAGE.test(stream.language) && stream.language !== 'und' ? stream.language : null
  if (audio.copy)
    return { ...copiedAudio({ ...audio, sourceStream: stream.number }, stream, language), ...purposeOf(audio, stream) }
  context.warn(...warnHalfOfPair(audio, stream, media.audio))
  const mix = context.follow(planChannelMix(audio, stream))
  const loudness = planLoudness(context, { stream, mix })
  const normalisedLufs = loudness === null ? null : spec.loudnessLufs
  return {
    profile: audio.index,
    codec: audio.codec,
    channels: audio.channels,
    bitrateKbps: audio.bitrateKbps,
    sampleRate: audio.sampleRate,
    sourceStream: audio.sourceStream,
    ...(stream.requestedStream === undefined ? {} : { requestedStream: stream.requestedStream }),
    language,
    ...purposeOf(audio, stream),
    mix,
    silenceUntilSeconds: silencePaddingUntil(context, stream, kind),
    volumePercent: spec.audioVolume,
    loudness,
    dialnorm: planDialnorm(context, audio, stream, { gainDb: 20 * Math.log10(spec.audioVolume / 100), normalisedLufs }),
    ...(audio.bitDepth === null ? {} : { bitDepth: audio.bitDepth }),
  }
}

function purposeOf(audio: AudioProfile, stream: AudioStream): Pick<AudioPlan, 'purpose'> {
  const purpose = audio.purpose ?? stream.purpose ?? 'main'
  // A copied stream would keep what the source says.
  const isPlain = purpose === 'main' && !(audio.copy && stream.purpose !== undefined)
  return isPlain ? {} : { purpose }
}

/** Throws unsupported_combination where this ffmpeg was built without the encoder. */
function requireEncoder({ features }: PlanContext, { codec, index }: AudioProfile): void {
  const { needs, encoder } = audioEncodings[codec]
  if (needs === null || features[needs]) return
  throw new TaskError(
    'unsupported_combination',
    `This transcoder cannot write ${codec}: its ffmpeg was built without ${encoder}.`,
    { field: `audioProfiles[${index}].audio_codec`, details: { encoder } },
  )
}

/** Throws engine_cannot_decode where the source is whole, but this ffmpeg would lose a part of its sound. */
function requireDecoder({ index, sourceStream }: AudioProfile, { codec, cannotDecode }: AudioStream): void {
  if (cannotDecode === undefined) return
  throw new TaskError(
    'engine_cannot_decode',
    `The transcoder cannot decode source_stream ${sourceStream} (${codec}): ${cannotDecode}. The source is not damaged. Install a newer ffmpeg on the transcoder, or leave the audio profile out.`,
    { field: `audioProfiles[${index}].source_stream`, details: { codec } },
  )
}
