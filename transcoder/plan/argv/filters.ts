// In charge of: the filters of one video or audio stream, in order. They contain fixed numbers and names only, no text
// of a job.
// Not in charge of: size and colours (scaleFilters.ts), sharing filters between outputs (filterGraph.ts).
import { audioCutFilters, videoCutFilters } from './cutArgs.ts'
import { rangeFilters, rangeInCut } from './rangeArgs.ts'
import { runOutFrames } from '../video/rangeBuffer.ts'
import { WHITE_NITS, WHITE_SIGNAL } from '../video/hdr.ts'
import { TELECINED_RATE } from '../video/interlacing.ts'
import { TRUE_PEAK_CEILING_DB } from '../audio/loudnessGain.ts'
import type { ChannelMix, AudioPlan } from '#contract/task/plan/audioPlan.ts'
import { audioEncodings } from '../codecs.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { LogoPlan, VideoPlan, PieceVideoPlan } from '#contract/task/plan/videoPlan.ts'
import { swscaleMatrix } from './colorNames.ts'
import { sameRatio } from '../../formats/rational.ts'
import { centre } from '../video/evenNumbers.ts'
import { scaleFilters, toneMapFilters } from './scaleFilters.ts'
import { steadyFilters } from './steadyFrames.ts'

/** How the frames of a source are read: a whole plan, or the plan of a piece. */
export type FrameSource = Pick<Plan, 'cut' | 'picture' | 'fields' | 'scaler'> &
  Partial<Pick<Plan, 'range' | 'packaging'>>

/** mode is always given: bwdif's default is one frame per field. */
function deinterlacer(plan: FrameSource, video: PieceVideoPlan): string[] {
  const { parity, frames, clearFlag } = plan.fields
  switch (video.deinterlace) {
    case 'none':
      // Scalers and encoders would follow the wrong flag.
      return clearFlag ? ['setparams=field_mode=prog'] : []
    case 'frames':
      return [`bwdif=mode=send_frame:parity=${parity}:deint=${frames}`]
    case 'fields':
      return [`bwdif=mode=send_field:parity=${parity}:deint=${frames}`]
    case 'telecine':
      // Fields are matched to the original frames of the film. Frames that stay combed (at an edit) are deinterlaced.
      // One frame in five is a repeat and is dropped. decimate computes times by counting frames: frames that are missing
      // in the source must be filled in first, or all later video would be early.
      return [
        `fps=${TELECINED_RATE.num}/${TELECINED_RATE.den}:start_time=0`,
        `fieldmatch=order=${parity}:combmatch=full`,
        `bwdif=mode=send_frame:parity=${parity}:deint=interlaced`,
        'decimate',
      ]
  }
}

const WEAVE_MODES = { tff: 'interleave_top', bff: 'interleave_bottom' } as const

/** Weaves alternate lines of two frames into one, at half the rate. The low-pass keeps fine lines from flickering. */
function weaveFilter(video: PieceVideoPlan): string[] {
  if (video.scan === 'progressive' || video.deinterlace !== 'fields') return []
  return ['format=yuv420p', `tinterlace=mode=${WEAVE_MODES[video.scan]}:flags=low_pass_filter`]
}

/** Each frame twice, where the codec cannot signal half the rate. */
function repeatFilter({ range }: FrameSource, { frameRate, pictureRate }: PieceVideoPlan): string[] {
  if (sameRatio(frameRate, pictureRate)) return []
  // A range begins with its first frame, whose time is later.
  const begin = range == null ? ':start_time=0' : ''
  return [`fps=${frameRate.num}/${frameRate.den}${begin}`]
}

/** Frames of one kind, deinterlacing and the output's frame rate. */
export function sourceFrameFilters(plan: FrameSource, video: PieceVideoPlan): string[] {
  // Fields that are woven together later are separate frames until then.
  const perFrame = video.scan !== 'progressive' && video.deinterlace === 'fields' ? 2 : 1
  const rate = { num: video.pictureRate.num * perFrame, den: video.pictureRate.den }
  const atEnd = plan.fields.keepsLast ? ':eof_action=pass' : ''
  const framesOfField = video.deinterlace === 'fields' ? 2 : 1
  const range = rangeInCut(plan, rate, runOutFrames(plan, rate))
  const { countedRate } = plan.fields
  return [
    ...steadyFilters(plan.picture),
    ...(countedRate === undefined ? [] : [`setpts=N*${countedRate.den}/(${countedRate.num}*TB)`]),
    ...deinterlacer(plan, video),
    // Before scaling, so that dropped frames cost nothing.
    ...(range === null
      ? videoCutFilters(plan.cut, framesOfField, rate, atEnd)
      : rangeFilters(range, plan.cut, framesOfField, rate, atEnd)),
  ]
}

/** The decoder of an input's video, cover art excepted. */
export function decoderArgs({ picture: { decoder } }: Pick<FrameSource, 'picture'>): string[] {
  return decoder === undefined ? [] : ['-c:V', decoder]
}

/** On black: colours times alpha, at the source's depth; the result has no alpha, which would be scaled for nothing. */
function opaqueFilters({ picture }: Pick<FrameSource, 'picture'>): string[] {
  if (picture.alpha !== true) return []
  const deep = (format: string) => ['', '10', '12', '16'].map((bits) => format + bits).join('|')
  const [input, output] = picture.rgb ? ['gbrap', 'gbrp'] : ['yuva444p', 'yuv444p']
  return [`format=${deep(input)}`, 'premultiply=inplace=1', `format=${deep(output)}`]
}

/** Transparency, rotation, mirroring and cropping. */
export function frameRateFilters(plan: FrameSource, video: PieceVideoPlan): string[] {
  return [...opaqueFilters(plan), ...TRANSPOSE[video.turn], ...FLIP[video.mirror], ...crop(plan, video)]
}

export function videoFilters(plan: FrameSource, video: PieceVideoPlan): string[] {
  const bars = video.pictureWidth !== video.width || video.pictureHeight !== video.height
  return [
    ...sourceFrameFilters(plan, video),
    ...frameRateFilters(plan, video),
    ...toneMapFilters(plan),
    ...scaleFilters(plan, video),
    // Even offsets: chroma has half the resolution.
    ...(bars
      ? [
          `pad=${video.width}:${video.height}:${centre(video.width, video.pictureWidth)}:${centre(video.height, video.pictureHeight)}:color=${limitedRangeGrey(plan, video.barPercent)}`,
        ]
      : []),
    ...weaveFilter(video),
    ...repeatFilter(plan, video),
    ...frameFormat(plan, video),
  ]
}

/** Shape, pixel format and tags of an output's frames. */
export function frameFormat(plan: Pick<FrameSource, 'picture'>, video: PieceVideoPlan): string[] {
  const { color } = video
  const field = video.scan === 'progressive' ? '' : `field_mode=${video.scan}:`
  return [
    // The default limit of 100 would round fractions such as 4096:3645.
    `setsar=${video.sar.num}/${video.sar.den}:max=65535`,
    `format=${plan.picture.hdr === null ? 'yuv420p' : 'yuv420p10le'}`,
    // The same tags as in the encoder's flags (encoderArgs.ts). With 5.1.9 and 7.0 either alone was enough.
    `setparams=${field}range=tv:colorspace=${color.matrix}:color_primaries=${color.primaries}:color_trc=${color.transfer}`,
  ]
}

const TRANSPOSE = {
  0: [],
  90: ['transpose=dir=clock'],
  // A half turn is both mirrors.
  180: ['hflip', 'vflip'],
  270: ['transpose=dir=cclock'],
} as const
const FLIP = { none: [], horizontal: ['hflip'], vertical: ['vflip'] } as const

/** Size in pixels of the upright source after the job's rotation. */
function turnedSize(plan: FrameSource, video: PieceVideoPlan): [width: number, height: number] {
  const { width, height } = plan.picture
  return video.turn === 90 || video.turn === 270 ? [height, width] : [width, height]
}

function crop(plan: FrameSource, video: PieceVideoPlan): string[] {
  const [width, height] = turnedSize(plan, video)
  if (video.cropWidth === width && video.cropHeight === height) return []
  return [`crop=w=${video.cropWidth}:h=${video.cropHeight}`]
}

/**
 * pad converts the colour to limited range: 0xffffff becomes a luma of 235. In HDR that would be far too bright, so the
 * maximum is SDR white.
 */
function limitedRangeGrey({ picture: { hdr } }: FrameSource, percent: number): string {
  const white = hdr === null ? 1 : WHITE_SIGNAL[hdr.transfer]
  const level = Math.round((percent * 255 * white) / 100)
    .toString(16)
    .padStart(2, '0')
  return level === '00' ? 'black' : `0x${level.repeat(3)}`
}

/** The mix of a track that is encoded. */
export function mixOf({ mix }: AudioPlan): ChannelMix {
  return mix!
}

/** `isMixed`: the channels are those of the output already (steadyAudio.ts). */
export function audioFilters(audio: AudioPlan, part: CutPlan | null = null, isMixed = false): string[] {
  const { silenceUntilSeconds } = audio
  const mix = mixOf(audio)
  const { surrounds } = audioEncodings[audio.codec]
  const [aligned, ...mixed] = isMixed
    ? mixedFilters(audio.sampleRate, mix, surrounds)
    : panFilter(audio.sampleRate, mix, surrounds)
  const silence = silenceUntilSeconds === 0 ? [] : [`apad=whole_dur=${silenceUntilSeconds}`]
  const cut = audioCutFilters(part, audio.sampleRate)
  return [aligned, ...cut, ...silence, ...mixed, ...volume(audio, mix.limited)]
}

/**
 * A source's audio at the outputs' sample rate and channels. Gaps become silence, and the first sample is at 0 with the
 * first frame. Float samples and explicit gains: a resampler that ffmpeg inserts would choose both by the encoder that
 * follows. `surrounds`: see plan/codecs.ts.
 */
export function panFilter(
  sampleRate: number,
  mix: ChannelMix,
  surrounds: Surrounds,
): [aligned: string, ...mixed: string[]] {
  return [alignFilter(sampleRate), 'aformat=sample_fmts=fltp', ...mixFilters(mix, surrounds)]
}

/** The same for samples that have the output's channels: a pipe does not carry the names of six. */
export function mixedFilters(
  sampleRate: number,
  { gains }: ChannelMix,
  surrounds: Surrounds,
): [aligned: string, ...mixed: string[]] {
  const kept = Object.keys(gains).map((_output, index) => `c${index}=c${index}`)
  return [alignFilter(sampleRate), `pan=${[mixLayout(gains, surrounds), ...kept].join('|')}`]
}

type Surrounds = 'side' | 'back'

/**
 * A gap or an overlap is corrected once it moves the sound by this much: EBU R 37 allows 40 ms early, and ffmpeg's own 0.1 is
 * seen. Time stamps of recordings are uneven by less.
 */
export const MOST_SHIFT_SECONDS = 0.04

export function alignFilter(sampleRate: number): string {
  return `aresample=${sampleRate}:async=1:min_hard_comp=${MOST_SHIFT_SECONDS}:first_pts=0`
}

export function mixFilters({ gains, from }: ChannelMix, surrounds: Surrounds): string[] {
  const named = (output: string) => (surrounds === 'back' ? output.replace(/^S/, 'B') : output)
  const terms = Object.entries(gains).map(([output, shares]) => `${named(output)}=${panTerms(shares)}`)
  return [...chosenChannels(from), `pan=${[mixLayout(gains, surrounds), ...terms].join('|')}`]
}

function mixLayout(gains: ChannelMix['gains'], surrounds: Surrounds): string {
  return Object.keys(gains).length === 2 ? 'stereo' : surrounds === 'side' ? '5.1(side)' : '5.1'
}

const CHOSEN_LAYOUTS: Readonly<Record<number, string>> = { 1: 'mono', 2: 'stereo', 6: '5.1(side)' }

/** Channels of one stream. The channels of several streams are put together before (audioSources.ts). */
function chosenChannels(from: ChannelMix['from']): string[] {
  if (from === undefined || from.channels.some(({ stream }) => stream !== from.longest)) return []
  const { channels } = from
  return [
    `pan=${[CHOSEN_LAYOUTS[channels.length], ...channels.map(({ channel }, at) => `c${at}=c${channel - 1}`)].join('|')}`,
  ]
}

/** `FL+0.5*FC-0.5*SL`. */
function panTerms(shares: Record<string, number>): string {
  return Object.entries(shares)
    .map(([name, gain], index) => {
      const sign = gain < 0 ? '-' : index === 0 ? '' : '+'
      return Math.abs(gain) === 1 ? `${sign}${name}` : `${sign}${Math.abs(gain)}*${name}`
    })
    .join('')
}

function volume(audio: AudioPlan, limited: boolean): string[] {
  if (audio.loudness !== null) {
    const { gainDb, limited: peaks } = audio.loudness
    if (peaks) return limiter(gainDb, TRUE_PEAK_CEILING_DB, audio.sampleRate)
    return gainDb === 0 ? [] : [`volume=${gainDb}dB`]
  }
  const gain = audio.volumePercent === 100 ? [] : [`volume=${audio.volumePercent / 100}`]
  // A sum of channels may exceed full scale by 7.7 dB, and the codec adds to that.
  if (limited && audio.volumePercent > 0) return [...gain, ...limit(TRUE_PEAK_CEILING_DB, audio.sampleRate)]
  // A gain above 100 % may clip.
  return audio.volumePercent > 100 ? [...gain, ...limit(-1, audio.sampleRate)] : gain
}

/** A gain, followed by a limiter for true peaks; both levels in dB. */
export function limiter(gainDb: number, ceilingDb: number, sampleRate: number): string[] {
  return [`volume=${gainDb}dB`, ...limit(ceilingDb, sampleRate)]
}

/** A limiter for true peaks, without delay. Four times the sample rate shows the peaks between samples. */
function limit(ceilingDb: number, sampleRate: number): string[] {
  const ceiling = (10 ** (ceilingDb / 20)).toFixed(6)
  return [`aresample=${sampleRate * 4}`, `alimiter=limit=${ceiling}:level=0:latency=1`, `aresample=${sampleRate}`]
}

/** The logo in one output's size, opacity and matrix. Otherwise overlay would choose the matrix of its conversion. */
export function logoFilters(plan: Plan, video: VideoPlan, logo: LogoPlan): string[] {
  if (plan.picture.hdr !== null) return hdrLogo(plan, plan.picture.hdr.transfer, video, logo)
  const matrix = swscaleMatrix(video.color.matrix)
  return [
    'format=rgba',
    ...(logo.opacity === 1 ? [] : [`colorchannelmixer=aa=${logo.opacity}`]),
    `scale=w=${logo.width}:h=${logo.height}:flags=lanczos+accurate_rnd+full_chroma_int:out_color_matrix=${matrix}:out_range=limited`,
    'format=yuva420p',
  ]
}

/** The logo's white at 203 cd/m², the level of SDR white in HDR (ITU-R BT.2408). */
export function hdrLogo(
  plan: Plan,
  transfer: keyof typeof WHITE_SIGNAL,
  { color }: VideoPlan,
  { width, height, opacity }: Pick<LogoPlan, 'width' | 'height' | 'opacity'>,
): string[] {
  const size = `w=${width}:h=${height}`
  const faded = opacity === 1 ? [] : [`colorchannelmixer=aa=${opacity}`]
  if (plan.scaler === 'zscale')
    return [
      'format=rgba',
      ...faded,
      'format=gbrap',
      `zscale=${size}:filter=lanczos:pin=bt709:tin=bt709:rin=full:p=bt2020:t=${transfer}:m=${color.matrix}:r=limited:npl=${WHITE_NITS}`,
      'format=yuva420p10le',
    ]
  // Without zscale the levels are only lowered: white is right, greys come out darker.
  const white = WHITE_SIGNAL[transfer]
  return [
    'format=rgba',
    `colorchannelmixer=rr=${white}:gg=${white}:bb=${white}:aa=${opacity}`,
    `scale=${size}:flags=lanczos+accurate_rnd+full_chroma_int:out_color_matrix=bt2020:out_range=limited`,
    'format=yuva420p10le',
  ]
}

/** repeat: the logo's only frame stays until the video ends. */
export function overlay({ picture }: Plan, logo: LogoPlan): string {
  return `overlay=x=${logo.x}:y=${logo.y}:format=${picture.hdr === null ? 'yuv420' : 'yuv420p10'}:eof_action=repeat`
}
