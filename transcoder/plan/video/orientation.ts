// In charge of: the effect of video_aspect_ratio and picture_transform on a source: its rotation and its aspect ratios.
// Not in charge of: sizes in pixels of an output (geometry.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { type Rational, divide, invert, ratio } from '../../formats/rational.ts'
import type { Geometry } from '#contract/task/plan/videoPlan.ts'

export interface Orientation {
  /** In addition to the source's own rotation. The image is rotated first and mirrored afterwards. */
  turn: Geometry['turn']
  mirror: Geometry['mirror']
  /** Size of the source in pixels, after the rotation. */
  width: number
  height: number
  /** The size that width 0 and height 0 stand for. */
  frameWidth: number
  frameHeight: number
  /** Display aspect of the image. */
  pictureAspect: Rational
  /** Display aspect of the frame around it. */
  frameAspect: Rational
  /** Sample aspect of the frame where it keeps the source's samples. */
  sar: Rational
  /** The frame is rotated with the image. */
  frameTurned: boolean
  /** The job requests square samples. */
  square: boolean
}

const turns: Record<JobSpec['aspect'], 0 | 90 | 270> = {
  passthrough: 0,
  'force_4:3': 0,
  'force_16:9': 0,
  invert_aspect_ratio: 0,
  rotate_clockwise: 90,
  rotate_counterclockwise: 270,
  'rotate_counterclockwise + invert_aspect_ratio': 270,
}
const mirrors = { hflip: 'horizontal', vflip: 'vertical' } as const
const squares: readonly JobSpec['transform'][] = ['letterbox', 'crop', 'stretch']

export function orient(spec: JobSpec, source: { width: number; height: number; display: Rational }): Orientation {
  const { aspect, transform } = spec
  const aside = turns[aspect] !== 0
  const [width, height] = aside ? [source.height, source.width] : [source.width, source.height]
  const follows = aspect === 'rotate_counterclockwise + invert_aspect_ratio'
  const sampleAspect = divide(source.display, ratio(source.width, source.height))
  const [pictureAspect, frameAspect] = displayAspects(aspect, source.display)
  return {
    turn: transform === 'rotate180' ? halfway[turns[aspect]] : turns[aspect],
    mirror: transform === 'hflip' || transform === 'vflip' ? mirrors[transform] : 'none',
    width,
    height,
    // With bars the frame keeps the source's size. Where the display aspect is rotated as well, so is the frame.
    frameWidth: follows ? width : source.width,
    frameHeight: follows ? height : source.height,
    pictureAspect,
    frameAspect,
    sar: follows ? invert(sampleAspect) : sampleAspect,
    frameTurned: follows,
    square: squares.includes(transform),
  }
}

const halfway = { 0: 180, 90: 270, 270: 90 } as const

/** Display aspects of the image and of its frame. They differ where a rotated image has a frame that is not rotated. */
function displayAspects(aspect: JobSpec['aspect'], source: Rational): [picture: Rational, frame: Rational] {
  const inverted = invert(source)
  switch (aspect) {
    case 'passthrough':
      return [source, source]
    case 'force_4:3':
      return [ratio(4, 3), ratio(4, 3)]
    case 'force_16:9':
      return [ratio(16, 9), ratio(16, 9)]
    case 'invert_aspect_ratio':
    case 'rotate_counterclockwise + invert_aspect_ratio':
      return [inverted, inverted]
    case 'rotate_clockwise':
    case 'rotate_counterclockwise':
      return [inverted, source]
  }
}
