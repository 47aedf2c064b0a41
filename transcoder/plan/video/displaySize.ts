// In charge of: the display size of a source: upright, after the job's rotation and aspect ratio, in square pixels.
// Not in charge of: the size of an output (geometry.ts, ladder.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { uprightSize } from './geometry.ts'
import type { VideoStream } from '../model/mediaInfo.ts'
import type { Rational } from '../../formats/rational.ts'
import { orient } from './orientation.ts'
import { toNumber } from '../../formats/rational.ts'

export interface Size {
  width: number
  height: number
}

/** The number of lines is kept and the width is stretched: a 720x576 frame of 16:9 is displayed as 1024x576. */
export function displaySize(spec: JobSpec, video: VideoStream): { picture: Size; frame: Size } {
  const oriented = orient(spec, uprightSize(video))
  const onSide = video.rotation === 90 || video.rotation === 270
  const isTurned = oriented.turn === 90 || oriented.turn === 270
  const frameTurned = spec.aspect === 'rotate_counterclockwise + invert_aspect_ratio'
  return {
    picture: square(oriented.width, oriented.height, oriented.pictureAspect, onSide !== isTurned),
    frame: square(oriented.frameWidth, oriented.frameHeight, oriented.frameAspect, onSide !== frameTurned),
  }
}

function square(width: number, height: number, display: Rational, linesUpright: boolean): Size {
  return linesUpright ? { width, height: width / toNumber(display) } : { width: height * toNumber(display), height }
}
