// In charge of: the flags of each encoder.
// Not in charge of: choosing rate, GOP or size (planJob.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { audioCodecs } from '#contract/codecs.ts'
import { videoEncodings, audioEncodings } from '../codecs.ts'
import { audioTagArgs, copyAudioArgs, copyVideoArgs, type AudioHolder } from './copyArgs.ts'
import { encoderTransfer } from './colorNames.ts'
import { masterDisplay } from '../video/hdr.ts'
import { rangeFrames } from '../model/encodedRange.ts'
import type { RangeBuffer } from '../video/rangeBuffer.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/** One argument holds 128 KiB (Linux, MAX_ARG_STRLEN). A frame takes about 35 bytes of an expression, and a time 12. */
const MAX_LISTED_FRAMES = 2000

/**
 * Key frames at every GOP and at every splice point. A forced key frame restarts the encoder's own GOP count, so the
 * GOP grid is forced as well: one GOP becomes shorter and all others keep their positions.
 */
function keyFrameArgs(plan: Plan, video: VideoPlan): string[] {
  const { gopFrames, frameRate } = video
  const spliceFrames = splicesOf(plan, video)
  // The encoder counts its GOPs from each of them.
  if (spliceFrames.length > MAX_LISTED_FRAMES)
    return ['-force_key_frames', spliceFrames.map((n) => ((n * frameRate.den) / frameRate.num).toFixed(6)).join(',')]
  const before = framesBefore(plan, video)
  const grid = `eq(mod(n${before === 0 ? '' : `+${before}`},${gopFrames}),0)`
  return ['-force_key_frames', `expr:${spliceFrames.length === 0 ? grid : `${grid}+${frameExpression(spliceFrames)}`}`]
}

/** The encoder's own GOPs are not the wanted ones. */
function needsKeyFrames(plan: Plan, video: VideoPlan): boolean {
  return splicesOf(plan, video).length > 0 || framesBefore(plan, video) > 0
}

/** Frames of the GOP in which the output begins, before it: a sample may begin in the middle of one. */
function framesBefore(plan: Plan, { gopFrames, frameRate }: VideoPlan): number {
  return (rangeFrames(plan, frameRate)?.first ?? 0) % gopFrames
}

/** The encoder counts the frames of a range from its beginning, which is a key frame anyway. */
function splicesOf(plan: Plan, { spliceFrames, frameRate }: VideoPlan): number[] {
  const range = rangeFrames(plan, frameRate)
  if (range === null) return spliceFrames
  return spliceFrames
    .filter((frame) => frame > range.first && (range.end === null || frame < range.end))
    .map((frame) => frame - range.first)
}

/** 1 where n is one of the ascending numbers. A binary search, because ffmpeg evaluates it for every frame. */
function frameExpression(frames: readonly number[]): string {
  if (frames.length === 1) return `eq(n,${frames[0]})`
  const middle = frames.length >> 1
  return `if(lt(n,${frames[middle]}),${frameExpression(frames.slice(0, middle))},${frameExpression(frames.slice(middle))})`
}

/** How an encode is run, beside what its output is. */
export interface EncoderSettings {
  /** See ArgvTargets (ffmpegArgs.ts). */
  cores: number | null
  /** In place of the average bitrate; null or missing = the bitrate. */
  rateFactor?: number | null | undefined
  /** Fullness of the decoder's buffer, for a range (rangeBuffer.ts). */
  buffer?: RangeBuffer | null | undefined
  /** The output is a transport stream, and nothing else. */
  inTransportStream?: boolean
}

/** Flags for the output's only video stream. */
export function videoEncoderArgs(plan: Plan, video: VideoPlan, settings: EncoderSettings): string[] {
  if (video.copied !== null)
    return copyVideoArgs(video, plan.cut, { inTransportStream: settings.inTransportStream === true })
  return [...encoder(video), ...ENCODER_ARGS[video.codec](plan, video, settings), ...colorTagArgs(video)]
}

function encoder({ codec, quality }: VideoPlan): string[] {
  const { encoder: name, presets: PRESETS } = videoEncodings[codec]
  return ['-c:v', name, ...(PRESETS === null ? [] : ['-preset', PRESETS[quality]])]
}

const ENCODER_ARGS: Record<VideoPlan['codec'], (plan: Plan, video: VideoPlan, settings: EncoderSettings) => string[]> =
  {
    h264: (plan, video, { rateFactor, buffer }) => [
      ...['-profile:v', 'high'],
      // Exact GOPs: no key frame off the grid, and none at a scene cut.
      ...['-g', `${video.gopFrames}`, '-keyint_min', `${video.gopFrames}`, '-sc_threshold', '0'],
      // They must be IDR frames. Without -forced-idr an encoder may write any intra frame.
      ...(needsKeyFrames(plan, video) ? [...keyFrameArgs(plan, video), '-forced-idr', '1'] : []),
      // Closed GOPs: no frame refers across a key frame, so the stream can be cut there.
      ...['-flags', `+cgop${interlacedParams(video)}`],
      // b_strategy 0: anchors exactly ip_distance apart; otherwise the encoder chooses their positions.
      ...['-bf', `${video.bFrames}`, '-b_strategy', '0'],
      ...rateControlArgs(video, rateFactor),
      // HRD-signalled CBR with filler; maxrate alone falls to 5 kbps on black.
      ...(video.mode === 'cbr' ? ['-minrate', `${video.bitrateKbps}k`] : []),
      ...x264Params(plan, video, buffer),
      // x264 carries captions by default.
      ...(video.captions ? [] : ['-a53cc', '0']),
    ],
    hevc: (plan, video, { cores, rateFactor, buffer }) => {
      const gop = `keyint=${video.gopFrames}:min-keyint=${video.gopFrames}:scenecut=0:open-gop=0`
      const bFrameParams = `bframes=${video.bFrames}:b-adapt=0:b-pyramid=0`
      // x265 fills up to the rate only with strict-cbr and HRD.
      const constant =
        video.mode === 'cbr'
          ? `:strict-cbr=1:hrd=1:vbv-maxrate=${video.bitrateKbps}:vbv-bufsize=${video.bufferBits / 1000}`
          : ''
      const initial = buffer?.initial == null ? '' : `:vbv-init=${buffer.initial}`
      // x265 has its own thread pool, which ffmpeg's -threads does not control.
      const pool = cores === null ? '' : `:pools=${cores}`
      return [
        ...(plan.picture.hdr === null ? [] : ['-profile:v', 'main10']),
        // Without it x265 writes half of its key frames as CRA, which does not close the GOP.
        ...['-forced-idr', '1'],
        ...(needsKeyFrames(plan, video) ? keyFrameArgs(plan, video) : []),
        // x265 prints a report at its default log level. In transport streams it repeats a message of 2.4 kB with its own
        // settings at each key frame, which its rate control does not count: 409 kbps for 400.
        ...[
          '-x265-params',
          `log-level=error:info=0${pool}:${gop}:${bFrameParams}${constant}${initial}${hdrParams(plan)}`,
        ],
        ...rateControlArgs(video, rateFactor),
        // The default differs between versions (on in 7.0, off in 7.1), and 5.1 has no such option.
        ...(plan.hevcCaptionsOption ? ['-a53cc', video.captions ? '1' : '0'] : []),
      ]
    },
    mpeg2: (plan, video) => [
      // -g N with B-frames gives GOPs of N-1 and N-2 frames; forced key frames are exact. 600 is the encoder's own limit.
      ...['-g', '600', ...keyFrameArgs(plan, video)],
      ...['-bf', `${video.bFrames}`, '-b_strategy', '0'],
      // mpeg2video reads 0 as "choose automatically".
      ...['-sc_threshold', '1000000000', '-flags', `+cgop${interlacedParams(video)}`],
      ...rateControlArgs(video, null),
      ...(isShort(plan, video) ? ['-bt', `${video.bitrateKbps / SHORT.mpeg2Divisor}k`] : []),
      ...(video.mode === 'cbr' ? ['-minrate', `${video.bitrateKbps}k`] : []),
      ...(video.captions ? [] : ['-a53cc', '0']),
    ],
  }

/**
 * A short vbr clip ends before the rate control has returned to the average: with the default tolerance 5 s were 7 to
 * 10 % off, with these values 1 to 3 %. Longer clips need no correction. x265 has no such setting.
 */
const SHORT = { seconds: 30, h264Tolerance: 0.25, mpeg2Divisor: 6 } as const

function isShort(plan: Plan, video: VideoPlan): boolean {
  return video.mode === 'vbr' && plan.durationSeconds !== null && plan.durationSeconds < SHORT.seconds
}

/** Static HDR10 metadata in the video stream itself, which every container preserves. */
function hdrParams({ picture: { hdr } }: Plan): string {
  if (hdr === null) return ''
  const { masteringDisplay, contentLight } = hdr
  return [
    // Declares the stream HDR10, so that x265 writes the HDR SEI messages.
    hdr.transfer === 'smpte2084' ? ':hdr10=1' : '',
    masteringDisplay === null ? '' : `:master-display=${masterDisplay(masteringDisplay)}`,
    contentLight === null ? '' : `:max-cll=${contentLight.maximum},${contentLight.average}`,
  ].join('')
}

/** Interlaced motion estimation and interlaced DCT. */
function interlacedParams(video: VideoPlan): string {
  return video.scan === 'progressive' ? '' : '+ilme+ildct'
}

/**
 * The quantiser 51 is not reached: at a constant rate, the encoder lowers it as soon as the buffer is filled to four
 * fifths.
 */
function bufferParams(buffer: RangeBuffer | null | undefined): string[] {
  if (buffer == null) return []
  const { initial, saving } = buffer
  return [
    ...(initial === null ? [] : [`vbv-init=${initial}`]),
    ...(saving === null ? [] : [`zones=${saving.first},${saving.last},q=51`]),
  ]
}

function x264Params(plan: Plan, video: VideoPlan, buffer: RangeBuffer | null | undefined): string[] {
  const params = [
    ...(isShort(plan, video) ? [`ratetol=${SHORT.h264Tolerance}`] : []),
    ...(video.mode === 'cbr' ? ['nal-hrd=cbr', 'force-cfr=1'] : []),
    ...bufferParams(buffer),
    // Set here as well as on the frames: ffmpeg versions differ in which of the two they follow.
    ...(video.scan === 'progressive' ? [] : [`${video.scan}=1`]),
  ]
  return params.length === 0 ? [] : ['-x264-params', params.join(':')]
}

function rateControlArgs(video: VideoPlan, rateFactor: number | null | undefined): string[] {
  const target = targetArgs(video, rateFactor)
  return [...target, '-maxrate', `${video.maxKbps}k`, '-bufsize', `${video.bufferBits}`]
}

function targetArgs({ codec, mode, bitrateKbps }: VideoPlan, rateFactor: number | null | undefined): readonly string[] {
  if (mode === 'qvbr') return videoEncodings[codec].CONSTANT_QUALITY
  return rateFactor == null ? ['-b:v', `${bitrateKbps}k`] : ['-crf', `${rateFactor}`]
}

/** The same tags as on the frames (filters.ts), because ffmpeg versions differ in which of the two they follow. */
function colorTagArgs(video: VideoPlan): string[] {
  const { matrix, primaries, transfer } = video.color
  return [
    ...['-colorspace', matrix, '-color_primaries', primaries],
    ...['-color_trc', encoderTransfer(transfer), '-color_range', 'tv'],
  ]
}

/** The sample entry, where players do not accept the muxer's default. */
export function mp4Tag({ codec }: VideoPlan): string[] {
  const tag = videoEncodings[codec].mp4Tag
  return tag === null ? [] : ['-tag:v', tag]
}

const PCM_ENCODERS = { 16: 'pcm_s16le', 24: 'pcm_s24le' } as const

function audioEncoder({ codec, bitDepth }: AudioPlan): string {
  return codec === 'pcm' ? PCM_ENCODERS[bitDepth ?? 16] : audioEncodings[codec].encoder
}

function hasBitrate({ codec }: AudioPlan): boolean {
  return audioCodecs[codec].bitrates !== null
}

/** FLAC encodes 24 bits from samples of 32. The filters deliver float, which holds 24 bits exactly. */
function sampleFormatArgs({ codec, bitDepth }: AudioPlan, position: number): string[] {
  if (codec !== 'flac') return []
  return bitDepth === 24
    ? [`-sample_fmt:a:${position}`, 's32', `-bits_per_raw_sample:a:${position}`, '24']
    : [`-sample_fmt:a:${position}`, 's16']
}

/** Flags for the output's audio stream number `position`. */
export function audioEncoderArgs(
  audio: AudioPlan,
  position: number,
  cut: CutPlan | null,
  holder: AudioHolder,
): string[] {
  if (audio.copied !== null) return copyAudioArgs(audio, position, cut, holder)
  return [
    ...[`-c:a:${position}`, audioEncoder(audio)],
    ...(hasBitrate(audio) ? [`-b:a:${position}`, `${audio.bitrateKbps}k`] : sampleFormatArgs(audio, position)),
    // AC-3 states the dialogue level. Receivers lower the whole programme by its distance from −31 dB.
    ...(audio.dialnorm === null ? [] : [`-dialnorm:a:${position}`, `${-audio.dialnorm}`]),
    ...audioTagArgs(audio, position),
  ]
}
