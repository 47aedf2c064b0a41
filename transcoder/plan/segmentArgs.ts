// In charge of: the arguments of segmented output: each rendition encoded once, in all of its forms, each to its own pipe.
// Not in charge of: what comes before the outputs (argv.ts), the encoders (encoders.ts), where segments end (transcoder/segments).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { audioEncoder, videoEncoder } from './encoders.ts'
import type { AudioCodec } from '#contract/spec.ts'
import { videoPad } from './program.ts'
import type { AudioPlan, Plan, RenditionPlan, SegmentForm, VideoPlan } from './plan.ts'

/**
 * Presentation time 0 on the 90 kHz clock of every transport stream: 10 s. Encoders' delays lie before it, and streams that
 * are written apart keep their distance.
 */
export const TS_ORIGIN_TICKS = 900_000
/** Ticks per second of smooth streams ([MS-SSTR] 2.2.2.1, the default). */
export const SMOOTH_TIMESCALE = 10_000_000

/** Samples that an encoder puts in front (measured on 5.1.9 and 7.0). */
const delays: Record<AudioCodec, number> = { aac: 1024, ac3: 256, mp2: 481 }

/** One encode: its filtered streams and the forms that it leaves in. */
export interface SegmentEncode {
  rendition: number
  video: VideoPlan | null
  audio: AudioPlan[]
  forms: SegmentForm[]
  /**
   * The sound gives up as many samples at its beginning as the encoder puts there: what lies at t is heard at t, and no edit
   * list is needed, which CMAF would not allow before its first sample and Smooth does not know.
   */
  trimmed: boolean
}

/** Video is encoded once for all forms. Audio again for transport streams, whose sound may begin before its pictures. */
export function segmentEncodes(plan: Plan): SegmentEncode[] {
  return (plan.packaging?.renditions ?? []).flatMap((each, rendition) => {
    const encode = { rendition, video: each.video, audio: each.audio, forms: each.forms, trimmed: false }
    return each.kind === 'video' ? [encode] : audioEncodes(each).map((part) => ({ ...encode, ...part }))
  })
}

function audioEncodes({ forms }: RenditionPlan): Pick<SegmentEncode, 'forms' | 'trimmed'>[] {
  const fragmented = forms.filter((form) => form !== 'ts')
  return [
    ...(fragmented.length === 0 ? [] : [{ forms: fragmented, trimmed: true }]),
    ...(forms.includes('ts') ? [{ forms: ['ts' as const], trimmed: false }] : []),
  ]
}

export function trimDelay(audio: AudioPlan): string[] {
  return [`atrim=start_sample=${delays[audio.codec]}`, 'asetpts=PTS-STARTPTS']
}

/** `maps` are the labels of its filtered streams, video first; `pipe` gives each form its target. */
export function segmentArgs(
  plan: Plan,
  encode: SegmentEncode,
  maps: readonly string[],
  pipe: (form: SegmentForm) => string,
  cores?: number,
): string[] {
  const { video, audio, forms } = encode
  const [only, ...more] = forms
  if (only === undefined) return []
  return [
    ...maps.flatMap((label) => ['-map', `[${label}]`]),
    ...['-map_metadata', '-1', '-map_chapters', '-1'],
    ...(video === null ? [] : videoEncoder(plan, video, cores)),
    // Apple's players take hvc1 only; ffmpeg's default is hev1.
    ...(video?.codec === 'hevc' ? ['-tag:v', 'hvc1'] : []),
    ...audio.flatMap(audioEncoder),
    ...(more.length === 0
      ? [...Object.entries(muxer(only, encode)).flatMap(([name, value]) => [`-${name}`, value]), pipe(only)]
      : [
          // tee does not ask the encoder for what its muxers need; mpegts puts it in front of each key frame again.
          ...['-flags', '+global_header', '-f', 'tee'],
          forms.map((form) => slave(form, encode, pipe(form))).join('|'),
        ]),
  ]
}

function slave(form: SegmentForm, encode: SegmentEncode, target: string): string {
  const options = {
    // In a video rendition the sound is there for its transport stream.
    ...(form === 'ts' || encode.video === null ? {} : { select: 'v' }),
    ...muxer(form, encode),
  }
  const spelled = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  return `[${spelled.join(':')}]${target}`
}

/** Options of one muxer; none of the values holds a character that tee would read. */
function muxer(form: SegmentForm, { video }: SegmentEncode): Record<string, string> {
  // No version of a tool and no clock in the file.
  const common = { fflags: '+bitexact' }
  // One fragment a GOP; sound in single frames, which the segmenter joins to where the pictures are cut.
  const fragments = video === null ? '+frag_every_frame' : '+frag_keyframe'
  switch (form) {
    case 'cmaf':
      return {
        ...common,
        f: 'mp4',
        // Time on the wire is presentation time: the first offset is 0 and there is no edit list, as cmaf implies it too. ac3's header waits for a frame.
        movflags: `+cmaf${fragments}+negative_cts_offsets+skip_trailer${video === null ? '+delay_moov' : ''}`,
        use_editlist: '0',
      }
    case 'smooth':
      return {
        ...common,
        f: 'ismv',
        movflags: `${fragments}+negative_cts_offsets+skip_trailer`,
        use_editlist: '0',
        // Else the encoder's delay would lie before 0. Pictures begin at 0 by the offsets.
        ...(video === null ? { avoid_negative_ts: 'make_zero' } : {}),
      }
    case 'ts':
      return pesStream(common, LEAD_SECONDS)
  }
}

/** From the clock to the time of the picture that comes with it: more than a picture takes, so that by the clock none is late. */
const LEAD_SECONDS = 0.1

/** A variable rate also for cbr, whose filler is in the pictures: null packets would be downloaded for nothing. */
function pesStream(common: Record<string, string>, leadSeconds: number): Record<string, string> {
  return {
    ...common,
    f: 'mpegts',
    // ffmpeg's clock is as much behind the time stamps, which it moves by twice that.
    max_delay: `${leadSeconds * 1e6}`,
    output_ts_offset: `${TS_ORIGIN_TICKS / 90_000 - 2 * leadSeconds}`,
    mpegts_flags: '+resend_headers',
    // One frame a packet: a segment's sound is not in a packet that began in the one before.
    pes_payload_size: '0',
    // Shorter than any frame, so that every frame has a clock reference: a cue arrives within a frame of its time.
    pcr_period: '1',
  }
}

/** What a multiplexer of ours takes: a transport stream without delays, each access unit a PES packet of its own. */
export const encoderStream: readonly string[] = Object.entries(pesStream({ fflags: '+bitexact' }, 0)).flatMap(
  ([name, value]) => [`-${name}`, value],
)
/** One subtitle stream of the source as WebVTT, on the same clock: times before the first frame stay positive. */
export function subtitleArgs(stream: number, target: string): string[] {
  return [
    ...['-map', `0:${stream}`, '-map_metadata', '-1', '-map_chapters', '-1', '-c:s', 'webvtt'],
    ...['-output_ts_offset', `${TS_ORIGIN_TICKS / 90_000}`, '-fflags', '+bitexact', '-f', 'webvtt', target],
  ]
}

/** The source's pictures as they are, on the same clock as all transport streams. */
export function captionArgs(plan: Plan, target: string): string[] {
  return [
    ...['-map', videoPad(plan.pids), '-map_metadata', '-1', '-map_chapters', '-1', '-c:v', 'copy', '-copyinkf:v'],
    ...encoderStream,
    target,
  ]
}
