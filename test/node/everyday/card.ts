// In charge of: the picture and the sound that the rows of the everyday are made of: each picture names its time, its
// corners have colours, and in each second there are a flash and a beep.
// Not in charge of: containers and codecs (rows), reading them back (watch.ts).
import { open } from 'node:fs/promises'

/** Bits of a mark, from left to right, the highest first. A mark is a time in hundredths of a second. */
export const MARK_BITS = 12
/** Place of the parts, in fractions of width and height. */
export const CARD = {
  corner: 0.25,
  bits: { left: 0.1, right: 0.9, top: 0.42, bottom: 0.58 },
  flash: { left: 0.4, right: 0.6, bottom: 0.25 },
} as const
/** Tones in Hz of the channels of 5.1, and the beep. */
export const TONES = [300, 600, 450, 60, 750, 900] as const
export const BEEP = 1000

type Yuv = readonly [number, number, number]
const [GREY, BLACK, WHITE, RED, GREEN, BLUE]: readonly Yuv[] = [
  [126, 128, 128],
  [16, 128, 128],
  [235, 128, 128],
  [81, 90, 240],
  [145, 54, 34],
  [41, 240, 110],
]

export const markOf = (second: number): number => Math.round(second * 100)

/** Is there a flash, and a beep? Not at 0: encoders alter what is there. */
const flashes = (second: number): boolean => second >= 0.95 && (second + 1e-6) % 1 < 0.1

/** One picture, as yuv420p. Width and height are even. */
function drawCard(width: number, height: number, second: number): Buffer {
  const planes = Buffer.alloc((width * height * 3) / 2)
  const fill = (left: number, top: number, right: number, bottom: number, [y, u, v]: Yuv): void => {
    const at = (part: number, size: number): number => Math.round((part * size) / 2) * 2
    const [x0, x1, y0, y1] = [at(left, width), at(right, width), at(top, height), at(bottom, height)]
    for (let row = y0; row < y1; row += 1) planes.fill(y, row * width + x0, row * width + x1)
    for (const [plane, value] of [u, v].entries()) {
      const start = width * height + (plane * width * height) / 4
      for (let row = y0 / 2; row < y1 / 2; row += 1)
        planes.fill(value, start + (row * width) / 2 + x0 / 2, start + (row * width) / 2 + x1 / 2)
    }
  }
  const { corner, bits, flash } = CARD
  fill(0, 0, 1, 1, GREY!)
  fill(0, 0, corner, corner, RED!)
  fill(1 - corner, 0, 1, corner, GREEN!)
  fill(0, 1 - corner, corner, 1, BLUE!)
  fill(1 - corner, 1 - corner, 1, 1, WHITE!)
  fill(flash.left, 0, flash.right, flash.bottom, flashes(second) ? WHITE! : BLACK!)
  const mark = markOf(second)
  const step = (bits.right - bits.left) / MARK_BITS
  for (let bit = 0; bit < MARK_BITS; bit += 1) {
    const left = bits.left + bit * step
    fill(left, bits.top, left + step, bits.bottom, ((mark >> (MARK_BITS - 1 - bit)) & 1) === 1 ? WHITE! : BLACK!)
  }
  return planes
}

export interface CardOptions {
  width?: number
  height?: number
  rate?: number
  seconds: number
  /** Time that the first picture shows: that of a later part. */
  from?: number
}

/** Writes raw pictures; returns ffmpeg's arguments of them as an input. */
export async function writeCard(path: string, options: CardOptions): Promise<string[]> {
  const { width = 320, height = 180, rate = 25, seconds, from = 0 } = options
  await using file = await open(path, 'w')
  for (let frame = 0; frame < Math.round(seconds * rate); frame += 1)
    await file.write(drawCard(width, height, from + frame / rate))
  return ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${width}x${height}`, '-r', `${rate}`, '-i', path]
}

/** Arguments of a sound as an input: in each channel its tone, and the beep in all of them except that of the basses. */
export function cardSound(seconds: number, { channels = 2, from = 0, rate = 48_000 } = {}): string[] {
  const beep = `0.4*sin(2*PI*${BEEP}*t)*lt(mod(t+${from}\\,1)\\,0.05)*gte(t+${from}\\,0.95)`
  const tone = (hertz: number): string => `0.1*sin(2*PI*${hertz}*(t+${from}))${hertz === TONES[3] ? '' : `+${beep}`}`
  const expressions = TONES.slice(0, channels).map(tone).join('|')
  const layout = { 1: 'mono', 2: 'stereo', 4: '4.0', 6: '5.1' }[channels] ?? 'stereo'
  return ['-f', 'lavfi', '-i', `aevalsrc=exprs=${expressions}:s=${rate}:d=${seconds}:c=${layout}`]
}
