// In charge of: the arguments of segmented output: each rendition encoded once, in all of its forms, each to its own pipe.
// Not in charge of: what comes before the outputs (ffmpegArgs.ts), the encoders (encoderArgs.ts), where segments end (transcoder/segmenter).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { audioEncodings } from '../codecs.ts'
import { audioEncoderArgs, mp4Tag, videoEncoderArgs } from './encoderArgs.ts'
import { segmentForms, TS_ORIGIN_TICKS } from '../forms.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { videoSpecifier } from '../streams/programSelection.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import type { AudioPlan, Plan, RenditionPlan, VideoPlan } from '../model/plan.ts'

/** One encode: its filtered streams and the forms that it leaves in. */
export interface SegmentEncode {
  rendition: number
  video: VideoPlan | null
  /** The tracks that it encodes. */
  audio: AudioPlan[]
  /** Position of the encode whose tracks it carries as well: a track of several renditions is encoded once. */
  audioOf: number | null
  forms: SegmentForm[]
  /**
   * The sound gives up as many samples at its beginning as the encoder puts there: what lies at t is heard at t, and no edit
   * list is needed, which CMAF would not allow before its first sample and Smooth does not know.
   */
  trimmed: boolean
}

/** Video is encoded once for all forms. Audio again for transport streams, whose sound may begin before its pictures. */
export function plannedEncodes(plan: Plan): SegmentEncode[] {
  const firsts = new Map<string, number>()
  const encodes: SegmentEncode[] = []
  for (const [rendition, each] of (plan.packaging?.renditions ?? []).entries()) {
    const { video, audio, forms } = each
    const encode = { rendition, video, audio, audioOf: null, forms, trimmed: false }
    if (each.kind === 'audio') {
      encodes.push(...audioEncodes(each).map((part) => ({ ...encode, ...part })))
      continue
    }
    const tracks = JSON.stringify(audio)
    const first = audio.length === 0 ? undefined : firsts.get(tracks)
    if (first === undefined) firsts.set(tracks, encodes.length)
    encodes.push(first === undefined ? encode : { ...encode, audio: [], audioOf: first })
  }
  return encodes
}

/** The encodes that leave in one output of ffmpeg, which has their audio once, each with its position among all. */
export function encodesPerProcess(plan: Plan): { encode: SegmentEncode; position: number }[][] {
  const encodes = plannedEncodes(plan).map((encode, position) => ({ encode, position }))
  return encodes
    .filter(({ encode }) => encode.audioOf === null)
    .map((first) => [first, ...encodes.filter(({ encode }) => encode.audioOf === first.position)])
}

function audioEncodes({ forms }: RenditionPlan): Pick<SegmentEncode, 'forms' | 'trimmed'>[] {
  const fragmented = forms.filter((form) => !segmentForms[form].carriesAudio)
  return [
    ...(fragmented.length === 0 ? [] : [{ forms: fragmented, trimmed: true }]),
    ...forms.filter((form) => segmentForms[form].carriesAudio).map((form) => ({ forms: [form], trimmed: false })),
  ]
}

export function encoderDelayTrim(audio: AudioPlan): string[] {
  return [`atrim=start_sample=${audioEncodings[audio.codec].delaySamples}`, 'asetpts=PTS-STARTPTS']
}

/** `maps` are the labels of their filtered streams, video first; `pipe` gives each form of a rendition its target. */
export function segmentArgs(
  plan: Plan,
  encodes: readonly SegmentEncode[],
  maps: readonly string[],
  pipe: (encode: SegmentEncode, form: SegmentForm) => string,
  cores?: number,
): string[] {
  const audio = encodes.flatMap((encode) => encode.audio)
  const isOnly = encodes.length === 1
  const targets = encodes.flatMap((encode, order) => encode.forms.map((form) => ({ encode, order, form })))
  const [first, ...more] = targets
  if (first === undefined) return []
  return [
    ...maps.flatMap((label) => ['-map', `[${label}]`]),
    ...['-map_metadata', '-1', '-map_chapters', '-1'],
    ...encodes.flatMap((encode, order) => {
      const flags = videoArgs(plan, encode, cores)
      return isOnly ? flags : withSpecifier(flags, `v:${order}`)
    }),
    ...audio.flatMap(audioEncoderArgs),
    ...(more.length === 0
      ? [
          ...Object.entries(muxer(first.form, first.encode)).flatMap(([name, value]) => [`-${name}`, value]),
          pipe(first.encode, first.form),
        ]
      : [
          ...['-f', 'tee'],
          targets
            .map(({ encode, order, form }) => {
              // In a video rendition the audio is there for its transport stream. By number: a colon would have to be escaped.
              const tracks = segmentForms[form].carriesAudio
                ? audio.map((_track, number) => encodes.length + number)
                : []
              const select = encode.video === null ? {} : { select: [order, ...tracks].join(',') }
              return teeSlave({ ...select, ...muxer(form, encode) }, pipe(encode, form))
            })
            .join('|'),
        ]),
  ]
}

function videoArgs(plan: Plan, { video, forms }: SegmentEncode, cores: number | undefined): string[] {
  return [
    ...(video === null ? [] : videoEncoderArgs(plan, video, cores)),
    ...(video === null ? [] : mp4Tag(video)),
    // tee does not ask the encoder for what its muxers need; mpegts puts it in front of each key frame again.
    ...(forms.length > 1 ? ['-flags', '+global_header'] : []),
  ]
}

/** Flags and values of the only video stream, for one of several: ffmpeg adds the values of equal flags together. */
function withSpecifier(flags: readonly string[], specifier: string): string[] {
  return flags.map((each, index) => (index % 2 === 0 ? `${each.replace(/:v$/, '')}:${specifier}` : each))
}

function teeSlave(options: Record<string, string>, target: string): string {
  // Else tee goes on with the others, and ffmpeg exits with 0.
  const spelled = Object.entries({ ...options, onfail: 'abort' }).map(([name, value]) => `${name}=${value}`)
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
      return mpegtsOptions(common, LEAD_SECONDS)
  }
}

/** From the clock to the time of the picture that comes with it: more than a picture takes, so that by the clock none is late. */
const LEAD_SECONDS = 0.1

/** A variable rate also for cbr, whose filler is in the pictures: null packets would be downloaded for nothing. */
function mpegtsOptions(common: Record<string, string>, leadSeconds: number): Record<string, string> {
  return {
    ...common,
    f: 'mpegts',
    // ffmpeg's clock is as much behind the time stamps, which it moves by twice that.
    max_delay: `${leadSeconds * 1e6}`,
    output_ts_offset: `${TS_ORIGIN_TICKS / TICKS_PER_SECOND - 2 * leadSeconds}`,
    mpegts_flags: '+resend_headers',
    // One frame a packet: a segment's sound is not in a packet that began in the one before.
    pes_payload_size: '0',
    // Shorter than any frame, so that every frame has a clock reference: a cue arrives within a frame of its time.
    pcr_period: '1',
  }
}

/** What a multiplexer of ours takes: a transport stream without delays, each access unit a PES packet of its own. */
export const encoderStreamArgs: readonly string[] = Object.entries(mpegtsOptions({ fflags: '+bitexact' }, 0)).flatMap(
  ([name, value]) => [`-${name}`, value],
)
/** One subtitle stream of the source as WebVTT, on the same clock: times before the first frame stay positive. */
export function subtitleArgs(stream: number, target: string): string[] {
  return [
    ...['-map', `0:${stream}`, '-map_metadata', '-1', '-map_chapters', '-1', '-c:s', 'webvtt'],
    ...['-output_ts_offset', `${TS_ORIGIN_TICKS / TICKS_PER_SECOND}`, '-fflags', '+bitexact', '-f', 'webvtt', target],
  ]
}

/** The source's pictures as they are, on the same clock as all transport streams. */
export function captionArgs(plan: Plan, target: string): string[] {
  return [
    ...['-map', videoSpecifier(plan.pids), '-map_metadata', '-1', '-map_chapters', '-1', '-c:v', 'copy', '-copyinkf:v'],
    ...encoderStreamArgs,
    target,
  ]
}
