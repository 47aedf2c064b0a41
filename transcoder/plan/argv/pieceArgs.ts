// In charge of: the arguments of the process that decodes one piece of a joined source: raw frames and raw samples, each
// through a pipe; and the arguments with which they are read again.
// Not in charge of: what a piece contributes (plan/join), putting the pieces together (pipeline/join).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { CanvasPlan, JoinPlan, PieceAudio, PiecePlan } from '#contract/task/plan/joinPlan.ts'
import { JOINED_LAYOUTS } from '../join/joinedAudio.ts'
import { DEEP_PROBE_FLAGS } from '../streams/audioStreamCount.ts'
import { audioSpecifier, videoSpecifier } from '../streams/programSelection.ts'
import { audioCutFilters, readCut, type CutReading } from './cutArgs.ts'
import { decoderArgs, mixedFilters, panFilter, videoFilters } from './filters.ts'
import { captionArgs, subtitleArgs } from './segmentArgs.ts'
import { distinctTracks, steadyArgs, steadyInput, steadyPad, type SteadyTrack } from './steadyAudio.ts'
import { steadyFrameInput } from './steadyFrames.ts'

const SAMPLE_RATE = 48_000

/** One pipe of a piece's process. */
export type PiecePipe =
  | { kind: 'video' }
  | { kind: 'audio'; track: number }
  | { kind: 'captions' }
  | { kind: 'subtitles'; track: number }

/** In the order of the arguments. `only`: the audio alone, to measure it. */
export function piecePipes(piece: PiecePlan, only: 'all' | 'audio' = 'all'): PiecePipe[] {
  return [
    ...(piece.video !== null && only === 'all' ? [{ kind: 'video' } as const] : []),
    ...piece.audio.flatMap((audio, track): PiecePipe[] => (audio === null ? [] : [{ kind: 'audio', track }])),
    ...(piece.captions && only === 'all' ? [{ kind: 'captions' } as const] : []),
    ...(only === 'all'
      ? piece.subtitles.flatMap((stream, track): PiecePipe[] => (stream === null ? [] : [{ kind: 'subtitles', track }]))
      : []),
  ]
}

export interface PieceTargets {
  input: string
  inputFlags: readonly string[]
  /** `pipe:` and a descriptor for each of `pipes`. */
  outputs: readonly string[]
  seekable: boolean
  threads: number
  /** `pipe:` and a descriptor: its audio, decoded by another process (steadyPieceArgs). Missing = it is decoded here. */
  steady?: string | undefined
}

export function pieceArgs(whole: PiecePlan, pipes: readonly PiecePipe[], ends: PieceTargets): string[] {
  const { seek, cut } = readPiece(whole, ends.seekable)
  const piece = { ...whole, cut }
  const threads = ends.threads > 0 ? ['-threads', `${ends.threads}`] : []
  return [
    ...['-nostdin', '-hide_banner', '-y'],
    // As in the encode (ffmpegArgs.ts): damage is read from these lines.
    ...['-loglevel', 'repeat+level+verbose', '-nostats', '-progress', 'pipe:1', '-stats_period', '0.5'],
    ...(ends.threads > 0 ? ['-filter_complex_threads', `${ends.threads}`] : []),
    ...threads,
    ...inputOf(piece, ends, seek),
    ...(ends.steady === undefined ? [] : steadyInput(ends.steady)),
    ...pipes
      .flatMap((pipe) => graphOf(piece, pipe, ends.steady !== undefined))
      .flatMap((graph) => ['-filter_complex', graph]),
    ...pipes.flatMap((pipe, index) => targetOf(piece, pipe, ends.outputs[index]!)),
  ]
}

/** The process that decodes the audio for `steady`, into `pipe`. */
export function steadyPieceArgs(
  piece: PiecePlan,
  pipes: readonly PiecePipe[],
  ends: Pick<PieceTargets, 'input' | 'inputFlags' | 'seekable' | 'threads'>,
  pipe: string,
): string[] {
  return steadyArgs(
    tracksOf(piece),
    {
      input: inputOf(piece, ends, readPiece(piece, ends.seekable).seek),
      pad: (stream) => audioSpecifier(piece.pids, stream),
      others: pipes.some(({ kind }) => kind === 'video') ? [videoSpecifier(piece.pids)] : [],
      threads: ends.threads,
    },
    pipe,
  )
}

/** How the part of a piece is read. */
export function readPiece(piece: PiecePlan, seekable: boolean): CutReading {
  return readCut({ cut: piece.cut, hasCaptions: piece.captions }, seekable)
}

function tracksOf({ audio }: PiecePlan): SteadyTrack[] {
  return distinctTracks(audio.flatMap((each) => (each === null ? [] : [trackOf(each)])))
}

function trackOf({ stream, mix }: PieceAudio): SteadyTrack {
  return { stream, mix, sampleRate: SAMPLE_RATE, surrounds: 'side' }
}

function inputOf(
  piece: PiecePlan,
  { input, inputFlags }: Pick<PieceTargets, 'input' | 'inputFlags'>,
  seek: readonly string[] | null,
): string[] {
  return [
    ...inputFlags,
    ...(piece.disableDrc ? ['-drc_scale', '0'] : []),
    ...(seek ?? (piece.videoOffsetSeconds === 0 ? [] : ['-itsoffset', (-piece.videoOffsetSeconds).toFixed(6)])),
    ...decoderArgs(piece),
    ...(piece.video === null ? [] : steadyFrameInput(piece.picture)),
    ...(piece.deepProbe ? DEEP_PROBE_FLAGS : []),
    ...['-i', input],
  ]
}

/** One graph for each stream, as in the encode. */
function graphOf(piece: PiecePlan, pipe: PiecePipe, isSteady: boolean): string[] {
  if (pipe.kind === 'video' && piece.video !== null)
    return [`[${videoSpecifier(piece.pids)}]${videoFilters(piece, piece.video).join(',')}[v]`]
  const audio = pipe.kind === 'audio' ? (piece.audio[pipe.track] ?? null) : null
  if (pipe.kind !== 'audio' || audio === null) return []
  const [aligned, ...mixed] = (isSteady ? mixedFilters : panFilter)(SAMPLE_RATE, audio.mix, 'side')
  const filters = [aligned, ...audioCutFilters(piece.cut, SAMPLE_RATE), ...mixed]
  const pad = isSteady ? steadyPad(tracksOf(piece), trackOf(audio), 1) : audioSpecifier(piece.pids, audio.stream)
  return [`[${pad}]${filters.join(',')}[a${pipe.track}]`]
}

function targetOf(piece: PiecePlan, pipe: PiecePipe, target: string): string[] {
  switch (pipe.kind) {
    case 'video':
      // Every frame of the filters once: they have counted them.
      return ['-map', '[v]', '-fps_mode', 'passthrough', '-c:v', 'rawvideo', '-f', 'rawvideo', target]
    case 'audio':
      return ['-map', `[a${pipe.track}]`, '-c:a', 'pcm_f32le', '-f', 'f32le', target]
    case 'captions':
      return captionArgs(piece, target)
    case 'subtitles':
      return subtitleArgs(piece, piece.subtitles[pipe.track]!, target)
  }
}

/** The inputs that the joined frames and samples are: video, then each audio stream. `audio`: positions of the tracks. */
export function joinedInputArgs(
  { canvas, audio }: Pick<JoinPlan, 'canvas' | 'audio'>,
  pipes: readonly string[],
): string[] {
  const video = canvas === null ? [] : [rawVideo(canvas)]
  return [...video, ...audio.map(({ channels }) => rawAudio(channels))].flatMap((flags, index) => [
    ...['-protocol_whitelist', 'pipe', ...flags, '-i', pipes[index]!],
  ])
}

function rawVideo({ width, height, rate, pixelFormat }: CanvasPlan): string[] {
  return [
    ...['-format_whitelist', 'rawvideo', '-codec_whitelist', 'rawvideo'],
    // Everything is stated: no frame is read before it is needed.
    ...['-probesize', '32', '-f', 'rawvideo'],
    ...['-pixel_format', pixelFormat, '-video_size', `${width}x${height}`, '-framerate', `${rate.num}/${rate.den}`],
  ]
}

function rawAudio(channels: 2 | 6): string[] {
  return [
    ...['-format_whitelist', 'f32le', '-codec_whitelist', 'pcm_f32le', '-probesize', '32', '-f', 'f32le'],
    ...['-ar', `${SAMPLE_RATE}`, '-ch_layout', JOINED_LAYOUTS[channels]],
  ]
}

/** Raw frames carry no tags. */
export function joinedFrameFilters({ canvas }: Pick<JoinPlan, 'canvas'>): string[] {
  if (canvas === null) return []
  const { scan, color } = canvas
  const mode = scan === 'progressive' ? 'prog' : scan
  return [
    `setparams=field_mode=${mode}:range=tv:colorspace=${color.matrix}:color_primaries=${color.primaries}:color_trc=${color.transfer}`,
  ]
}

export function frameBytes({ width, height, pixelFormat }: CanvasPlan): number {
  return (width * height * 3 * (pixelFormat === 'yuv420p' ? 1 : 2)) / 2
}
