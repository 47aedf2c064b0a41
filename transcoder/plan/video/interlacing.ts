// In charge of: interlaced and telecined sources: how a measurement classifies them, and how their outputs are coded.
// Not in charge of: measuring (transcoder/analysis/measureSource.ts), the filters (filters.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { videoEncodings } from '../codecs.ts'
import type { MediaInfo, VideoStream } from '../model/mediaInfo.ts'
import type { Decision, PlanContext } from '../planContext.ts'
import { type Rational, distance, ratio } from '../../formats/rational.ts'
import type { FieldPlan, Geometry, VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { ASSUMED_RATE } from './frameRate.ts'

export interface SourceFields {
  kind: 'progressive' | 'interlaced' | 'telecined'
  /** The field that is shown first. Not used for progressive video. */
  order: 'tff' | 'bff'
  fields: FieldPlan
}

/** Codecs that are often interlaced, and containers whose flags are often wrong. */
const doubtfulCodecs = new Set(['mpeg2video', 'mpeg1video', 'dvvideo'])
const doubtfulFormats = new Set(['mpegts', 'mpeg', 'mxf', 'dv', 'gxf'])
const flagged = new Set<VideoStream['fieldOrder']>(['tt', 'bb', 'tb', 'bt'])
/** The second letter is the field that is shown first: "tb" is coded top first, shown bottom first. */
const topFirst = new Set<VideoStream['fieldOrder']>(['tt', 'bt'])

/** Progressive test video gives both parities by chance (43 to 38 of 100). Real fields give one of them (100 to 0). */
const PARITY_FACTOR = 5
/**
 * The least number of frames that overrules the flags: a steady vertical movement looks like fields for a while (44 to
 * 1 in 2 s).
 */
const UNFLAGGED_PICTURES = 60
/** 3:2 pulldown repeats a field in two frames of five. 0.40 of all frames were measured, and none without pulldown. */
const TELECINE_SHARE = 0.25
export const TELECINED_RATE: Rational = ratio(30000, 1001)
export const TELECINE_FILM_RATE: Rational = ratio(24000, 1001)
const SAME_RATE = 0.001
/**
 * Rasters that exist interlaced: widths by number of lines (SMPTE ST 274, ITU-R BT.601 and its narrower forms in ETSI
 * TS 101 154 and ATSC A/53). Players scale any other raster as progressive.
 */
const interlacedRasters: Readonly<Record<number, readonly number[]>> = {
  1080: [1920, 1440],
  576: [720, 704, 702, 544, 528, 480, 352],
  486: [720],
  480: [720, 704, 640, 544, 528, 480, 352],
}

/** Whether the frames must be measured. Ordinary progressive sources are not, which saves the time. */
export function needsIdet(spec: JobSpec, media: MediaInfo): boolean {
  const { video } = media
  if (video === null) return false
  const asked = spec.detelecine || spec.video.some((profile) => profile.progressive)
  const doubtful = doubtfulCodecs.has(video.codec) || media.formats.some((format) => doubtfulFormats.has(format))
  return asked || doubtful || flagged.has(video.fieldOrder)
}

const DETELECINED: Warning = {
  code: 'detelecined',
  field: 'auto_detelecine_flag',
  message:
    'The source is telecined with 3:2 pulldown; the output has the original 23.976 progressive frames per second.',
}
const NO_TELECINE: Warning = {
  code: 'no_telecine',
  field: 'auto_detelecine_flag',
  message: 'auto_detelecine_flag has no effect: no 3:2 pulldown was measured in the source.',
}

export function classifyFields(spec: JobSpec, video: VideoStream): Decision<SourceFields> {
  const { scan } = video
  const isFlagged = flagged.has(video.fieldOrder)
  const flag = topFirst.has(video.fieldOrder) ? 'tff' : 'bff'
  const byFlag: FieldPlan = {
    parity: 'auto',
    frames: 'interlaced',
    clearFlag: false,
    ...(video.countsPictures === true ? { countedRate: ASSUMED_RATE } : {}),
    keepsLast: video.lastPictureIsBrief === true,
  }
  if (scan === null)
    return {
      value: { kind: isFlagged ? 'interlaced' : 'progressive', order: flag, fields: byFlag },
      warnings: spec.detelecine ? [NO_TELECINE] : [],
    }
  const [most, least] = [Math.max(scan.tff, scan.bff), Math.min(scan.tff, scan.bff)]
  const order = scan.tff >= scan.bff ? 'tff' : 'bff'
  const isClear = most > 0 && most >= PARITY_FACTOR * least
  if (spec.detelecine) {
    const repeated = scan.repeatedTop + scan.repeatedBottom
    const share = repeated / Math.max(1, repeated + scan.neither)
    const rate = video.frameRate !== null && distance(video.frameRate, TELECINED_RATE) <= SAME_RATE
    if (rate && share >= TELECINE_SHARE) {
      // Half of all telecined frames are woven from two original frames. With the wrong field order they would all stay
      // combed.
      const wrong = isFlagged && flag !== order && isClear
      const fields: FieldPlan = wrong ? { ...byFlag, parity: order } : byFlag
      return { value: { kind: 'telecined', order, fields }, warnings: [DETELECINED] }
    }
  }
  const warnings = spec.detelecine ? [NO_TELECINE] : []
  const repeatedTotal = scan.neither + scan.repeatedTop + scan.repeatedBottom
  const enough = isFlagged || repeatedTotal >= UNFLAGGED_PICTURES
  if (enough && scan.tff + scan.bff > scan.progressive && isClear) {
    // Where the measurement confirms the flags, each frame's flag decides: progressive parts of a mixed source stay
    // unchanged.
    const agrees = isFlagged && flag === order
    const fields: FieldPlan = agrees ? byFlag : { ...byFlag, parity: order, frames: 'all' }
    return { value: { kind: 'interlaced', order, fields }, warnings }
  }
  // Progressive frames coded as fields: only the flag is corrected.
  return { value: { kind: 'progressive', order, fields: { ...byFlag, clearFlag: isFlagged } }, warnings }
}

/** How an output treats the source's fields. */
export function planFields(
  context: PlanContext,
  profile: VideoProfile,
  source: { video: VideoStream; scan: SourceFields },
  output: { geometry: Geometry; untouched: boolean },
): Pick<VideoPlan, 'deinterlace' | 'scan'> {
  const { scan, video } = source
  if (scan.kind === 'progressive') return { deinterlace: 'none', scan: 'progressive' }
  if (scan.kind === 'telecined') return { deinterlace: 'telecine', scan: 'progressive' }
  const reason = whyProgressive(context.spec, profile, video, output.geometry)
  // Filters must not mix the lines of both fields. If any filter changes the image, each field becomes a frame first.
  if (reason === null) return { deinterlace: output.untouched ? 'none' : 'fields', scan: scan.order }
  const fields = profile.frameRateFactor === '2x'
  context.warn({
    code: 'deinterlaced',
    field: `videoProfiles[${profile.index}]`,
    message: `The source is interlaced; ${fields ? 'every field becomes a frame' : 'the output is progressive'}${reason === '' ? '' : `, since ${reason}`}.`,
  })
  return { deinterlace: fields ? 'fields' : 'frames', scan: 'progressive' }
}

/** null = stays interlaced; '' = progressive at the job's request; else the reason for the warning. */
function whyProgressive(spec: JobSpec, profile: VideoProfile, video: VideoStream, geometry: Geometry): string | null {
  if (profile.progressive || profile.frameRateFactor === '2x') return ''
  if (profile.frameRateFactor !== '1x') return 'half of the frames cannot keep their fields'
  if (!videoEncodings[spec.videoCodec].isInterlaced) return `${spec.videoCodec} is not coded interlaced`
  if (spec.packaging !== null) return 'segmented output is'
  if (geometry.turn !== 0 || video.rotation !== 0 || geometry.mirror === 'vertical') return 'the video is rotated'
  const { width, height } = geometry
  const keepsSize = width === video.width && height === video.height
  if (!keepsSize && interlacedRasters[height]?.includes(width) !== true)
    return `no display shows ${width}x${height} interlaced`
  if (geometry.height % 4 !== 0) return `fields of 4:2:0 need a height divisible by 4, which ${geometry.height} is not`
  if (video.variableFrameRate) return 'its frame rate is variable'
  return null
}
