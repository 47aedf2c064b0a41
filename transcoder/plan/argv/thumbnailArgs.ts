// In charge of: filters and arguments of the thumbnail sheets and of the poster, which use the same decode.
// Not in charge of: their sizes and times (thumbnailPlan.ts), reading them from the pipes (transcoder/segmenter).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { swscaleMatrix, zscaleMatrix } from './colorNames.ts'
import { sourceFrameFilters, frameRateFilters } from './filters.ts'
import type { PieceVideoPlan } from '#contract/task/plan/videoPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { Branch } from './filterGraph.ts'
import { centre, even } from '../video/evenNumbers.ts'
import { transferName, toneMapFilters } from './scaleFilters.ts'

/** JPEG quality of mjpeg: 2 (best) to 31. */
const QUALITY = 4

/** JFIF: BT.601 in full range. */
export const JPEG = ['scale=out_color_matrix=bt601:out_range=full', 'format=yuvj420p']

/** Frames as the first rendition shows them, without its logo: rotated, cropped, with its bars, in square pixels. */
export function thumbnailBranches(plan: Plan): Branch[] {
  const thumbnails = plan.packaging?.thumbnails ?? null
  const video = plan.packaging?.renditions.find(({ kind }) => kind === 'video')?.video ?? null
  if (thumbnails === null || video === null) return []
  const { width, height, columns, rows, intervalFrames, posterWidth, posterHeight, posterFrame } = thumbnails
  return [
    {
      filters: [
        ...sampledFilters(plan, video, `not(mod(n\\,${intervalFrames}))`, width, height),
        // The unused part of the last sheet is black.
        `tile=layout=${columns}x${rows}`,
        ...JPEG,
      ],
      label: 'thumbnails',
    },
    {
      filters: [...sampledFilters(plan, video, `eq(n\\,${posterFrame})`, posterWidth, posterHeight), ...JPEG],
      label: 'poster',
    },
  ]
}

/** What the filters need to know of a plan. */
type FramePlan = Pick<Plan, 'picture' | 'scaler' | 'fields' | 'cut'>

/** The frames for which the expression `which` is true, in that size and in planar RGB. */
export function sampledFilters(
  plan: FramePlan,
  video: PieceVideoPlan,
  which: string,
  width: number,
  height: number,
): string[] {
  const small = {
    barPercent: video.barPercent,
    pictureWidth: video.pictureWidth === video.width ? width : even((video.pictureWidth * width) / video.width),
    pictureHeight: video.pictureHeight === video.height ? height : even((video.pictureHeight * height) / video.height),
  }
  const sdr = inSdr(plan)
  const bars = small.pictureWidth !== width || small.pictureHeight !== height
  return [
    // The filters up to here are shared with the rendition. `select` then drops almost all frames before the expensive
    // filters.
    ...sourceFrameFilters(plan, video),
    `select=${which}`,
    ...frameRateFilters(plan, video),
    ...inRgb(sdr, small.pictureWidth, small.pictureHeight),
    ...(bars
      ? [
          `pad=${width}:${height}:${centre(width, small.pictureWidth)}:${centre(height, small.pictureHeight)}:color=${grey(small.barPercent)}`,
        ]
      : []),
    'setsar=1',
  ]
}

/** Through RGB: 7.0 does not convert the matrix when it goes from one to another in one step (measured). */
function inRgb(source: Pick<Plan, 'picture' | 'scaler'>, width: number, height: number): string[] {
  return [...toneMapFilters(source), ...scale(source, width, height), 'format=gbrp']
}

/** A frame of the source as a JPEG for SDR screens, in square pixels. */
export function previewFilters(source: Pick<Plan, 'picture' | 'scaler'>, width: number, height: number): string[] {
  return [...inRgb(source, width, height), 'setsar=1', ...JPEG]
}

/** Thumbnails of HDR outputs are shown on SDR screens. */
function inSdr(plan: FramePlan): FramePlan {
  if (plan.picture.hdr === null || plan.scaler !== 'zscale') return plan
  return { ...plan, picture: { ...plan.picture, conversion: 'toneMap', hdr: null } }
}

function scale({ picture }: Pick<Plan, 'picture'>, width: number, height: number): string[] {
  const mapped = picture.conversion === 'toneMap'
  const range = !mapped && picture.fullRange ? 'full' : 'limited'
  const matrix = mapped ? 'bt709' : picture.matrix
  const gamut = picture.conversion === 'gamut'
  const read =
    picture.rgb && !gamut
      ? ''
      : `:in_color_matrix=${gamut ? 'bt709' : swscaleMatrix(matrix)}:in_range=${gamut ? 'limited' : range}`
  return [
    ...(gamut ? gamutFilters({ picture, range, matrix }) : []),
    `scale=w=${width}:h=${height}:flags=lanczos+accurate_rnd+full_chroma_int${read}`,
  ]
}

/** swscale does not convert primaries. */
function gamutFilters({
  picture,
  range,
  matrix,
}: {
  picture: Plan['picture']
  range: string
  matrix: string
}): string[] {
  const read = picture.rgb ? '' : `min=${zscaleMatrix(matrix)}:`
  return [
    ...(picture.rgb ? ['format=gbrp'] : []),
    `zscale=${read}rin=${range}:pin=${picture.primaries}:tin=${transferName(picture.transfer)}:p=bt709:t=bt709:m=bt709:r=limited`,
    'format=yuv420p',
  ]
}

function grey(percent: number): string {
  return `0x${Math.round((percent * 255) / 100)
    .toString(16)
    .padStart(2, '0')
    .repeat(3)}`
}

/** A sequence of JPEGs. `label` names a result of the graph. */
export function jpegArgs(label: 'thumbnails' | 'poster', target: string): string[] {
  return previewArgs(`[${label}]`, [], target)
}

/** `count`: options that set the number of frames. */
export function previewArgs(pad: string, count: readonly string[], target: string): string[] {
  return [
    ...['-map', pad, ...count, '-map_metadata', '-1', '-map_chapters', '-1'],
    ...['-c:v', 'mjpeg', '-q:v', `${QUALITY}`],
    // Each frame once: the muxer's default is a constant rate.
    ...['-fps_mode', 'passthrough'],
    // Leave out the tool's version.
    ...['-fflags', '+bitexact', '-flags:v', '+bitexact'],
    ...['-f', 'image2pipe', target],
  ]
}
