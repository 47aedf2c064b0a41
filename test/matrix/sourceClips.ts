// In charge of: the clips that rows are measured on: generated, so that the expected outputs are known.
// Not in charge of: when they are made (runner.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { makeTestCard } from '../support/media/testCard.ts'
import { makeMovingBar } from '../support/media/interlacedClip.ts'
import { ffmpeg, lavfi, makeClip } from '../support/media/media.ts'
import { cueAtSeconds, makeCueClip } from '../support/mpegts/cueClips.ts'
import { spliceInsert } from '../support/mpegts/spliceSections.ts'
import { makeCaptionedClip } from '../support/captions/captionedClip.ts'

type Maker = (file: (name: string) => string) => Promise<string>

const TICKS = 90_000
const coding = (codec: string) => ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', codec]
const GREY = lavfi('color=gray:s=64x64:r=25:d=2')

/** Frequency in Hz of each channel of `surround`: FL, FR, FC, LFE, SL, SR. */
export const SURROUND_HZ = [400, 600, 900, 60, 1300, 1700] as const
/** Frequency in Hz of audio stream `index` + 1 of `tracks`. */
export const trackHz = (index: number) => 300 + 200 * index
/** The luma of `hdr`: grey in PQ, 10 bits. */
export const HDR_LUMA = 500
/** The splice time of `cues` in seconds. */
export const SPLICE_SECONDS = 1.52
/** The caption text of `captions`. */
export const CAPTION = 'HELLO MATRIX'

const makers = {
  /** 2 s of 320 × 180 at 25 fps, stereo. */
  plain: (file) => makeClip(file('plain.mp4'), { seconds: 2 }),
  /** The same at 64 × 64, which encodes faster. */
  small: (file) => makeClip(file('small.mp4'), { seconds: 2, width: 64, height: 64 }),
  /** Four quarters: red, green, blue, white. */
  card: (file) => makeTestCard(file('card.mp4')),
  grey: (file) => makeClip(file('grey.mp4'), { picture: 'color=c=gray', seconds: 0.6, audio: [] }),
  /** White, except for the left eighth, which is black. */
  banded: (file) =>
    makeClip(file('banded.mp4'), {
      picture: 'color=c=white',
      filters: 'drawbox=x=0:y=0:w=40:h=180:c=black:t=fill',
      seconds: 0.2,
      audio: [],
    }),
  /** HDR10: grey in PQ and BT.2020. */
  hdr: async (file) => {
    const picture = `color=gray:s=320x180:r=25:d=0.4,format=yuv420p10le,geq=lum=${HDR_LUMA}:cb=512:cr=512`
    const encoder = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error:lossless=1']
    const tags = '-colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084 -color_range tv'.split(' ')
    await ffmpeg([...lavfi(picture), ...encoder, ...tags, file('hdr.ts')])
    return file('hdr.ts')
  },
  /** SDR in the primaries and the matrix of BT.2020. */
  wide: async (file) => {
    const tags = '-colorspace bt2020nc -color_primaries bt2020 -color_trc bt709 -color_range tv'.split(' ')
    await ffmpeg([...lavfi('color=gray:s=320x180:r=25:d=0.4'), ...coding('aac'), ...tags, file('wide.ts')])
    return file('wide.ts')
  },
  /** 321 × 181. */
  uneven_size: async (file) => {
    const encoder = '-c:v ffv1 -pix_fmt yuv444p'.split(' ')
    await ffmpeg([...lavfi('testsrc=s=321x181:r=25:d=0.4'), ...encoder, file('uneven_size.mkv')])
    return file('uneven_size.mkv')
  },
  /** 2.35:1. */
  scope: (file) => makeClip(file('scope.mp4'), { width: 376, height: 160, seconds: 0.4, audio: [] }),
  /** No video. */
  song: async (file) => {
    await ffmpeg([...lavfi('sine=f=440:r=48000:d=2'), '-c:a', 'aac', file('song.m4a')])
    return file('song.m4a')
  },
  /** One frame, to be scaled up to very large sizes. */
  single: (file) => makeClip(file('single.mp4'), { seconds: 0.04, audio: [] }),
  /** The same with frames for two chunks. */
  few: (file) => makeClip(file('few.mp4'), { seconds: 0.24, audio: [] }),
  /** 61 s at 5 fps. */
  long: (file) => makeClip(file('long.mp4'), { width: 64, height: 64, rate: '5', seconds: 61, audio: [] }),
  /** 26 fps, which is not a standard rate. */
  odd: (file) => makeClip(file('odd.mp4'), { rate: '26', seconds: 2, audio: [] }),
  /** Scene changes every 0.4 s, at which encoders would insert key frames. */
  changes: (file) =>
    makeClip(file('changes.mp4'), { seconds: 3, audio: [], filters: "negate=enable='lt(mod(t,0.8),0.4)'" }),
  /** 4 s of black, 4 s of noise. */
  uneven: async (file) => {
    const picture = "color=black:s=320x180:r=25:d=8,noise=alls=100:allf=t:enable='gte(t,4)'"
    await ffmpeg([...lavfi(picture), ...coding('aac'), '-qp', '10', file('uneven.mkv')])
    return file('uneven.mkv')
  },
  /** Full HD that is hard to encode, 10 s at 5 fps. */
  hd: async (file) => {
    const picture = 'testsrc2=s=1920x1080:r=5:d=10,noise=alls=40:allf=t'
    await ffmpeg([...lavfi(picture), ...coding('aac'), '-qp', '18', file('hd.mkv')])
    return file('hd.mkv')
  },
  /** Fine detail in motion. */
  detail: async (file) => {
    const picture = 'mandelbrot=s=640x360:r=25:start_scale=0.6:end_scale=0.2:end_pts=50'
    await ffmpeg([...lavfi(picture), '-t', '2', ...coding('aac'), '-qp', '8', file('detail.mkv')])
    return file('detail.mkv')
  },
  /** 997 Hz at a quarter of full scale. */
  tone: async (file) => {
    const wave = '0.25*sin(2*PI*997*t)'
    const audioInput = lavfi(`aevalsrc=exprs=${wave}|${wave}:s=48000:d=2`)
    await ffmpeg([...GREY, ...audioInput, ...coding('pcm_s16le'), file('tone.mkv')])
    return file('tone.mkv')
  },
  /** Eight audio streams, each with a different tone. */
  tracks: async (file) => {
    const tones = Array.from({ length: 8 }, (_, index) => lavfi(`sine=f=${trackHz(index)}:r=48000:d=2`))
    const maps = Array.from({ length: 9 }, (_, index) => ['-map', `${index}`])
    await ffmpeg([...GREY, ...tones.flat(), ...maps.flat(), ...coding('mp2'), '-ac', '2', file('tracks.ts')])
    return file('tracks.ts')
  },
  /** 5.1 with a different tone in each channel. */
  surround: async (file) => {
    const exprs = SURROUND_HZ.map((hertz) => `0.2*sin(2*PI*${hertz}*t)`).join('|')
    const sound = lavfi(`aevalsrc=exprs=${exprs}:channel_layout=5.1:s=48000:d=2`)
    await ffmpeg([...GREY, ...sound, ...coding('pcm_s16le'), file('surround.mkv')])
    return file('surround.mkv')
  },
  /** Sawtooth waves: overtones up to the top, which encoders cannot replace by synthetic noise. */
  saws: async (file) => {
    const sound = lavfi('aevalsrc=exprs=0.6*(mod(t*97\\,1)-0.5)|0.6*(mod(t*131\\,1)-0.5):s=48000:d=4')
    await ffmpeg([...lavfi('color=gray:s=64x64:r=25:d=4'), ...sound, ...coding('pcm_s16le'), file('saws.mkv')])
    return file('saws.mkv')
  },
  /** 5.1 noise, which uses every bit. */
  noise: async (file) => {
    const exprs = Array.from({ length: 6 }, (_, index) => `0.3*(random(${index})-0.5)`).join('|')
    const sound = lavfi(`aevalsrc=exprs=${exprs}:channel_layout=5.1:s=48000:d=4`)
    await ffmpeg([...lavfi('color=gray:s=64x64:r=25:d=4'), ...sound, ...coding('pcm_s16le'), file('noise.mkv')])
    return file('noise.mkv')
  },
  /** Loud noise with little above 6 kHz, as in speech and music. */
  pink: async (file) => {
    const voices = [1, 2].map((seed) => lavfi(`anoisesrc=seed=${seed}:c=pink:a=1:r=48000:d=6,lowpass=f=6000`))
    const join = ['-filter_complex', '[1:a][2:a]join=inputs=2:channel_layout=stereo[a]', '-map', '0:v', '-map', '[a]']
    const grey = lavfi('color=gray:s=64x64:r=25:d=6')
    await ffmpeg([...grey, ...voices.flat(), ...join, ...coding('pcm_s16le'), file('pink.mkv')])
    return file('pink.mkv')
  },
  /** Program 1: red, 440 Hz. Program 65535: blue, 880 Hz. */
  programs: async (file) => {
    const pictures = ['red', 'blue'].map((color) => lavfi(`color=${color}:s=64x64:r=25:d=2`))
    const tones = [440, 880].map((hertz) => lavfi(`sine=f=${hertz}:r=48000:d=2`))
    const maps = [0, 1, 2, 3].flatMap((index) => ['-map', `${index}`])
    const programs = ['-program', 'program_num=1:st=0:st=2', '-program', 'program_num=65535:st=1:st=3']
    await ffmpeg([...pictures.flat(), ...tones.flat(), ...maps, ...coding('mp2'), ...programs, file('programs.ts')])
    return file('programs.ts')
  },
  /** AC-3 with a dialogue level of −24 dB. */
  dolby: async (file) => {
    const sound = lavfi('sine=f=997:r=48000:d=2')
    await ffmpeg([...GREY, ...sound, ...coding('ac3'), '-b:a', '192k', '-dialnorm', '-24', file('dolby.ts')])
    return file('dolby.ts')
  },
  /** 25 interlaced frames per second, top field first: a bar that moves with every field. */
  fields: (file) => makeMovingBar(file('fields.ts'), 'top'),
  /** Film at 23.976 fps with 3:2 pulldown. */
  film: async (file) => {
    const picture = 'testsrc2=s=320x180:r=24000/1001:d=4,telecine=pattern=23,setfield=tff'
    // Set twice: old encoders take the field order from this flag, not from the frames.
    const encoder = ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-top', '1', '-b:v', '6M']
    await ffmpeg([...lavfi(picture), ...encoder, file('film.ts')])
    return file('film.ts')
  },
  /** A splice_insert on PID 600. */
  cues: async (file) => {
    const cue = cueAtSeconds(0.4, spliceInsert({ eventId: 1001, out: true, pts: SPLICE_SECONDS * TICKS }))
    await makeCueClip(file('cues.ts'), { seconds: 3, flags: ['-g', '50', '-f', 'mpegts'] }, [cue])
    return file('cues.ts')
  },
  /** CEA-608 in every frame, channel 1. */
  captions: (file) => makeCaptionedClip(file, CAPTION),
} satisfies Record<string, Maker>

export type SourceName = keyof typeof makers
export const sources: Record<SourceName, Maker> = makers
