// In charge of: which audio streams an output carries, and how.
// Not in charge of: allowed codecs, channels and bitrates (checked when the job is created).
import type { AudioProfile, VideoProfile } from '#contract/job/jobSpec.ts'
import { audioEncodings } from '../codecs.ts'
import { copiedAudio } from '../copy/copiedStreams.ts'
import { planChannelMix } from './downmix.ts'
import { planLoudness } from './loudnessGain.ts'
import type { AudioStream } from '../model/mediaInfo.ts'
import { missingProfileAudio, requestedAudio, warnHalfOfPair } from './sourceChannels.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { TaskError } from '#contract/taskError.ts'
import { audioCodecs } from '#contract/codecs.ts'
import { toNumber } from '../../formats/rational.ts'
import { outputDuration, usedAudioStreams } from '../streams/outputTiming.ts'

/**
 * A track that ends before the outputs begin still gets one packet of silence: without a packet ffmpeg 5 leaves the
 * track out, and ffmpeg 7 ends with SIGABRT.
 */
const ONE_PACKET_SECONDS = 0.032

/** Without video, renditions of several streams of the source are as long as the longest. */
function longestAudio({ spec, media }: PlanContext, begin: number): number {
  const numbers = usedAudioStreams(spec)
  const used = media.audio.filter(({ number }) => numbers.includes(number))
  const ends = used.map((stream) => (stream.durationSeconds === null ? null : outputDuration(media, [stream], begin)))
  const known = ends.filter((end) => end !== null)
  return used.length < 2 || known.length < ends.length ? 0 : Math.floor(Math.max(...known) * 1000) / 1000
}

/** The least duration of the track in seconds; 0 = no padding. */
function silencePaddingUntil(context: PlanContext, stream: AudioStream, kind: 'segments' | 'file'): number {
  const { media, timeline } = context
  const { video } = media
  const { startSeconds: begin, rate } = timeline
  if (video === null || rate === null) return kind === 'segments' ? longestAudio(context, begin) : 0
  const videoEnd = outputDuration(media, [video], begin)
  const end = stream.durationSeconds === null ? null : outputDuration(media, [stream], begin)
  const endsBeforeStart = end === 0
  if (endsBeforeStart)
    context.warn({
      code: 'audio_ends_before_video',
      message: `Audio stream ${stream.number} of the source ends before the first frame of video: its track is silent in the outputs.`,
    })
  const least = end === null || endsBeforeStart ? ONE_PACKET_SECONDS : 0
  if (videoEnd === null || !(endsBeforeStart || kind === 'segments')) return least
  // Less a frame: durations are rounded, and audio longer than the video would add a segment.
  return Math.max(least, Math.floor((videoEnd - 1 / toNumber(rate.value)) * 1000) / 1000)
}

const QUIETEST = 31
const LOUDEST = 1

/**
 * 1 to 31 for ac3, null for codecs without this field. 2.2 dolby_digital_dialnorm: 0 = passthrough, so audio that was
 * made n dB louder has dialogue n dB higher. `gainDb` is −Infinity for silence, which has no dialogue. After loudness
 * normalisation the dialogue level is the target loudness.
 */
function planDialnorm(
  context: PlanContext,
  profile: AudioProfile,
  stream: AudioStream,
  { gainDb, normalisedLufs }: { gainDb: number; normalisedLufs: number | null },
): number | null {
  if (!audioCodecs[profile.codec].hasDialnorm) return null
  if (profile.dialnorm > 0) return profile.dialnorm
  const field = `audioProfiles[${profile.index}].dolby_digital_dialnorm`
  if (normalisedLufs !== null) {
    const wanted = Math.round(-normalisedLufs)
    const nearest = Math.min(QUIETEST, Math.max(LOUDEST, wanted))
    if (nearest !== wanted)
      context.warn({
        code: 'dialnorm_clamped',
        field,
        message: `A loudness of ${normalisedLufs} LUFS is a dialogue level of ${wanted}; ${nearest} is used, the nearest that AC-3 can state.`,
      })
    return nearest
  }
  if (stream.dialnorm === null) {
    context.warn({
      code: 'dialnorm_not_in_source',
      field,
      message: `Audio stream ${stream.number} of the source (${stream.codec}) states no dialogue level; 31 (−31 dB, no attenuation) is used.`,
    })
    return QUIETEST
  }
  if (gainDb === 0 || !Number.isFinite(gainDb)) return stream.dialnorm
  const shifted = Math.round(stream.dialnorm - gainDb)
  const level = Math.min(QUIETEST, Math.max(LOUDEST, shifted))
  context.warn(
    level === shifted
      ? {
          code: 'dialnorm_shifted',
          field,
          message: `The source’s dialogue level ${stream.dialnorm} becomes ${level}, because the volume changes by ${gainDb.toFixed(1)} dB.`,
        }
      : {
          code: 'dialnorm_clamped',
          field,
          message: `The source’s dialogue level ${stream.dialnorm} would become ${shifted} with a volume change of ${gainDb.toFixed(1)} dB; ${level} is used, the nearest that AC-3 can state.`,
        },
  )
  return level
}

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
    bitDepth: audio.bitDepth,
    copied: null,
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
