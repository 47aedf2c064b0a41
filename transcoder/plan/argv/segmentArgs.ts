// In charge of: the arguments of segmented output: each rendition encoded once, each of its forms written to its own
// pipe.
// Not in charge of: what comes before the outputs (ffmpegArgs.ts), the encoders (encoderArgs.ts), where segments end
// (transcoder/segmenter).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { audioEncodings } from '../codecs.ts'
import { rangeBuffer } from '../video/rangeBuffer.ts'
import { copyEndArgs, transportFilters } from './copyArgs.ts'
import { copyCutArgs } from './cutArgs.ts'
import { audioEncoderArgs, mp4Tag, videoEncoderArgs } from './encoderArgs.ts'
import { segmentForms, TS_ORIGIN_TICKS } from '../forms.ts'
import { makesRendition } from '../model/encodedRange.ts'
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { videoSpecifier } from '../streams/programSelection.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/** One encode: its filtered streams and the forms in which it is written. */
export interface SegmentEncode {
  rendition: number
  video: VideoPlan | null
  /** The tracks that it encodes. */
  audio: AudioPlan[]
  /**
   * Position of the encode whose audio tracks it also carries: a track that several renditions share is encoded once.
   */
  audioOf: number | null
  forms: SegmentForm[]
  /**
   * The audio loses as many samples at its beginning as the encoder adds there: a sample at time t is then heard at t.
   * No edit list is needed, which CMAF would not allow before its first sample and which Smooth does not have.
   */
  trimmed: boolean
}

/**
 * Video is encoded once for all forms. Audio is encoded again for transport streams, where it may begin before the
 * video.
 */
export function plannedEncodes(plan: Plan): SegmentEncode[] {
  const firsts = new Map<string, number>()
  const encodes: SegmentEncode[] = []
  for (const [rendition, each] of (plan.packaging?.renditions ?? []).entries()) {
    if (!makesRendition(plan, each)) continue
    const { video, audio, forms } = each
    const encode = { rendition, video, audio, audioOf: null, forms, trimmed: false }
    // No work is shared, so that each muxer converts the copied packets as it needs them.
    if (video?.copied != null) {
      for (const form of forms)
        encodes.push({ ...encode, forms: [form], audio: segmentForms[form].carriesAudio ? audio : [] })
      continue
    }
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

/** The encodes that share one ffmpeg output, which contains their audio once. `position` counts over all encodes. */
export function encodesPerProcess(plan: Plan): { encode: SegmentEncode; position: number }[][] {
  const encodes = plannedEncodes(plan).map((encode, position) => ({ encode, position }))
  return encodes
    .filter(({ encode }) => encode.audioOf === null)
    .map((first) => [first, ...encodes.filter(({ encode }) => encode.audioOf === first.position)])
}

function audioEncodes({ audio, forms }: RenditionPlan): Pick<SegmentEncode, 'forms' | 'trimmed'>[] {
  if (audio.some(({ copied }) => copied !== null))
    return forms.map((form) => ({
      forms: [form],
      trimmed: audio.every(hasOwnDelay) && !segmentForms[form].carriesAudio,
    }))
  const fragmented = forms.filter((form) => !segmentForms[form].carriesAudio)
  return [
    ...(fragmented.length === 0 ? [] : [{ forms: fragmented, trimmed: true }]),
    ...forms.filter((form) => segmentForms[form].carriesAudio).map((form) => ({ forms: [form], trimmed: false })),
  ]
}

/** A part of the job has encoded it: a copied track of the source has none. */
function hasOwnDelay({ copied }: AudioPlan): boolean {
  return copied?.isOwn === true
}

export function encoderDelayTrim(audio: AudioPlan): string[] {
  return [`atrim=start_sample=${audioEncodings[audio.codec].delaySamples}`, 'asetpts=PTS-STARTPTS']
}

/** `maps` are the filtered and the copied streams, video first. `pipe` gives the target of each form of a rendition. */
export function segmentArgs(
  plan: Plan,
  encodes: readonly SegmentEncode[],
  maps: readonly string[],
  pipe: (encode: SegmentEncode, form: SegmentForm) => string,
  cores: number | null,
): string[] {
  const audio = encodes.flatMap((encode) => encode.audio)
  const isOnly = encodes.length === 1
  const targets = encodes.flatMap((encode, streamIndex) =>
    encode.forms.map((form) => ({ encode, order: streamIndex, form })),
  )
  const [first, ...more] = targets
  if (first === undefined) return []
  // Audio beside video is in transport streams only.
  const holder = first.encode.video !== null || segmentForms[first.form].carriesAudio ? 'timed' : 'fragments'
  return [
    ...maps.flatMap((map) => ['-map', map]),
    ...['-map_metadata', '-1', '-map_chapters', '-1'],
    ...encodes.flatMap((encode, streamIndex) => {
      const flags = videoArgs(plan, encode, cores)
      return isOnly ? flags : withSpecifier(flags, `v:${streamIndex}`)
    }),
    ...audio.flatMap((track, position) => audioEncoderArgs(track, position, plan.cut, holder)),
    ...([...audio, ...encodes.map(({ video }) => video)].some((stream) => stream?.copied != null)
      ? copyEndArgs(plan.cut)
      : []),
    ...(more.length === 0
      ? [
          ...Object.entries(muxer(first.form, first.encode)).flatMap(([name, value]) => [`-${name}`, value]),
          pipe(first.encode, first.form),
        ]
      : [
          ...['-f', 'tee'],
          targets
            .map(({ encode, order: streamIndex, form }) => {
              // A video rendition has audio for its transport stream only. Streams are named by number: a colon would
              // have to be escaped.
              const tracks = segmentForms[form].carriesAudio
                ? audio.map((_track, number) => encodes.length + number)
                : []
              const select = encode.video === null ? {} : { select: [streamIndex, ...tracks].join(',') }
              return teeSlave({ ...select, ...slaveFilters(form, encode), ...muxer(form, encode) }, pipe(encode, form))
            })
            .join('|'),
        ]),
  ]
}

function videoArgs(plan: Plan, { rendition, video, forms }: SegmentEncode, cores: number | null): string[] {
  return [
    ...(video === null
      ? []
      : videoEncoderArgs(plan, video, {
          cores,
          rateFactor: plan.range?.rateFactors?.[rendition],
          buffer: rangeBuffer(plan, video),
          inTransportStream: forms.every((form) => segmentForms[form].container === 'ts'),
        })),
    ...(video === null ? [] : mp4Tag(video)),
    // tee does not request the headers that its muxers need. mpegts repeats them before each key frame.
    ...(forms.length > 1 ? ['-flags', '+global_header'] : []),
  ]
}

/** Rewrites flags of the only video stream for one of several: ffmpeg joins the values of equal flags. */
function withSpecifier(flags: readonly string[], specifier: string): string[] {
  return flags.map((each, index) => (index % 2 === 0 ? `${each.replace(/:v$/, '')}:${specifier}` : each))
}

function teeSlave(options: Record<string, string>, target: string): string {
  // Otherwise tee continues with the remaining targets, and ffmpeg exits with 0.
  const spelled = Object.entries({ ...options, onfail: 'abort' }).map(([name, value]) => `${name}=${value}`)
  return `[${spelled.join(':')}]${target}`
}

/** An output that is only a transport stream has these filters itself (copyArgs.ts). */
function slaveFilters(form: SegmentForm, { video, forms }: SegmentEncode): Record<string, string> {
  const filters = form !== 'ts' || video === null || forms.length === 1 ? [] : transportFilters(video)
  return filters.length === 0 ? {} : { 'bsfs/v': filters.join(',') }
}

/** Options of one muxer. No value contains a character that is special to tee. */
function muxer(form: SegmentForm, { video, audio }: SegmentEncode): Record<string, string> {
  // Copied audio seldom has a packet that begins at 0: its first fragment keeps its time.
  const isCopied = video === null && audio.some((track) => track.copied !== null && !hasOwnDelay(track))
  const common = {
    // Leave out tool versions and dates, so that the same plan gives the same bytes.
    fflags: '+bitexact',
    // ffmpeg 5 calls FLAC in MP4 experimental; later versions write the same.
    ...(video === null && audio.some(({ codec }) => codec === 'flac') ? { strict: 'experimental' } : {}),
  }
  // One fragment per GOP. Audio comes in single frames, which the segmenter joins so that audio and video are cut
  // together.
  const fragments = video === null ? '+frag_every_frame' : '+frag_keyframe'
  switch (form) {
    case 'cmaf':
      return {
        ...common,
        f: 'mp4',
        // The fragments' time stamps are presentation times: the first offset is 0 and there is no edit list, as cmaf
        // implies. The header of ac3 can be written only after its first frame.
        movflags: `+cmaf${fragments}+negative_cts_offsets+skip_trailer${video === null ? '+delay_moov' : ''}${isCopied ? '+frag_discont' : ''}`,
        use_editlist: '0',
      }
    case 'smooth':
      return {
        ...common,
        f: 'ismv',
        movflags: `${fragments}+negative_cts_offsets+skip_trailer${isCopied ? '+delay_moov' : ''}`,
        use_editlist: '0',
        // Otherwise the encoder's delay would lie before 0. The composition offsets make video begin at 0.
        ...(video === null && !isCopied ? { avoid_negative_ts: 'make_zero' } : {}),
      }
    case 'ts':
      return mpegtsOptions(common, LEAD_SECONDS)
  }
}

/**
 * From the PCR to the presentation time of the frame sent with it. More than a frame lasts, so that no frame is late.
 */
const LEAD_SECONDS = 0.1

/** A variable rate for cbr as well: its filler is in the video stream, and null packets would only be downloaded. */
function mpegtsOptions(common: Record<string, string>, leadSeconds: number): Record<string, string> {
  return {
    ...common,
    f: 'mpegts',
    // ffmpeg's PCR lags the time stamps by this delay, and ffmpeg moves the time stamps by twice as much.
    max_delay: `${leadSeconds * 1e6}`,
    output_ts_offset: `${TS_ORIGIN_TICKS / TICKS_PER_SECOND - 2 * leadSeconds}`,
    mpegts_flags: '+resend_headers',
    // One audio frame per PES packet: no segment's audio lies in a packet that began in the segment before.
    pes_payload_size: '0',
    // Shorter than any frame, so that every frame has a clock reference: a cue arrives within a frame of its time.
    pcr_period: '1',
  }
}

/**
 * The input of tsMultiplexer/multiplexer.ts: a transport stream without delays, in which each access unit is its own
 * PES packet.
 */
export const encoderStreamArgs: readonly string[] = Object.entries(mpegtsOptions({ fflags: '+bitexact' }, 0)).flatMap(
  ([name, value]) => [`-${name}`, value],
)
/** Options of the input for a teletext stream, by its index. */
export function teletextArgs(stream: number): string[] {
  return [
    // The default makes bitmaps.
    ...[`-txt_format:${stream}`, 'text'],
    // Without news, programme guides and the other pages.
    ...[`-txt_page:${stream}`, 'subtitle'],
    // A page is shown until the next one, which may be blank; the decoder alone would let it last for ever.
    `-fix_sub_duration:${stream}`,
  ]
}

/**
 * One subtitle stream of the source as WebVTT, on the same clock, so that times before the first frame stay positive.
 */
export function subtitleArgs(plan: Pick<Plan, 'cut'>, stream: number, target: string): string[] {
  return [
    ...[
      '-map',
      `0:${stream}`,
      '-map_metadata',
      '-1',
      '-map_chapters',
      '-1',
      '-c:s',
      'webvtt',
      ...copyCutArgs(plan.cut),
    ],
    ...['-output_ts_offset', `${TS_ORIGIN_TICKS / TICKS_PER_SECOND}`, '-fflags', '+bitexact', '-f', 'webvtt', target],
  ]
}

/** The source's video unchanged, on the same clock as all transport streams. */
export function captionArgs(plan: Pick<Plan, 'cut' | 'pids'>, target: string): string[] {
  return [
    ...['-map', videoSpecifier(plan.pids), '-map_metadata', '-1', '-map_chapters', '-1', '-c:v', 'copy', '-copyinkf:v'],
    // Times stay positive on this clock, and begin with the part.
    ...(plan.cut?.movesClock === true ? ['-copypriorss:v', '0'] : []),
    ...copyCutArgs(plan.cut),
    ...encoderStreamArgs,
    target,
  ]
}
