// In charge of: the audio streams of a joined source: one for each pair of stream and mix that the job asks for. What each
// piece contributes to each of them.
// Not in charge of: the mix of one stream (audio/downmix.ts), fades and lengths (pipeline/join/rawJoin.ts).
import type { AudioProfile, JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { AudioStream, MediaInfo } from '../model/mediaInfo.ts'
import type { JoinPlan, PiecePlan } from '#contract/task/plan/joinPlan.ts'
import { planChannelMix } from '../audio/downmix.ts'
import { PlanContext } from '../planContext.ts'
import { usedAudioStreams } from '../streams/outputTiming.ts'
import { pieceField, streamOfPiece } from './pieceSpec.ts'

/** ffmpeg's names for the channels of a joined stream. */
export const JOINED_LAYOUTS = { 2: 'stereo', 6: '5.1(side)' } as const

interface JoinedAudio {
  /** The job, with the numbers of the joined streams as `source_stream`. */
  spec: JobSpec
  tracks: JoinPlan['audio']
  streams: AudioStream[]
  /** The audio of each piece, in the order of `tracks`. */
  pieces: PiecePlan['audio'][]
}

/** Throws audio_stream_missing where no piece has a stream that is not optional. */
export function joinAudio(context: PlanContext, pieces: readonly MediaInfo[], longest: number): JoinedAudio {
  const { spec } = context
  const kept = withoutMissing(context, pieces)
  const used = usedAudioStreams(spec)
  const isUsed = (profile: AudioProfile): profile is AudioProfile & { sourceStream: number } =>
    profile.sourceStream !== null && used.includes(profile.sourceStream)
  const mixes = kept.audio.filter(isUsed)
  const distinct = mixes.filter((profile, at) => mixes.findIndex((other) => isSame(other, profile)) === at)
  const ofPieces = pieces.map((media, piece): PiecePlan['audio'] =>
    distinct.map((profile) => {
      const stream = streamIn(spec, media, piece, profile.sourceStream)
      if (stream !== null) {
        const decided = planChannelMix(profile, stream)
        context.warn(
          ...decided.warnings.map((warning) => ({ ...warning, message: `${pieceField(piece)}: ${warning.message}` })),
        )
        return { stream: stream.number, mix: decided.value }
      }
      context.warn({
        code: 'audio_silent_in_piece',
        field: pieceField(piece),
        message: `${pieceField(piece)} is silent in audio profile ${profile.index}: ${whySilent(spec, media, piece, profile.sourceStream)}.`,
      })
      return null
    }),
  )
  const streams = distinct.map((profile, position): AudioStream => {
    const own = pieces.flatMap((media, piece) => {
      const stream = streamIn(spec, media, piece, profile.sourceStream)
      return stream === null ? [] : [{ stream, piece }]
    })
    const model = (own.find(({ piece }) => piece === longest) ?? own[0])!.stream
    return {
      ...joinedStream(profile.channels, position),
      requestedStream: profile.sourceStream,
      language: model.language,
      ...(model.purpose === undefined ? {} : { purpose: model.purpose }),
      dialnorm: model.dialnorm,
      isMixed: ofPieces.some((audio) => audio[position]?.mix.limited === true),
    }
  })
  const joined = (profile: AudioProfile) => distinct.findIndex((other) => isSame(other, profile)) + 1
  return {
    spec: {
      ...kept,
      audio: kept.audio.map((profile) => ({
        ...profile,
        // The mix is part of the joined stream.
        ...(joined(profile) === 0 ? {} : { sourceStream: joined(profile), downmix: null, downmixLfe: null }),
      })),
    },
    tracks: distinct.map(({ sourceStream, channels }) => ({ requestedStream: sourceStream, channels })),
    streams,
    pieces: ofPieces,
  }
}

/** A joined stream without what planning takes from the pieces. */
export function joinedStream(channels: 2 | 6, position: number): AudioStream {
  return {
    index: position + 1,
    id: null,
    number: position + 1,
    codec: 'pcm_f32le',
    channels,
    channelLayout: JOINED_LAYOUTS[channels],
    sampleRate: 48_000,
    language: null,
    dialnorm: null,
    downmixLevels: null,
    loudness: [],
    startSeconds: 0,
    durationSeconds: null,
  }
}

function isSame(one: AudioProfile, other: AudioProfile): boolean {
  return (
    one.sourceStream === other.sourceStream &&
    one.channels === other.channels &&
    one.downmix === other.downmix &&
    one.downmixLfe === other.downmixLfe
  )
}

function streamIn(spec: JobSpec, media: MediaInfo, piece: number, requested: number): AudioStream | null {
  const number = streamOfPiece(spec, piece, requested)
  return media.audio.find((stream) => stream.number === number) ?? null
}

function whySilent(spec: JobSpec, media: MediaInfo, piece: number, requested: number): string {
  const number = streamOfPiece(spec, piece, requested)
  if (number === null) return `its source_stream ${requested} is null`
  return `it has no audio stream ${number} (it has ${media.audio.length})`
}

/** An optional profile whose stream no piece has is left out. */
function withoutMissing(context: PlanContext, pieces: readonly MediaInfo[]): JobSpec {
  const { spec } = context
  const used = usedAudioStreams(spec)
  const missing = spec.audio.filter(
    ({ sourceStream }) =>
      sourceStream !== null &&
      used.includes(sourceStream) &&
      pieces.every((media, piece) => streamIn(spec, media, piece, sourceStream) === null),
  )
  for (const { index, sourceStream, optional } of missing) {
    const field = `audioProfiles[${index}].source_stream`
    if (!optional)
      throw new TaskError(
        'audio_stream_missing',
        `source_stream ${sourceStream} exists in none of the inputs; set optional on the audio profile to make the outputs without it`,
        {
          field,
          details: { source_stream: sourceStream, audio_streams: Math.max(...pieces.map(({ audio }) => audio.length)) },
        },
      )
    context.warn({
      code: 'audio_left_out',
      field,
      message: `Audio profile ${index} is left out: none of the inputs has audio stream ${sourceStream}.`,
    })
  }
  const isKept = (index: number) => !missing.some((profile) => profile.index === index)
  return {
    ...spec,
    audio: spec.audio.filter(({ index }) => isKept(index)),
    video: spec.video.map((video) => ({ ...video, audioProfiles: video.audioProfiles.filter(isKept) })),
  }
}
