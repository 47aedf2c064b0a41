// In charge of: joining the pieces of a source: their common format, the part that each contributes, and the joined
// source on which all other decisions are made.
// Not in charge of: formats of frames (canvas.ts), audio (joinedAudio.ts), the outputs (planJob.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { toNumber } from '../../formats/rational.ts'
import { isDolbyDigital, videoCodecOfSource } from '../codecs.ts'
import { ALL_FEATURES, type EngineFeatures } from '../model/engineFeatures.ts'
import type { CanvasPlan, JoinPlan, PiecePlan } from '#contract/task/plan/joinPlan.ts'
import type { MediaInfo, OtherStream, VideoStream } from '../model/mediaInfo.ts'
import { PlanContext } from '../planContext.ts'
import { uniqueWarnings, warnSource } from '../planJob.ts'
import { NO_VIDEO } from '../planWithoutVideo.ts'
import { needsDeepProbe, requireStreamCount } from '../streams/audioStreamCount.ts'
import { drawnText } from '../streams/burnIn.ts'
import { planCut } from '../streams/cut.ts'
import { warnClockJumps } from '../streams/clockJumps.ts'
import { warnDroppedStreams } from '../streams/droppedStreams.ts'
import { outputDuration, timelineOf } from '../streams/outputTiming.ts'
import { requireProgram, usedPids } from '../streams/programSelection.ts'
import { textSubtitleStreams, MAX_TRACKS } from '../streams/textSubtitles.ts'
import { warnDisplayRatios } from '../video/displayRatios.ts'
import { canvasVideo, planCanvas, planPieceVideo, readPieceVideo } from './canvas.ts'
import { joinAudio, joinedStream } from './joinedAudio.ts'
import { inPiece, joinWarnings, MAX_WARNINGS, pieceField, pieceSpec } from './pieceSpec.ts'

/** Tracks of the same language and purpose become one, in the order of the pieces. */
function joinSubtitles(
  spec: JobSpec,
  pieces: readonly MediaInfo[],
): { streams: OtherStream[]; pieces: (number | null)[][] } {
  const tracks: { key: string; model: OtherStream; ofPiece: Map<number, number> }[] = []
  for (const [piece, media] of pieces.entries()) {
    const seen = new Map<string, number>()
    for (const stream of textSubtitleStreams(spec, media)) {
      const purpose = [stream.language ?? 'und', ...(stream.dispositions ?? [])].join(' ')
      const count = seen.get(purpose) ?? 0
      seen.set(purpose, count + 1)
      const key = `${purpose} ${count}`
      const track = tracks.find((each) => each.key === key)
      // Each is a pipe, as in a single source.
      if (track === undefined && tracks.length === MAX_TRACKS) continue
      if (track === undefined) tracks.push({ key, model: stream, ofPiece: new Map([[piece, stream.index]]) })
      else track.ofPiece.set(piece, stream.index)
    }
  }
  return {
    streams: tracks.map(({ model }, index) => ({ ...model, index, id: null, codec: 'webvtt', startSeconds: 0 })),
    pieces: pieces.map((_media, piece) => tracks.map(({ ofPiece }) => ofPiece.get(piece) ?? null)),
  }
}

/** Captions in the video of any piece can become WebVTT tracks. `pieces`: whether each can be read. */
function joinCaptions(
  { spec }: PlanContext,
  pieces: readonly MediaInfo[],
): { video: Partial<VideoStream>; pieces: boolean[] } {
  const videos = pieces.map(({ video }) => video)
  const withCaptions = videos.filter(
    (video): video is VideoStream => video?.closedCaptions === true && videoCodecOfSource(video.codec) !== null,
  )
  const isWanted = spec.closedCaptions === true && spec.packaging !== null
  return {
    video:
      withCaptions[0] === undefined
        ? {}
        : {
            codec: withCaptions[0].codec,
            closedCaptions: true,
            captionChannels: [...new Set(withCaptions.flatMap(({ captionChannels }) => captionChannels))],
            captionLanguages: Object.assign(
              {},
              ...withCaptions.map(({ captionLanguages }) => captionLanguages),
            ) as Record<string, string>,
          },
    pieces: videos.map((video) => isWanted && video !== null && withCaptions.includes(video)),
  }
}

export interface JoinedSource {
  join: JoinPlan
  /** The pieces as one source, for every decision about the outputs. */
  media: MediaInfo
  /** The job for the joined source, as if it were one file. */
  spec: JobSpec
  warnings: Warning[]
}

/** `pieces`: the parts of the inputs that are used (streams/cut.ts), analysed. Throws TaskError. */
export function planJoin(
  spec: JobSpec,
  pieces: readonly MediaInfo[],
  features: EngineFeatures = ALL_FEATURES,
): JoinedSource {
  // A piece makes no track of its teletext, which therefore does not move the clock.
  const clock = { ...features, teletext: false }
  const contexts = pieces.map((media, piece) => {
    const own = pieceSpec(spec, piece, media)
    return new PlanContext(own, { media, timeline: timelineOf(own, media, clock) }, features)
  })
  requireSameKind(pieces)
  const lengths = contexts.map(lengthOf)
  const longest = lengths.reduce<number>(
    (best, seconds, piece) => ((seconds ?? 0) > (lengths[best] ?? 0) ? piece : best),
    0,
  )
  const videos = contexts.flatMap((context, piece) => {
    const { video } = context.media
    const { rate } = context.timeline
    return video === null || rate === null ? [] : [inPiece(piece, () => readPieceVideo(context, video, rate))]
  })
  const canvas = videos.length === 0 ? null : planCanvas(videos, longest)
  const joined = new PlanContext(spec, contexts[longest]!, features)
  const audio = joinAudio(joined, pieces, longest)
  const subtitles = joinSubtitles(spec, pieces)
  const captions = canvas === null ? null : joinCaptions(joined, pieces)
  const plans = pieces.map((media, piece): PiecePlan =>
    inPiece(piece, () => {
      const context = contexts[piece]!
      requireProgram(context)
      requireStreamCount(context)
      const video = videos[piece]
      const carriedText = [...textSubtitleStreams(spec, media), ...drawnText(spec, media, features)]
      context.warn(...warnDroppedStreams(media, [], carriedText), ...warnClockJumps(media))
      if (video !== undefined) {
        warnSource(context, video.picture)
        context.warn(...warnDisplayRatios(media))
      }
      const cut = planCut(context, video?.rate ?? null)
      const ofAudio = audio.pieces[piece]!
      const numbers = ofAudio.flatMap((each) => each?.stream ?? [])
      const seconds = lengths[piece] ?? null
      return {
        cut,
        startSeconds: context.timeline.startSeconds,
        videoOffsetSeconds: context.timeline.offsets.all,
        pids: usedPids(media),
        picture: video?.picture ?? NO_VIDEO,
        fields: video?.fields.fields ?? { parity: 'auto', frames: 'interlaced', clearFlag: false, keepsLast: false },
        scaler: features.zscale ? 'zscale' : 'scale',
        disableDrc: media.audio.some((stream) => numbers.includes(stream.number) && isDolbyDigital(stream)),
        deepProbe: needsDeepProbe(context.spec, media),
        video: video === undefined || canvas === null ? null : planPieceVideo(video, canvas, piece),
        audio: ofAudio,
        frames: canvas === null || seconds === null ? null : framesOf(cut, media, seconds, canvas),
        durationSeconds: seconds,
        hasFixedEnd: cut?.endSeconds != null,
        captions: captions?.pieces[piece] ?? false,
        subtitles: subtitles.pieces[piece]!,
      }
    }),
  )
  const join = { canvas, audio: audio.tracks, pieces: plans }
  const media = joinedMedia(join)
  const { masteringDisplay = null, contentLight = null } = videos[longest]?.video ?? {}
  return {
    join,
    media: {
      ...media,
      video: media.video === null ? null : { ...media.video, masteringDisplay, contentLight, ...captions?.video },
      audio: audio.streams.map((stream, position) => ({
        ...media.audio[position]!,
        ...stream,
        durationSeconds: media.durationSeconds,
      })),
      other: subtitles.streams,
    },
    spec: { ...audio.spec, cut: null, inputs: null, program: null, expectedAudioStreams: null, detelecine: false },
    warnings: uniqueWarnings([
      ...joinWarnings(contexts.map(({ warnings }) => warnings)),
      ...joined.warnings.slice(0, MAX_WARNINGS),
    ]),
  }
}

/** The pieces as one source, as far as a plan says. */
export function joinedMedia({ canvas, audio, pieces }: JoinPlan): MediaInfo {
  const seconds = totalSeconds(pieces, canvas)
  return {
    formats: ['joined'],
    durationSeconds: seconds,
    startSeconds: 0,
    sizeBytes: null,
    video: canvas === null ? null : canvasVideo(canvas, seconds),
    audio: audio.map(({ channels }, position) => ({ ...joinedStream(channels, position), durationSeconds: seconds })),
    program: null,
    programs: [],
    other: [],
  }
}

/** Pieces without video have no frames that could be shown, so they are not joined to video. */
function requireSameKind(pieces: readonly MediaInfo[]): void {
  const lacking = pieces.findIndex(({ video }) => video === null)
  if (lacking === -1 || pieces.every(({ video }) => video === null)) return
  throw new TaskError(
    'no_video',
    `${pieceField(lacking)} has no video, but other inputs have: join inputs with video, or inputs without.`,
    { field: pieceField(lacking), details: { input: lacking } },
  )
}

/** Seconds of video, or of the longest used audio where there is none; null where the piece does not state it. */
function lengthOf({ spec, media, timeline }: PlanContext): number | null {
  const numbers = new Set(spec.audio.map(({ sourceStream }) => sourceStream))
  const used = media.video === null ? media.audio.filter(({ number }) => numbers.has(number)) : [media.video]
  return outputDuration(media, used, timeline.startSeconds)
}

/** The number of frames that the filters make (argv/cutArgs.ts). The length of a file may be the length of its audio. */
function framesOf(cut: PiecePlan['cut'], { video }: MediaInfo, seconds: number, { rate }: CanvasPlan): number | null {
  const frames = cut?.frames ?? null
  if (frames === null || frames.end === null)
    return video?.durationSeconds == null ? null : Math.max(1, Math.round(seconds * toNumber(rate)))
  const { start, end, rate: own } = frames
  return Math.max(1, Math.ceil(((end - start) * rate.num * own.den) / (rate.den * own.num) - 1e-9))
}

function totalSeconds(pieces: readonly PiecePlan[], canvas: CanvasPlan | null): number | null {
  const each = pieces.map(({ frames, durationSeconds }) =>
    canvas === null ? durationSeconds : frames === null ? null : (frames * canvas.rate.den) / canvas.rate.num,
  )
  return each.every((seconds) => seconds !== null) ? each.reduce((sum, seconds) => sum + seconds, 0) : null
}

/** Seconds in the outputs at which each piece begins; those after a piece of unknown length are missing. */
export function pieceStarts({ pieces, canvas }: JoinPlan): number[] {
  const starts: number[] = []
  for (let piece = 0; piece < pieces.length; piece += 1) {
    const start = totalSeconds(pieces.slice(0, piece), canvas)
    if (start === null) break
    starts.push(start)
  }
  return starts
}
