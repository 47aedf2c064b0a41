// In charge of: the flags of each encoder.
// Not in charge of: which rate, GOP or size (planJob.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { videoEncodings, audioEncodings } from '../codecs.ts'
import { encoderTransfer } from './colorNames.ts'
import { masterDisplay } from '../video/hdr.ts'
import type { AudioPlan, Plan, VideoPlan } from '../model/plan.ts'

/**
 * Key frames at every GOP and at every splice point. The encoder's own count starts again at a splice point; the grid is forced
 * as well, so that one GOP is shorter and all others stay where they are.
 */
function keyFrameArgs(video: VideoPlan): string[] {
  const { gopFrames, spliceFrames } = video
  const grid = `eq(mod(n,${gopFrames}),0)`
  return ['-force_key_frames', `expr:${spliceFrames.length === 0 ? grid : `${grid}+${frameExpression(spliceFrames)}`}`]
}

/** 1 where n is one of the ascending numbers: halved again and again, since ffmpeg evaluates it for every picture. */
function frameExpression(frames: readonly number[]): string {
  if (frames.length === 1) return `eq(n,${frames[0]})`
  const middle = frames.length >> 1
  return `if(lt(n,${frames[middle]}),${frameExpression(frames.slice(0, middle))},${frameExpression(frames.slice(middle))})`
}

/** Flags for the output's only video stream. `cores`: see Ends (ffmpegArgs.ts). */
export function videoEncoderArgs(plan: Plan, video: VideoPlan, cores?: number): string[] {
  return [...encoder(video), ...ENCODER_ARGS[video.codec](plan, video, cores), ...colorTagArgs(video)]
}

function encoder({ codec, quality }: VideoPlan): string[] {
  const { encoder: name, presets: PRESETS } = videoEncodings[codec]
  return ['-c:v', name, ...(PRESETS === null ? [] : ['-preset', PRESETS[quality]])]
}

const ENCODER_ARGS: Record<VideoPlan['codec'], (plan: Plan, video: VideoPlan, cores?: number) => string[]> = {
  h264: (plan, video) => [
    ...['-profile:v', 'high'],
    // Exact GOPs: no key frame before or after its place, none at a scene cut.
    ...['-g', `${video.gopFrames}`, '-keyint_min', `${video.gopFrames}`, '-sc_threshold', '0'],
    // Splice points: IDR pictures, where -forced-idr is not given an encoder may write any intra picture.
    ...(video.spliceFrames.length === 0 ? [] : [...keyFrameArgs(video), '-forced-idr', '1']),
    // Closed: no picture refers across a key frame, so that one can cut there.
    ...['-flags', `+cgop${interlacedParams(video)}`],
    // b_strategy 0: anchors exactly ip_distance apart instead of where the encoder likes them.
    ...['-bf', `${video.bFrames}`, '-b_strategy', '0'],
    ...rateControlArgs(video),
    // HRD-signalled CBR with filler; maxrate alone falls to 5 kbps on black.
    ...(video.mode === 'cbr' ? ['-minrate', `${video.bitrateKbps}k`] : []),
    ...x264Params(plan, video),
    // x264 carries captions unless told otherwise.
    ...(video.captions ? [] : ['-a53cc', '0']),
  ],
  hevc: (plan, video, cores) => {
    const gop = `keyint=${video.gopFrames}:min-keyint=${video.gopFrames}:scenecut=0:open-gop=0`
    const pictures = `bframes=${video.bFrames}:b-adapt=0:b-pyramid=0`
    // strict-cbr with HRD is what makes x265 fill up to the rate.
    const constant =
      video.mode === 'cbr'
        ? `:strict-cbr=1:hrd=1:vbv-maxrate=${video.bitrateKbps}:vbv-bufsize=${video.bufferBits / 1000}`
        : ''
    // Its threads are a pool of its own, for which ffmpeg's -threads means nothing.
    const pool = cores === undefined ? '' : `:pools=${cores}`
    return [
      ...(plan.picture.hdr === null ? [] : ['-profile:v', 'main10']),
      // Without it x265 writes half of its key frames as CRA, which is not a closed GOP.
      ...['-forced-idr', '1'],
      ...(video.spliceFrames.length === 0 ? [] : keyFrameArgs(video)),
      // x265 prints a report at its default log level.
      ...['-x265-params', `log-level=error${pool}:${gop}:${pictures}${constant}${hdrParams(plan)}`],
      ...rateControlArgs(video),
      // The default differs between versions (on in 7.0, off in 7.1), and 5.1 has no such option.
      ...(plan.hevcCaptionsOption ? ['-a53cc', video.captions ? '1' : '0'] : []),
    ]
  },
  mpeg2: (plan, video) => [
    // -g N with B-frames gives GOPs of N-1 and N-2 frames; forced key frames are exact. 600 is the encoder's own limit.
    ...['-g', '600', ...keyFrameArgs(video)],
    ...['-bf', `${video.bFrames}`, '-b_strategy', '0'],
    // mpeg2video reads 0 as "decide by yourself".
    ...['-sc_threshold', '1000000000', '-flags', `+cgop${interlacedParams(video)}`],
    ...rateControlArgs(video),
    ...(isShort(plan, video) ? ['-bt', `${video.bitrateKbps / SHORT.mpeg2Divisor}k`] : []),
    ...(video.mode === 'cbr' ? ['-minrate', `${video.bitrateKbps}k`] : []),
    ...(video.captions ? [] : ['-a53cc', '0']),
  ],
}

/**
 * vbr of a short clip ends before the encoder's usual tolerance has come back to the average: 5 s came out 7 to 10 % off, and 1 to
 * 3 % with these. Longer ones come back by themselves. x265 has no such setting.
 */
const SHORT = { seconds: 30, h264Tolerance: 0.25, mpeg2Divisor: 6 } as const

function isShort(plan: Plan, video: VideoPlan): boolean {
  return video.mode === 'vbr' && plan.durationSeconds !== null && plan.durationSeconds < SHORT.seconds
}

/** Static metadata of HDR10, in the stream itself, where every container keeps it. */
function hdrParams({ picture: { hdr } }: Plan): string {
  if (hdr === null) return ''
  const { masteringDisplay, contentLight } = hdr
  return [
    // Tells x265 that the stream is HDR10 and that its messages are to be written.
    hdr.transfer === 'smpte2084' ? ':hdr10=1' : '',
    masteringDisplay === null ? '' : `:master-display=${masterDisplay(masteringDisplay)}`,
    contentLight === null ? '' : `:max-cll=${contentLight.maximum},${contentLight.average}`,
  ].join('')
}

/** Both: motion between fields, and transforms within them. */
function interlacedParams(video: VideoPlan): string {
  return video.scan === 'progressive' ? '' : '+ilme+ildct'
}

function x264Params(plan: Plan, video: VideoPlan): string[] {
  const params = [
    ...(isShort(plan, video) ? [`ratetol=${SHORT.h264Tolerance}`] : []),
    ...(video.mode === 'cbr' ? ['nal-hrd=cbr', 'force-cfr=1'] : []),
    // Said here as well as on the pictures, since versions differ in which of the two they follow.
    ...(video.scan === 'progressive' ? [] : [`${video.scan}=1`]),
  ]
  return params.length === 0 ? [] : ['-x264-params', params.join(':')]
}

function rateControlArgs(video: VideoPlan): string[] {
  const target =
    video.mode === 'qvbr' ? videoEncodings[video.codec].CONSTANT_QUALITY : ['-b:v', `${video.bitrateKbps}k`]
  return [...target, '-maxrate', `${video.maxKbps}k`, '-bufsize', `${video.bufferBits}`]
}

/** The same tags as on the frames (filters.ts), so that no version's choice between the two can matter. */
function colorTagArgs(video: VideoPlan): string[] {
  const { matrix, primaries, transfer } = video.color
  return [
    ...['-colorspace', matrix, '-color_primaries', primaries],
    ...['-color_trc', encoderTransfer(transfer), '-color_range', 'tv'],
  ]
}

/** The sample entry, where the muxer's default is none that players take. */
export function mp4Tag({ codec }: VideoPlan): string[] {
  const tag = videoEncodings[codec].mp4Tag
  return tag === null ? [] : ['-tag:v', tag]
}

/** Flags for the output's audio stream number `position`. */
export function audioEncoderArgs(audio: AudioPlan, position: number): string[] {
  return [
    ...[`-c:a:${position}`, audioEncodings[audio.codec].encoder, `-b:a:${position}`, `${audio.bitrateKbps}k`],
    // AC-3 states where dialogue lies; receivers turn the whole programme down by what is missing to 31.
    ...(audio.dialnorm === null ? [] : [`-dialnorm:a:${position}`, `${-audio.dialnorm}`]),
    ...(audio.language === null ? [] : [`-metadata:s:a:${position}`, `language=${audio.language}`]),
  ]
}
