// In charge of: writing a plan as the arguments of one ffmpeg process: one decode, and one encode for each output.
// Not in charge of: any decision (planJob.ts), running ffmpeg (transcoder/ffmpeg/run.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { FileContainer } from '#contract/containers.ts'
import { burnInFilters, changesClock, bitmapFilters, bitmapInput, bitmapOverlay } from './burnInArgs.ts'
import { burstInputs, readBursts } from './burstInputs.ts'
import { carrierGraph, carrierInputs, carrierRates, type CarrierClock } from './captionCarriers.ts'
import { captionInputs, tx3gArgs, tx3gMaps, tx3gTracks } from './captionInputs.ts'
import { audioHolderOf, copyEndArgs } from './copyArgs.ts'
import { rangeInCut, encoderClock } from './rangeArgs.ts'
import { readCut } from './cutArgs.ts'
import { audioGraphs, muxedEncodes, steadyTracksOf } from './audioGraphs.ts'
import { steadyArgs, steadyInput } from './steadyAudio.ts'
import { runOutFrames } from '../video/rangeBuffer.ts'
import { audioEncoderArgs, mp4Tag, videoEncoderArgs } from './encoderArgs.ts'
import { logoFilters, overlay, videoFilters, decoderArgs } from './filters.ts'
import { buildSharedGraph } from './filterGraph.ts'
import { audioSpecifier, videoPad, videoSpecifier } from '../streams/programSelection.ts'
import { joinedFrameFilters, joinedInputArgs } from './pieceArgs.ts'
import { isMp4 } from '../forms.ts'
import { plannedFiles } from '../model/plannedFiles.ts'
import {
  captionArgs,
  encoderStreamArgs,
  segmentArgs,
  encodesPerProcess,
  subtitleArgs,
  teletextArgs,
} from './segmentArgs.ts'
import { DEEP_PROBE_FLAGS } from '../streams/audioStreamCount.ts'
import { plannedPipes, type PipePlan } from '../model/plannedPipes.ts'
import { extractBranches, extractOutputs } from './extractArgs.ts'
import { steadyFrameInput } from './steadyFrames.ts'
import { storedInputArgs, storedInputs, storedTrack, storedTrackArgs } from './storedArgs.ts'
import { jpegArgs, thumbnailBranches } from './thumbnailArgs.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { AudioFilePlan, OutputPlan, Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/** How a source is read that is one file. */
export interface SourceInput {
  /** Address or `file:` URL. */
  url: string
  /** Security flags, placed before the input (ffmpeg/inputAllowlist.ts). */
  flags: readonly string[]
  /** Absolute paths, one for each of `pids.bursts` that the plan has. */
  bursts: readonly string[]
  /** It can be read at any position. */
  seekable: boolean
}

export type RunInput =
  /**
   * `steady`: `pipe:` and a descriptor: the audio of a source whose channels or sample rate change midway
   * (steadyAudio.ts); null = it is decoded here.
   */
  | (SourceInput & { kind: 'source'; steady: string | null })
  /**
   * `pipe:` and a descriptor: the frames of a joined source, then each of its audio streams (pieceArgs.ts); or each stream
   * that parts of the job encoded (storedArgs.ts).
   */
  | { kind: 'pipes'; pipes: readonly string[] }

/** Files that this program wrote for a plan: absolute paths. */
export interface WrittenFiles {
  /** The logo as a PNG; null = the plan has none. */
  logo: string | null
  /** The movie of subtitles; null = the plan draws no bitmaps. */
  bitmaps: string | null
  /** The caption files, in the order of `tx3gTracks`. */
  captions: readonly string[]
  /** Files of `assLooks`, relative to ffmpeg's working directory. */
  burnIn: readonly string[]
  /** The videos with captions, in the order of `carrierRates`. */
  carriers: readonly string[]
}

export const NO_FILES: WrittenFiles = { logo: null, bitmaps: null, captions: [], burnIn: [], carriers: [] }

export interface ArgvTargets {
  input: RunInput
  files: WrittenFiles
  carrierClock: CarrierClock
  /**
   * Absolute paths, or `pipe:` and a file descriptor: one for each file of the plan, in the order of `plannedFiles`,
   * then one pipe for each of `plannedPipes`, then one for each of `extractPipes`.
   */
  outputs: readonly string[]
  /** Threads for each codec; 0 = ffmpeg chooses. Set it where the machine reports more cores than may be used. */
  threads: number
  /** Cores that may be used. x265 cannot read the number in a sandbox that forbids the system call; null = x265 reads it. */
  cores: number | null
}

export function ffmpegArgs(whole: Plan, ends: ArgvTargets): string[] {
  const { input, files } = ends
  const { seek, cut } = readCut(whole, input.kind === 'source' && input.seekable)
  const plan = { ...whole, cut }
  const steady = steadyPipe(input)
  const threads = ends.threads > 0 ? ['-threads', `${ends.threads}`] : []
  return [
    // Never ask a question, never wait for a key.
    ...['-nostdin', '-hide_banner', '-y'],
    // Warnings explain a failed exit, and each is counted. ffmpeg reports the silence that fills gaps only at this
    // level (analysis/damage/). Statistics go to the progress pipe only.
    ...['-loglevel', 'repeat+level+verbose', '-nostats', '-progress', 'pipe:1', '-stats_period', '0.5'],
    ...(ends.threads > 0 ? ['-filter_complex_threads', `${ends.threads}`] : []),
    ...threads,
    ...inputArgs(whole, input, seek),
    ...logoInput(plan, files),
    ...(drawsBitmaps(plan) ? bitmapInput(fileTarget(files.bitmaps)) : []),
    ...captionInputs(tx3gTracks(plan).map((_track, position) => fileTarget(files.captions[position]))),
    ...carrierInputs(
      carrierRates(encodedVideo(plan)).map((rate, position) => ({ rate, file: fileTarget(files.carriers[position]) })),
      ends.carrierClock,
    ),
    ...(steady === null ? [] : steadyInput(steady)),
    ...filterGraphs(plan, ends).flatMap((graph) => ['-filter_complex', graph]),
    ...plan.outputs.flatMap((output, position) => [
      ...outputArgs(plan, output, position, ends.cores),
      ...threads,
      fileTarget(ends.outputs[position]),
    ]),
    // The same decode serves the audio files. They follow the outputs (plannedFiles.ts).
    ...plan.audioFiles.flatMap((file, position) => [
      ...audioFileArgs(plan, file, position),
      ...threads,
      fileTarget(ends.outputs[plan.outputs.length + position]),
    ]),
    ...segmentedArgs(plan, ends, threads),
    ...extractOutputs(plan, ends.outputs.slice(plannedFiles(plan).length + plannedPipes(plan).length)),
  ]
}

function inputArgs(plan: Plan, input: RunInput, seek: readonly string[] | null): string[] {
  const { reads } = plan
  if (input.kind === 'source') return sourceArgs(plan, input, seek)
  if (reads.kind === 'file') throw new TypeError('the plan reads its source itself')
  return reads.kind === 'pieces' ? joinedInputArgs(reads.join, input.pipes) : storedInputArgs(reads.stored, input.pipes)
}

function steadyPipe(input: RunInput): string | null {
  return input.kind === 'source' ? input.steady : null
}

function sourceArgs(
  plan: Plan,
  { url, flags, bursts, seekable }: SourceInput,
  seek: readonly string[] | null,
): string[] {
  return [
    ...flags,
    // The AC-3 decoder applies dynamic range compression by default. The output should keep the source's dynamics.
    ...(plan.disableDrc ? ['-drc_scale', '0'] : []),
    // Video starts at 0: otherwise a video that begins 20 ms after its audio gets an extra first frame.
    ...(seek ?? (plan.videoOffsetSeconds === 0 ? [] : ['-itsoffset', seconds(-plan.videoOffsetSeconds)])),
    ...decoderArgs(plan),
    ...(decodesVideo(plan) ? steadyFrameInput(plan.picture) : []),
    // ffmpeg must probe as far as ffprobe did. Otherwise a stream that begins late cannot be mapped.
    ...(plan.deepProbe ? DEEP_PROBE_FLAGS : []),
    ...(plan.packaging?.subtitles ?? []).flatMap(({ stream, teletext }) => (teletext ? teletextArgs(stream) : [])),
    ...['-i', url],
    ...burstInputs(
      readBursts(plan).map((_taken, position) => fileTarget(bursts[position])),
      plan,
      seekable,
    ),
  ]
}

/** The process that decodes the audio for `steady`, into `pipe`. */
export function steadyArgsOf(plan: Plan, source: SourceInput, threads: number, pipe: string): string[] {
  const tracks = steadyTracksOf(plan)
  const isDecoded = new Set(tracks.map(({ stream }) => stream))
  const usesVideo = muxedEncodes(plan).some(({ video }) => video !== null) || plan.extracts?.frames?.separate === false
  return steadyArgs(
    tracks,
    {
      input: sourceArgs(plan, source, readCut(plan, source.seekable).seek),
      pad: (stream) => audioSpecifier(plan.pids, stream),
      others: [
        ...(usesVideo ? [videoSpecifier(plan.pids)] : []),
        ...plan.sourceAudio.flatMap((stream) => (isDecoded.has(stream) ? [] : [audioSpecifier(plan.pids, stream)])),
      ],
      threads,
    },
    pipe,
  )
}

/** Segmented output: one encode for each rendition's video and for each audio track, after the files. */
function segmentedArgs(plan: Plan, ends: ArgvTargets, threads: readonly string[]): string[] {
  const listed = plannedPipes(plan)
  const first = plannedFiles(plan).length
  const pipe = (wanted: (stream: PipePlan) => boolean) => {
    const target = ends.outputs[first + listed.findIndex(wanted)]
    // tee would interpret special characters of a path.
    if (target === undefined || !/^pipe:\d+$/.test(target)) throw new TypeError('every stream needs a pipe')
    return target
  }
  return [
    ...encodesPerProcess(plan).flatMap((output) => [
      ...threads,
      ...segmentArgs(
        plan,
        output.map(({ encode }) => encode),
        [
          ...output.flatMap(({ encode, position }) =>
            encode.video === null
              ? []
              : [videoSource(plan, encode.video, plan.reads.kind === 'stored' ? encode.rendition : position)],
          ),
          ...output.flatMap(({ encode, position }) =>
            encode.audio.map((track, trackIndex) =>
              audioSource(plan, track, `a${position}_${trackIndex}`, encode.trimmed),
            ),
          ),
        ],
        ({ rendition }, form) =>
          pipe((each) => each.kind === 'rendition' && each.rendition === rendition && each.form === form),
        ends.cores,
      ),
    ]),
    ...(plan.packaging?.textTracks === true && plan.reads.kind !== 'pieces'
      ? captionArgs(
          plan,
          pipe(({ kind }) => kind === 'captions'),
        )
      : []),
    ...(plan.reads.kind === 'pieces' ? [] : (plan.packaging?.subtitles ?? [])).flatMap(({ stream }, track) =>
      subtitleArgs(
        plan,
        stream,
        pipe((each) => each.kind === 'subtitles' && each.track === track),
      ),
    ),
    ...(plan.packaging?.thumbnails == null ? [] : (['thumbnails', 'poster'] as const)).flatMap((label) =>
      jpegArgs(
        label,
        pipe(({ kind }) => kind === label),
      ),
    ),
  ]
}

/** Where ffmpeg takes a stream from: its filters, or the source. */
function videoSource(plan: Plan, video: VideoPlan, position: number): string {
  if (plan.reads.kind === 'stored') return `${position}:v:0`
  return video.copied === null ? `[v${position}]` : videoSpecifier(plan.pids)
}

function audioSource(plan: Plan, track: AudioPlan, label: string, trimmed = false): string {
  if (plan.reads.kind === 'stored') return storedTrack(plan.reads.stored, track, trimmed)
  return track.copied === null ? `[${label}]` : audioSpecifier(plan.pids, track.sourceStream)
}

/**
 * One graph for the video and one for each audio stream: ffmpeg rebuilds a graph when the channels of its source
 * change, and ffmpeg 7 ends with SIGABRT where one of several inputs has no data.
 */
function filterGraphs(plan: Plan, { input, files: { burnIn }, carrierClock }: ArgvTargets): string[] {
  const wanted = muxedEncodes(plan)
  const videoBranches = wanted.flatMap(({ video }, position) =>
    video === null || video.copied !== null ? [] : [{ video, position }],
  )
  const clockOf = ({ frameRate, mode }: VideoPlan, overlaid: boolean) =>
    encoderClock(rangeInCut(plan, frameRate, mode === 'cbr' ? runOutFrames(plan, frameRate) : 0), frameRate, overlaid)
  // Captions come last: filters after them might change the captions of a frame, and one that drops frames loses them.
  const finished = ({ embedded }: VideoPlan, position: number) => (embedded === null ? `v${position}` : `n${position}`)
  const video = videoBranches.map(({ video, position }) => ({
    filters: [
      ...videoFilters(plan, video),
      ...(video.logo === null ? burnInFilters(plan, video, burnIn) : []),
      ...(video.logo === null && video.bitmaps === null ? clockOf(video, false) : []),
    ],
    label: video.logo === null && video.bitmaps === null ? finished(video, position) : `b${position}`,
  }))
  const captioned = videoBranches.filter(({ video }) => video.embedded !== null)
  const carriers = videoInputCount(plan) + tx3gTracks(plan).length
  const logos = videoBranches.flatMap(({ video: { logo }, video, position }) =>
    logo === null ? [] : [{ logo, video, position, filters: logoFilters(plan, video, logo), label: `l${position}` }],
  )
  const bitmaps = videoBranches.flatMap(({ video, position }) =>
    video.bitmaps === null
      ? []
      : [
          {
            overlay: [bitmapOverlay(plan, video.bitmaps), ...clockOf(video, true)].join(','),
            onto: video.logo === null ? `b${position}` : `c${position}`,
            position,
            label: `s${position}`,
            to: finished(video, position),
            filters: bitmapFilters(plan, video, video.bitmaps),
          },
        ],
  )
  const tags = plan.reads.kind === 'pieces' ? joinedFrameFilters(plan.reads.join) : []
  const sources = sourceCount(plan)
  const audio = audioGraphs(
    plan,
    steadyPipe(input) === null ? null : carriers + carrierRates(encodedVideo(plan)).length,
  )
  return [
    [
      ...buildSharedGraph(
        `[${videoPad(plan)}]`,
        [...video, ...thumbnailBranches(plan), ...extractBranches(plan)].map((branch) => ({
          ...branch,
          filters: [...tags, ...branch.filters],
        })),
        'split',
      ),
      // The logo is drawn on the finished frame, so that bars, rotation and fields do not move it.
      ...buildSharedGraph(`[${sources}:v:0]`, logos, 'split'),
      // Captions are drawn over the logo: they have to be readable.
      ...logos.map(
        ({ logo, video, position }) =>
          `[b${position}][l${position}]${[overlay(plan, logo), ...burnInFilters(plan, video, burnIn), ...(video.bitmaps === null ? clockOf(video, !changesClock(plan, video)) : [])].join(',')}[${video.bitmaps === null ? finished(video, position) : `c${position}`}]`,
      ),
      ...buildSharedGraph(`[${sources + (hasLogo(plan) ? 1 : 0)}:v:0]`, bitmaps, 'split'),
      ...bitmaps.map(({ onto, overlay: draw, position, to }) => `[${onto}][s${position}]${draw}[${to}]`),
      ...carrierGraph(plan, captioned, carriers, carrierClock),
    ],
    ...audio,
  ].flatMap((chains) => (chains.length === 0 ? [] : chains.join(';')))
}

function decodesVideo(plan: Plan): boolean {
  return encodedVideo(plan).length + thumbnailBranches(plan).length + extractBranches(plan).length > 0
}

/** The videos that this process encodes. */
export function encodedVideo(plan: Plan): VideoPlan[] {
  return muxedEncodes(plan).flatMap(({ video }) => (video === null || video.copied !== null ? [] : [video]))
}

/** Inputs before the logo. */
function sourceCount(plan: Plan): number {
  const { reads } = plan
  if (reads.kind === 'stored') return storedInputs(reads.stored)
  return reads.kind === 'pieces' ? reads.join.audio.length + 1 : 1 + readBursts(plan).length
}

function hasLogo(plan: Plan): boolean {
  return muxedEncodes(plan).some(({ video }) => (video?.logo ?? null) !== null)
}

function drawsBitmaps(plan: Plan): boolean {
  return muxedEncodes(plan).some(({ video }) => video?.bitmaps != null)
}

/** Inputs before the captions of mp4 tracks. */
function videoInputCount(plan: Plan): number {
  return sourceCount(plan) + (hasLogo(plan) ? 1 : 0) + (drawsBitmaps(plan) ? 1 : 0)
}

/** The logo follows the sources: a file that this program wrote, read by one demuxer and one decoder. */
function logoInput(plan: Plan, { logo }: WrittenFiles): string[] {
  if (!hasLogo(plan)) return []
  return [
    ...['-protocol_whitelist', 'file', '-format_whitelist', 'png_pipe', '-codec_whitelist', 'png', '-f', 'png_pipe'],
    ...['-i', fileTarget(logo)],
  ]
}

function outputArgs(plan: Plan, output: OutputPlan, position: number, cores: number | null): string[] {
  const captions = isMp4(output.container) ? tx3gTracks(plan) : []
  return [
    ...['-map', videoSource(plan, output.video, position)],
    ...output.audio.flatMap((track, trackIndex) => ['-map', audioSource(plan, track, `a${position}_${trackIndex}`)]),
    ...plan.subtitles.flatMap(({ pid }) => ['-map', `0:i:${pid}`]),
    ...tx3gMaps(captions, videoInputCount(plan)),
    // No text from the source: titles may be private, and chapters would become a track.
    ...['-map_metadata', '-1', '-map_chapters', '-1'],
    ...videoEncoderArgs(plan, output.video, { cores, inTransportStream: output.container === 'ts' }),
    ...output.audio.flatMap((track, trackIndex) =>
      audioEncoderArgs(track, trackIndex, plan.cut, audioHolderOf(output.container)),
    ),
    ...tailOf(plan, [output.video, ...output.audio], true),
    ...(plan.reads.kind !== 'stored' ? [] : storedTrackArgs(output.audio.length)),
    ...subtitles(plan),
    ...tx3gArgs(captions),
    ...muxers[output.container](output),
  ]
}

/** Nothing after the part is read for copied streams. */
function tailOf(plan: Plan, streams: readonly (VideoPlan | AudioPlan)[], isMultiplexed = false): string[] {
  const hasCopies = streams.some(({ copied }) => copied !== null) || (isMultiplexed && plan.subtitles.length > 0)
  return hasCopies ? copyEndArgs(plan.cut) : []
}

function audioFileArgs(plan: Plan, file: AudioFilePlan, position: number): string[] {
  return [
    ...['-map', audioSource(plan, file.audio, `f${position}`), '-map_metadata', '-1', '-map_chapters', '-1'],
    ...audioEncoderArgs(file.audio, 0, plan.cut, audioHolderOf(file.container)),
    ...tailOf(plan, [file.audio]),
    ...['-fflags', '+bitexact'],
    ...(file.isIntermediate === true ? trackMuxer(file) : audioMuxers[file.container](file)),
  ]
}

/** The encoder's delay and the end of the last frame are exact to the sample, so that a copy has them as well. */
function trackMuxer({ audio }: AudioFilePlan): string[] {
  return [...flacInMp4([audio]), '-movie_timescale', `${audio.sampleRate}`, '-movflags', '+faststart', '-f', 'mp4']
}

/** ac3, eac3, mp2 and ogg: frames, or pages of frames, one after another. */
const audioMuxers: Readonly<Record<AudioFilePlan['container'], (file: AudioFilePlan) => readonly string[]>> = {
  // ipod = mp4 with the brand that .m4a players expect. The edit list counts in the movie's time scale.
  m4a: ({ isExact, audio }) => [
    ...['-movflags', '+faststart', ...(isExact ? ['-movie_timescale', `${audio.sampleRate}`] : [])],
    ...['-f', 'ipod'],
  ],
  ac3: () => ['-f', 'ac3'],
  eac3: () => ['-f', 'eac3'],
  mp2: () => ['-f', 'mp2'],
  // There are no tags. The first frame (Xing, LAME) states the delay and the padding, which players remove.
  mp3: () => ['-id3v2_version', '0', '-f', 'mp3'],
  ogg: () => ['-f', 'ogg'],
  webm: () => ['-f', 'webm'],
  flac: () => ['-f', 'flac'],
  // RF64 (EBU Tech 3306) above 4 GiB, where the 32-bit sizes of WAV end.
  wav: () => ['-rf64', 'auto', '-f', 'wav'],
}

/** Copied unchanged. Their descriptors need the languages, which `-map_metadata -1` removes with the other metadata. */
function subtitles({ subtitles: copied, cut }: Plan): string[] {
  if (copied.length === 0) return []
  return [
    ...['-c:s', 'copy'],
    // What begins before the part is not in it.
    ...(cut === null ? [] : copied.flatMap((_, trackIndex) => [`-copypriorss:s:${trackIndex}`, '0'])),
    ...copied.flatMap(({ languages }, trackIndex) =>
      languages === null ? [] : [`-metadata:s:s:${trackIndex}`, `language=${languages}`],
    ),
  ]
}

/** For transport streams, this program multiplexes ffmpeg's output again. */
const muxers: Readonly<Record<FileContainer, (output: OutputPlan) => readonly string[]>> = {
  mp4: mp4Flags,
  ts: () => encoderStreamArgs,
}

/** ffmpeg 5 calls FLAC in MP4 experimental; later versions write the same. */
function flacInMp4(audio: readonly AudioPlan[]): string[] {
  return audio.some(({ codec }) => codec === 'flac') ? ['-strict', 'experimental'] : []
}

function mp4Flags(output: OutputPlan): string[] {
  return [
    // Leave out tool versions and dates, so that the same plan gives the same bytes.
    ...['-fflags', '+bitexact'],
    ...mp4Tag(output.video),
    ...flacInMp4(output.audio),
    // With a reserve, the header comes first and every later byte is final once written. Without one, ffmpeg moves the
    // header to the front at the end.
    ...(output.headerReserveBytes === null
      ? ['-movflags', '+faststart']
      : ['-moov_size', `${output.headerReserveBytes}`]),
    ...['-f', 'mp4'],
  ]
}

/** `file:` and an absolute path, so that ffmpeg cannot read a colon or a leading dash in a name as anything else. */
function fileTarget(path: string | null | undefined): string {
  if (path != null && /^pipe:\d+$/.test(path)) return path
  if (path == null || !path.startsWith('/')) throw new TypeError('every file needs an absolute path')
  return `file:${path}`
}

function seconds(value: number): string {
  return value.toFixed(6)
}
