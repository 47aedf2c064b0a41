// In charge of: the arguments of the process that decodes one piece of a joined source: raw frames and raw samples, each
// through a pipe; and the arguments with which they are read again.
// Not in charge of: what a piece contributes (plan/join), putting the pieces together (pipeline/join).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { CanvasPlan, JoinPlan, PiecePlan } from '../model/joinPlan.ts'
import { JOINED_LAYOUTS } from '../join/joinedAudio.ts'
import { DEEP_PROBE_FLAGS } from '../streams/audioStreamCount.ts'
import { audioSpecifier, videoSpecifier } from '../streams/programSelection.ts'
import { audioCutFilters, readCut } from './cutArgs.ts'
import { decoderArgs, panFilter, videoFilters } from './filters.ts'
import { captionArgs, subtitleArgs } from './segmentArgs.ts'
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
}

export function pieceArgs(whole: PiecePlan, pipes: readonly PiecePipe[], ends: PieceTargets): string[] {
  const { seek, cut } = readCut({ cut: whole.cut, hasCaptions: whole.captions }, ends.seekable)
  const piece = { ...whole, cut }
  const threads = ends.threads > 0 ? ['-threads', `${ends.threads}`] : []
  return [
    ...['-nostdin', '-hide_banner', '-y'],
    // As in the encode (ffmpegArgs.ts): damage is read from these lines.
    ...['-loglevel', 'repeat+level+verbose', '-nostats', '-progress', 'pipe:1', '-stats_period', '0.5'],
    ...(ends.threads > 0 ? ['-filter_complex_threads', `${ends.threads}`] : []),
    ...threads,
    ...ends.inputFlags,
    ...(piece.disableDrc ? ['-drc_scale', '0'] : []),
    ...(seek ?? (piece.videoOffsetSeconds === 0 ? [] : ['-itsoffset', (-piece.videoOffsetSeconds).toFixed(6)])),
    ...decoderArgs(piece),
    ...(piece.video === null ? [] : steadyFrameInput(piece.picture)),
    ...(piece.deepProbe ? DEEP_PROBE_FLAGS : []),
    ...['-i', ends.input],
    ...pipes.flatMap((pipe) => graphOf(piece, pipe)).flatMap((graph) => ['-filter_complex', graph]),
    ...pipes.flatMap((pipe, index) => targetOf(piece, pipe, ends.outputs[index]!)),
  ]
}

/** One graph for each stream, as in the encode. */
function graphOf(piece: PiecePlan, pipe: PiecePipe): string[] {
  if (pipe.kind === 'video' && piece.video !== null)
    return [`[${videoSpecifier(piece.pids)}]${videoFilters(piece, piece.video).join(',')}[v]`]
  const audio = pipe.kind === 'audio' ? (piece.audio[pipe.track] ?? null) : null
  if (pipe.kind !== 'audio' || audio === null) return []
  const [aligned, ...mixed] = panFilter(SAMPLE_RATE, audio.mix, 'side')
  const filters = [aligned, ...audioCutFilters(piece.cut, SAMPLE_RATE), ...mixed]
  return [`[${audioSpecifier(piece.pids, audio.stream)}]${filters.join(',')}[a${pipe.track}]`]
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
