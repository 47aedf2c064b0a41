// In charge of: a recording whose frames change midway in size, sample aspect or pixel format, and reading the number of
// every frame of what was made of it.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { ffmpeg, lavfi } from './media.ts'
import { noise } from './numberedClip.ts'

const BITS = 12
/** Luma of the two levels of a bit. Bars are darker than both. */
const LOW = 80
const HIGH = 235
export const RATE = 25

export interface ClipPart {
  frames: number
  width: number
  height: number
  sar?: string
  pixelFormat?: string
}

/** H.264 in one stream, with noise as audio. Every frame shows its number in black and white columns. */
export async function makeChangingClip(path: string, parts: readonly ClipPart[]): Promise<string> {
  const joined: Buffer[] = []
  let begin = 0
  for (const [index, { frames, width, height, sar = '1', pixelFormat = 'yuv420p' }] of parts.entries()) {
    const bits = `geq=lum='if(mod(floor((N+${begin})/pow(2\\,floor(X*${BITS}/${width})))\\,2)\\,${HIGH}\\,${LOW})':cb=128:cr=128`
    const file = `${path}.${index}.h264`
    await ffmpeg([
      ...['-y', ...lavfi(`color=black:s=${width}x${height}:r=${RATE},format=yuv420p,${bits}`)],
      ...['-frames:v', `${frames}`, '-vf', `setsar=${sar}`],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '0', '-pix_fmt', pixelFormat, file],
    ])
    joined.push(await readFile(file))
    begin += frames
  }
  const video = `${path}.h264`
  await writeFile(video, Buffer.concat(joined))
  await ffmpeg([
    ...['-y', '-framerate', `${RATE}`, '-i', video, ...lavfi(noise(begin / RATE))],
    ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac', path],
  ])
  return path
}

/** Columns of the picture between the bars. */
export interface Picture {
  left: number
  width: number
}

interface SeenFrame {
  number: number
  /** Luma of the brightest and the darkest bit, and of the brightest pixel of the bars (0 without bars). */
  high: number
  low: number
  bar: number
}

/** `pictureOf`: by the frame's place in the file. */
export async function seeFrames(
  path: string,
  [width, height]: [number, number],
  pictureOf: (frame: number) => Picture,
): Promise<SeenFrame[]> {
  const pixels = await ffmpeg([
    ...['-i', path, '-map', '0:v:0', '-fps_mode', 'passthrough'],
    ...['-vf', `scale=${width}:${height}:out_range=limited`, '-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-'],
  ])
  const size = (width * height * 3) / 2
  return Array.from({ length: pixels.length / size }, (_, frame) => {
    const row = pixels.subarray(frame * size + (height / 2) * width).subarray(0, width)
    const { left, width: across } = pictureOf(frame)
    const bits = Array.from({ length: BITS }, (_bit, bit) => row[Math.floor(left + ((bit + 0.5) * across) / BITS)]!)
    // Four columns next to the picture may be blurred.
    const bars = [...row.subarray(0, Math.max(0, left - 4)), ...row.subarray(Math.min(width, left + across + 4))]
    return {
      number: bits.reduce((sum, level, bit) => sum + (level > (LOW + HIGH) / 2 ? 2 ** bit : 0), 0),
      high: Math.max(...bits),
      low: Math.min(...bits),
      bar: Math.max(0, ...bars),
    }
  })
}
