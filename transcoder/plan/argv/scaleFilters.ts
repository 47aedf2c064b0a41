// In charge of: the filters that give frames an output's size and colours.
// Not in charge of: choosing the colours (color.ts), the other filters (filters.ts).
import { preservesPixels, preservesSize, scaledFrom } from '../video/color.ts'
import { swscaleMatrix, zscaleMatrix } from './colorNames.ts'
import type { PieceVideoPlan, ColorTags } from '#contract/task/plan/videoPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

/** PQ and HLG to BT.709 in linear light. All later filters read limited-range BT.709. */
export function toneMapFilters({ picture }: Pick<Plan, 'picture'>): string[] {
  if (picture.conversion !== 'toneMap') return []
  const range = picture.fullRange ? 'full' : 'limited'
  return [
    `zscale=min=${zscaleMatrix(picture.matrix)}:rin=${range}:pin=${picture.primaries}:tin=${picture.transfer}:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    // desat=0: the default desaturation bleaches skin.
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=limited',
    'format=yuv420p',
  ]
}

/** An output's size and colours, in one step where no quality is lost. Empty where the pixels stay unchanged. */
export function scaleFilters(plan: Pick<Plan, 'picture' | 'scaler'>, video: PieceVideoPlan): string[] {
  const { picture } = plan
  const { color } = video
  if (preservesPixels(picture, video, color)) return []
  const from = scaledFrom(picture)
  const range = from.fullRange ? 'full' : 'limited'
  const size = `w=${video.pictureWidth}:h=${video.pictureHeight}`
  if (plan.scaler === 'scale') {
    const read = picture.rgb ? '' : `:in_color_matrix=${swscaleMatrix(from.matrix)}:in_range=${range}`
    return [
      // accurate_rnd and full_chroma_int: without them swscale shifts colours by a level.
      `scale=${size}:flags=lanczos+accurate_rnd+full_chroma_int${read}:out_color_matrix=${swscaleMatrix(color.matrix)}:out_range=limited`,
      // swscale does not convert primaries.
      ...(from.primaries === color.primaries
        ? []
        : ['format=yuv420p', colorMatrixFilter({ ...from, matrix: color.matrix }, color)]),
    ]
  }
  // lanczos directly from the source: sharper than swscale's default and cheaper (performance, finding 3).
  const lanczos = `zscale=${size}:filter=lanczos`
  const isPlain = picture.conversion === 'toneMap' || (picture.plain && picture.conversion === 'none')
  if (isPlain && !picture.rgb && COLORMATRIX_NAMES.has(from.matrix) && COLORMATRIX_NAMES.has(color.matrix)) {
    const same = from.matrix === color.matrix && from.primaries === color.primaries
    const matrix = zscaleMatrix(from.matrix)
    return scaleThenConvert(
      video,
      preservesSize(video) ? [] : [`${lanczos}:min=${matrix}:rin=limited:m=${matrix}:r=limited`],
      same ? [] : [colorMatrixFilter(from, color)],
    )
  }
  // Every property is named, because zscale may refuse a frame's own tags. RGB has no matrix and is always full range.
  const read = picture.rgb ? '' : `:min=${zscaleMatrix(from.matrix)}`
  const convert = picture.conversion === 'gamut' || picture.hdr !== null
  const [primaries, curve] = convert
    ? [color.primaries, picture.hdr === null ? 'bt709' : picture.hdr.transfer]
    : [from.primaries, 'bt709']
  const colors = `pin=${from.primaries}:tin=${convert ? transferName(picture.transfer) : curve}:m=${color.matrix}:r=limited:p=${primaries}:t=${curve}`
  return [
    ...(picture.rgb ? ['format=gbrp'] : []),
    `${lanczos}${read}:rin=${range}:${colors}`,
    ...(primaries === color.primaries
      ? []
      : ['format=yuv420p', colorMatrixFilter({ ...from, matrix: color.matrix }, color)]),
  ]
}

/** SDR curves that players show alike get one name. Otherwise zscale would convert between them. */
export function transferName(transfer: string): string {
  return transfer === 'smpte170m' || transfer === 'bt470bg' ? 'bt709' : transfer
}

/** Converts colours at the smaller of the two sizes. */
function scaleThenConvert(video: PieceVideoPlan, scaler: readonly string[], converter: readonly string[]): string[] {
  const enlarges = video.pictureWidth * video.pictureHeight > video.cropWidth * video.cropHeight
  return enlarges ? [...converter, ...scaler] : [...scaler, ...converter]
}

/** Matrices that the `colorspace` filter accepts. */
const COLORMATRIX_NAMES = new Set(['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m'])

/**
 * Other coefficients or primaries for 8-bit frames of limited range. In integers this takes a sixth of zscale's time,
 * which goes through floating-point R'G'B' at full chroma resolution. Flat colours come out the same. Saturated edges
 * come closer to a video made with the other matrix, because chroma is not resampled: within 1 level (zscale: 23), luma
 * within 19 (22).
 */
function colorMatrixFilter(from: { matrix: string; primaries: string }, to: ColorTags): string {
  const spaces = `ispace=${from.matrix}:space=${to.matrix}:iprimaries=${from.primaries}:primaries=${to.primaries}`
  return `colorspace=${spaces}:itrc=bt709:trc=bt709:irange=tv:range=tv`
}
