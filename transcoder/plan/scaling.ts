// In charge of: the filters that give pictures an output's size and colours.
// Not in charge of: which colours these are (color.ts), the filters around them (filters.ts).
import { keepsPixels } from './color.ts'
import type { Plan, VideoPlan } from './plan.ts'

/** zscale's name where it differs from ffmpeg's (its table has a typing error for SMPTE 240M). */
const zscaleMatrix: Record<string, string> = { smpte240m: 'smpte2400m' }
/** swscale knows fewer names; BT.470BG, SMPTE 170M and BT.601 are one matrix. */
export const swscaleMatrix: Record<string, string> = {
  bt470bg: 'bt601',
  smpte170m: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
}

/** PQ and HLG to BT.709 in linear light; everything after it reads limited-range BT.709. */
export function toneMap({ picture }: Pick<Plan, 'picture'>): string[] {
  if (picture.conversion !== 'toneMap') return []
  const range = picture.fullRange ? 'full' : 'limited'
  return [
    `zscale=min=${zscaleMatrix[picture.matrix] ?? picture.matrix}:rin=${range}:pin=${picture.primaries}:tin=${picture.transfer}:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    // desat=0: the default desaturation bleaches skin.
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=limited',
    'format=yuv420p',
  ]
}

/** An output's size and colours, in one step where nothing is lost by it. Empty where the pixels stay what they are. */
export function scale(plan: Plan, video: VideoPlan): string[] {
  const { picture } = plan
  const mapped = picture.conversion === 'toneMap'
  const matrix = mapped ? 'bt709' : picture.matrix
  const fullRange = !mapped && picture.fullRange
  if (keepsPixels(picture, video, video.color)) return []

  const size = `w=${video.pictureWidth}:h=${video.pictureHeight}`
  if (plan.scaler === 'scale') {
    const from = picture.rgb
      ? ''
      : `:in_color_matrix=${swscaleMatrix[matrix] ?? matrix}:in_range=${fullRange ? 'full' : 'limited'}`
    // accurate_rnd and full_chroma_int: without them swscale shifts colours by a level.
    return [
      `scale=${size}:flags=lanczos+accurate_rnd+full_chroma_int${from}:out_color_matrix=${swscaleMatrix[video.color.matrix] ?? video.color.matrix}:out_range=limited`,
    ]
  }
  // lanczos straight from the source: sharper than swscale's default and cheaper (performance, finding 3).
  const lanczos = `zscale=${size}:filter=lanczos`
  if (picture.conversion !== 'gamut' && (picture.plain || mapped) && swapsMatrix(matrix, video.color.matrix)) {
    const kept = `:min=${matrix}:rin=limited:m=${matrix}:r=limited`
    return [`${lanczos}${kept}`, recode(matrix, video.color.matrix)]
  }
  // zscale wants to be told what untagged input is; RGB has no matrix of its own and is always full range.
  const read = picture.rgb ? '' : `:min=${zscaleMatrix[matrix] ?? matrix}`
  const gamut =
    picture.conversion === 'gamut'
      ? `:pin=${picture.primaries}:p=bt709:tin=${picture.transfer}:t=bt709`
      : picture.hdr !== null && picture.primaries !== 'bt2020'
        ? `:pin=${picture.primaries}:p=bt2020:tin=${picture.transfer}:t=${picture.transfer}`
        : ''
  const filter = `${lanczos}${read}:rin=${fullRange ? 'full' : 'limited'}:m=${video.color.matrix}:r=limited${gamut}`
  return picture.rgb ? ['format=gbrp', filter] : [filter]
}

/** BT.709 to BT.601 or back; BT.601 goes by two names. */
function swapsMatrix(from: string, to: string): boolean {
  const sd = ['smpte170m', 'bt470bg']
  return (from === 'bt709' && sd.includes(to)) || (to === 'bt709' && sd.includes(from))
}

/**
 * Another matrix for 8-bit pictures of limited range, after scaling: in integers, a sixth of what zscale takes for it by way of
 * floating-point R'G'B' at full chroma resolution. Flat colours come out the same; on saturated edges it is nearer to a picture
 * that was made with the other matrix, since chroma is not resampled: within 1 level (zscale: 23), luma within 19 (22).
 * With the same primaries and transfer on both sides nothing else is touched.
 */
function recode(from: string, to: string): string {
  const same = 'iprimaries=bt709:primaries=bt709:itrc=bt709:trc=bt709:irange=tv:range=tv'
  return `colorspace=ispace=${from}:space=${to}:${same}`
}
