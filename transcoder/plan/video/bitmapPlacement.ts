// In charge of: where the images of a bitmap subtitle track lie in an output.
// Not in charge of: the images (source/bitmapTrack.ts), the filters that draw them (argv/burnInArgs.ts).
import type { DrawnArea, Rectangle } from '../../formats/bitmapSubtitles/subtitleArea.ts'
import { toNumber } from '../../formats/rational.ts'
import type { Geometry } from '#contract/task/plan/videoPlan.ts'
import { centre, even } from './evenNumbers.ts'
import type { UprightSize } from './geometry.ts'

/** Larger canvases have square samples, whatever the samples of the video. */
const SD_LINES = 576
/** Aspects that differ by less belong together. */
const SAME_ASPECT = 0.03
/** Video that was cropped out of the canvas: between a square and 2.76:1 in one of 16:9. */
const CROPPED = { least: 0.7, most: 1.6 } as const

/**
 * The area of the canvas in the pixels of an output, with even numbers, within the picture. The canvas covers the picture as
 * the source shows it. Subtitles stay upright where the job turns or mirrors the video, and inside where it crops it.
 */
export function placeBitmaps(
  { canvas, area }: DrawnArea,
  codec: string,
  source: UprightSize,
  geometry: Geometry,
): Rectangle {
  const picture = {
    x: centre(geometry.width, geometry.pictureWidth),
    y: centre(geometry.height, geometry.pictureHeight),
    width: geometry.pictureWidth,
    height: geometry.pictureHeight,
  }
  const whole = canvasInOutput(canvas, codec, source, { geometry, picture })
  const [across, down] = [whole.width / canvas.width, whole.height / canvas.height]
  const wanted = {
    x: whole.x + area.x * across,
    y: whole.y + area.y * down,
    width: area.width * across,
    height: area.height * down,
  }
  const smaller = Math.min(1, picture.width / wanted.width, picture.height / wanted.height)
  const width = Math.min(picture.width, even(wanted.width * smaller))
  const height = Math.min(picture.height, even(wanted.height * smaller))
  // About the middle of the lower edge.
  const x = wanted.x + (wanted.width - width) / 2
  const y = wanted.y + wanted.height - height
  return {
    x: within(x, picture.x, picture.x + picture.width - width),
    y: within(y, picture.y, picture.y + picture.height - height),
    width,
    height,
  }
}

function within(value: number, least: number, most: number): number {
  return 2 * Math.round(Math.min(most, Math.max(least, value)) / 2)
}

/** Parts of it may lie outside of the picture. */
function canvasInOutput(
  canvas: { width: number; height: number },
  codec: string,
  source: UprightSize,
  { geometry, picture }: { geometry: Geometry; picture: Rectangle },
): Rectangle {
  const sourceAspect = toNumber(source.display)
  const isOfSource = codec === 'dvb_subtitle' || canvas.height <= SD_LINES
  const canvasAspect = isOfSource ? sourceAspect : canvas.width / canvas.height
  if (geometry.turn === 90 || geometry.turn === 270) return atBottom(picture, 1 / sourceAspect / canvasAspect)
  const width = (picture.width * source.width) / geometry.cropWidth
  const height = (picture.height * source.height) / geometry.cropHeight
  const full = {
    x: picture.x + (picture.width - width) / 2,
    y: picture.y + (picture.height - height) / 2,
    width,
    height,
  }
  /** Above 1, the video is wider than the canvas. */
  const wider = sourceAspect / canvasAspect
  if (Math.abs(wider - 1) <= SAME_ASPECT) return full
  if (wider < CROPPED.least || wider > CROPPED.most) return atBottom(full, wider)
  return wider > 1
    ? { ...full, y: full.y - (full.height * (wider - 1)) / 2, height: full.height * wider }
    : { ...full, x: full.x - (full.width * (1 / wider - 1)) / 2, width: full.width / wider }
}

/** As wide as the picture, at its lower edge. */
function atBottom(picture: Rectangle, wider: number): Rectangle {
  const height = picture.height * wider
  return { ...picture, y: picture.y + picture.height - height, height }
}
