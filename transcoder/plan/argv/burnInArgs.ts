// In charge of: the filters that draw captions and subtitles that are images, and the looks that the outputs of a plan need:
// each is a file.
// Not in charge of: the files (formats/ass, pipeline/burnIn).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { clockFactor, type AssLook } from '../../formats/ass/assFile.ts'
import { toNumber } from '../../formats/rational.ts'
import type { TextBurnInPlan } from '#contract/task/plan/captionsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { WHITE_SIGNAL } from '../video/hdr.ts'
import type { Rectangle } from '../../formats/bitmapSubtitles/subtitleArea.ts'
import { swscaleMatrix } from './colorNames.ts'
import { hdrLogo } from './filters.ts'

/** Nothing in it needs escaping in a filter graph. */
const SAFE_PATH = /^[A-Za-z0-9_./-]+$/

export function lookOf({ picture }: Pick<Plan, 'picture'>, video: VideoPlan, { font }: TextBurnInPlan): AssLook {
  return {
    width: Math.max(2, Math.round(video.width * toNumber(video.sar))),
    height: video.height,
    frameRate: video.frameRate,
    // The level of SDR white, the same as for the logo.
    white: Math.round(255 * (picture.hdr === null ? 1 : WHITE_SIGNAL[picture.hdr.transfer])),
    font,
  }
}

/** Without repeats, in the order of the outputs. */
export function assLooks(plan: Plan): AssLook[] {
  const { burnIn } = plan
  if (burnIn?.kind !== 'text') return []
  const videos = [...plan.outputs, ...(plan.packaging?.renditions ?? [])].flatMap(({ video }) =>
    video === null || video.copied !== null ? [] : [video],
  )
  return [...new Map(videos.map((video) => [keyOf(lookOf(plan, video, burnIn)), lookOf(plan, video, burnIn)])).values()]
}

function keyOf(look: AssLook): string {
  return JSON.stringify(look)
}

/** The filters end with one that knows when the last frame ends. */
export function changesClock({ burnIn }: Plan, { frameRate }: VideoPlan): boolean {
  return burnIn?.kind === 'text' && clockFactor(frameRate) !== 1
}

/** `files`: of `assLooks`, relative to ffmpeg's working directory. */
export function burnInFilters(plan: Plan, video: VideoPlan, files: readonly string[]): string[] {
  const { burnIn } = plan
  if (burnIn?.kind !== 'text') return []
  const look = lookOf(plan, video, burnIn)
  const file = files[assLooks(plan).findIndex((each) => keyOf(each) === keyOf(look))]
  if (file === undefined || !SAFE_PATH.test(file)) throw new TypeError('every look needs a file')
  const { num, den } = video.frameRate
  const factor = clockFactor(video.frameRate)
  return [
    ...(factor === 1 ? [] : [`setpts=PTS*${factor}`]),
    // original_size: letters keep their shape where pixels are not square. complex: Arabic and Indic scripts.
    `ass=filename=${file}:original_size=${look.width}x${look.height}:shaping=complex`,
    // setpts forgets the frame rate (ffmpeg 7), which the encoder would then guess.
    // A range begins with its first frame, whose time is later.
    ...(factor === 1 ? [] : [`setpts=PTS/${factor}`, `fps=${num}/${den}${plan.range == null ? ':start_time=0' : ''}`]),
  ]
}

/** A movie that this program wrote, read by one demuxer and one decoder. */
export function bitmapInput(file: string): string[] {
  return [
    ...['-protocol_whitelist', 'file', '-format_whitelist', 'mov', '-codec_whitelist', 'png', '-f', 'mov'],
    ...['-i', file],
  ]
}

/** The images in one output's size and matrix. */
export function bitmapFilters(plan: Plan, video: VideoPlan, place: Rectangle): string[] {
  if (plan.picture.hdr !== null) return hdrLogo(plan, plan.picture.hdr.transfer, video, { ...place, opacity: 1 })
  return [
    'format=gbrap',
    // Otherwise the black of transparent pixels would darken the edges.
    'premultiply=inplace=1',
    `scale=w=${place.width}:h=${place.height}:flags=lanczos+accurate_rnd`,
    'unpremultiply=inplace=1',
    `scale=flags=accurate_rnd+full_chroma_int:out_color_matrix=${swscaleMatrix(video.color.matrix)}:out_range=limited`,
    'format=yuva420p',
  ]
}

/** repeat: the last image may be shown to the end. */
export function bitmapOverlay({ picture }: Plan, { x, y }: Rectangle): string {
  return `overlay=x=${x}:y=${y}:format=${picture.hdr === null ? 'yuv420' : 'yuv420p10'}:eof_action=repeat`
}
