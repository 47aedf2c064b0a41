// In charge of: size and position of a logo in one output's pixels.
// Not in charge of: the filters that draw it (filters.ts, ffmpegArgs.ts).
import type { LogoSpec } from '#contract/job/jobSpec.ts'
import type { LogoImage } from '../model/mediaInfo.ts'
import type { Geometry, LogoPlan } from '#contract/task/plan/videoPlan.ts'
import { even } from './evenNumbers.ts'
import { toNumber } from '../../formats/rational.ts'

/** Width of the logo as a share of the frame's width; margins as a share of the frame's width and height. */
const WIDTH_SHARE = 0.15
const MARGIN_SHARE = 0.03

/**
 * 15 % of the width, in the logo's own aspect ratio as displayed. Smaller only where it would be taller than the frame.
 */
export function planLogo(logo: LogoSpec, image: LogoImage, geometry: Geometry): LogoPlan {
  const { width, height } = geometry
  const [marginX, marginY] = [width * MARGIN_SHARE, height * MARGIN_SHARE]
  // A sample is sar times as wide as high: a logo of w samples is displayed w × sar wide.
  const perWidth = (image.height / image.width) * toNumber(geometry.sar)
  const fitted = Math.min(width * WIDTH_SHARE, (height - 2 * marginY) / perWidth)
  const [logoWidth, logoHeight] = [even(fitted), Math.min(height, even(fitted * perWidth))]
  const right = logo.position.endsWith('right')
  const bottom = logo.position.startsWith('bottom')
  // Even: chroma has half the resolution.
  const x = 2 * Math.round((right ? width - logoWidth - marginX : marginX) / 2)
  const y = 2 * Math.round((bottom ? height - logoHeight - marginY : marginY) / 2)
  return {
    width: logoWidth,
    height: logoHeight,
    x: Math.max(0, x),
    y: Math.max(0, y),
    opacity: logo.opacityPercent / 100,
  }
}
