// In charge of: lines of the vertical blanking above the picture in coded frames (SMPTE 356M, D-10/IMX, and captures of
// whole fields). The container may say where the picture is, but ffmpeg does not read that.
// Not in charge of: removing them (argv/steadyFrames.ts).
import type { VideoStream } from './mediaInfo.ts'
import { distance, multiply, ratio, toNumber, type Rational } from '../../formats/rational.ts'

/** Time code, test signals and teletext: 16 lines of each field. */
const LINES = 32
const RASTERS = [
  { height: 608, rates: [25, 50] },
  { height: 512, rates: [29.97, 59.94] },
] as const
const WIDTH = 720
const DISPLAYS = [ratio(4, 3), ratio(16, 9)]
const EXACT = 0.01

interface CodedFrame {
  codec: string
  width: number
  height: number
  sar: Rational
  frameRate: Rational | null
  fieldOrder: string
  pixelFormat: string
}

/** The size of the picture and the shape of its samples; {} = the frame is the picture. */
export function pictureLines(
  frame: CodedFrame,
  formats: readonly string[],
): Partial<Pick<VideoStream, 'height' | 'sar' | 'blanking'>> {
  const { width, height, sar, frameRate } = frame
  const raster = RASTERS.find((each) => each.height === height)
  if (width !== WIDTH || raster === undefined || !isTelevision(frame, formats)) return {}
  const rate = frameRate === null ? null : toNumber(frameRate)
  if (rate !== null && !raster.rates.some((each) => Math.abs(rate / each - 1) < EXACT)) return {}
  // Most programs state the display aspect of the picture, which ffprobe takes for the aspect of the whole frame.
  const isOfFrame = DISPLAYS.some((display) => distance(multiply(sar, ratio(width, height)), display) < EXACT)
  return {
    height: height - LINES,
    sar: isOfFrame ? multiply(sar, ratio(height - LINES, height)) : sar,
    blanking: { lines: LINES, sar },
  }
}

/** Not a video for the web that happens to have this size. */
function isTelevision({ codec, fieldOrder, pixelFormat }: CodedFrame, formats: readonly string[]): boolean {
  return (
    ['mxf', 'gxf'].some((format) => formats.includes(format)) ||
    codec === 'mpeg2video' ||
    pixelFormat.includes('422') ||
    !['progressive', 'unknown'].includes(fieldOrder)
  )
}
