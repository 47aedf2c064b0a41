// In charge of: the arguments that draw the images of a bitmap subtitle track: their input, their filters, the overlay.
// Not in charge of: where they lie (video/bitmapPlacement.ts), the movie (source/bitmapTrack.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { Rectangle } from '../../formats/bitmapSubtitles/subtitleArea.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { swscaleMatrix } from './colorNames.ts'
import { hdrLogo } from './filters.ts'

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
