// In charge of: colour bars computed in a colour system without ffmpeg (ITU-R BT.601, BT.709), and converting decoded
// bars back to linear light, so that no converter of ffmpeg checks another.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { writeFile } from 'node:fs/promises'
import { decodeRaw, ffmpeg, probeStream } from './media.ts'

type Triple = readonly [number, number, number]

/** CIE 1931 x and y of red, green and blue (ITU-T H.273 table 2); white is D65. */
const chromaticities: Record<string, readonly (readonly [number, number])[]> = {
  bt709: [
    [0.64, 0.33],
    [0.3, 0.6],
    [0.15, 0.06],
  ],
  bt470bg: [
    [0.64, 0.33],
    [0.29, 0.6],
    [0.15, 0.06],
  ],
  smpte170m: [
    [0.63, 0.34],
    [0.31, 0.595],
    [0.155, 0.07],
  ],
}
/** Weights of red and blue in luma. */
const lumas: Record<string, readonly [number, number]> = {
  bt709: [0.2126, 0.0722],
  bt470bg: [0.299, 0.114],
  smpte170m: [0.299, 0.114],
}

/** Bars in R'G'B' of BT.709, 0 to 1: inside every gamut, since values outside a gamut are clipped. */
const BARS: readonly Triple[] = [
  [0.75, 0.75, 0.75],
  [0.75, 0.75, 0.25],
  [0.25, 0.75, 0.75],
  [0.25, 0.75, 0.25],
  [0.75, 0.25, 0.75],
  [0.75, 0.25, 0.25],
  [0.25, 0.25, 0.75],
  [0.1, 0.1, 0.1],
]

export interface ColorSystem {
  primaries: string
  matrix: string
  fullRange?: boolean
}

/** Raw bars in that colour system, without any conversion, tagged with `tags`. The file's name ends in .mkv. */
export async function makeColorBars(
  path: string,
  system: ColorSystem,
  options: { width: number; height: number; rate?: string; tags: readonly string[] },
): Promise<string> {
  const { width, height, rate = '25', tags } = options
  const [luma, blue, red] = [width * height, (width * height) / 4, (width * height) / 4]
  const picture = Buffer.alloc(luma + blue + red)
  const codes = BARS.map((bar) => encodeColor(fromLight(toLight(bar, 'bt709'), system.primaries), system))
  const bar = (x: number, lineWidth: number) => codes[Math.floor((x * codes.length) / lineWidth)]!
  for (let at = 0; at < luma; at += 1) picture[at] = bar(at % width, width)[0]
  for (let at = 0; at < blue; at += 1) {
    const code = bar(at % (width / 2), width / 2)
    picture[luma + at] = code[1]
    picture[luma + blue + at] = code[2]
  }
  const raw = `${path}.yuv`
  await writeFile(raw, Buffer.concat(Array.from({ length: 4 }, () => picture)))
  await ffmpeg([
    ...['-f', 'rawvideo', '-s', `${width}x${height}`, '-r', rate, '-pix_fmt', 'yuv420p', '-i', raw],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '4', ...tags, path],
  ])
  return path
}

/**
 * Difference between a decoded frame's bars and the original ones, in 255ths of R'G'B' of BT.709, according to its
 * tags.
 */
export async function colorBarsError(path: string): Promise<number> {
  const { width, height, color_space: matrix, color_primaries: primaries } = await probeStream(path, 'video')
  const raw = await decodeRaw(path, 'yuv420p', ['-frames:v', '1'])
  const [y, line] = [Math.floor(height / 2), Math.floor(height / 4)]
  const errors = BARS.flatMap((wanted, index) => {
    const part = (index + 0.5) / BARS.length
    const [x, half] = [Math.floor(part * width), Math.floor((part * width) / 2)]
    const luma = width * height
    const chroma = luma + line * Math.ceil(width / 2) + half
    const code = [raw[y * width + x]!, raw[chroma]!, raw[chroma + luma / 4]!] as const
    const seen = fromLight(toLight(decodeColor(code, { matrix, primaries }), primaries), 'bt709')
    return seen.map((value, channel) => Math.abs(value - wanted[channel]!) * 255)
  })
  return Math.max(...errors)
}

function encodeColor([r, g, b]: Triple, { matrix, fullRange = false }: ColorSystem): [number, number, number] {
  const [kr, kb] = lumas[matrix]!
  const y = kr * r + (1 - kr - kb) * g + kb * b
  const [cb, cr] = [(b - y) / (2 * (1 - kb)), (r - y) / (2 * (1 - kr))]
  const code = (value: number) => Math.max(1, Math.min(254, Math.round(value)))
  return fullRange
    ? [code(255 * y), code(128 + 255 * cb), code(128 + 255 * cr)]
    : [code(16 + 219 * y), code(128 + 224 * cb), code(128 + 224 * cr)]
}

function decodeColor([luma, blue, red]: Triple, { matrix }: ColorSystem): Triple {
  const [kr, kb] = lumas[matrix]!
  const [y, cb, cr] = [(luma - 16) / 219, (blue - 128) / 224, (red - 128) / 224]
  const [r, b] = [y + 2 * (1 - kr) * cr, y + 2 * (1 - kb) * cb]
  return [r, (y - kr * r - kb * b) / (1 - kr - kb), b]
}

/** BT.601 and BT.709 share one transfer curve. Below zero it continues as a straight line. */
function linear(value: number): number {
  return value < 0.081 ? value / 4.5 : ((value + 0.099) / 1.099) ** (1 / 0.45)
}
function curved(value: number): number {
  return value < 0.018 ? value * 4.5 : 1.099 * value ** 0.45 - 0.099
}

/** CIE XYZ. */
function toLight([r, g, b]: Triple, primaries: string): Triple {
  return apply(basis(primaries), [linear(r), linear(g), linear(b)])
}
function fromLight(light: Triple, primaries: string): Triple {
  const [r, g, b] = apply(inverse(basis(primaries)), light)
  return [curved(r), curved(g), curved(b)]
}

type Matrix = readonly [Triple, Triple, Triple]

function basis(primaries: string): Matrix {
  const columns = chromaticities[primaries]!.map(([x, y]): Triple => [x / y, 1, (1 - x - y) / y])
  const [white, [red, green, blue]] = [
    [0.3127 / 0.329, 1, 0.3583 / 0.329] as const,
    columns as [Triple, Triple, Triple],
  ]
  const plain: Matrix = [0, 1, 2].map((row) => [red[row], green[row], blue[row]]) as unknown as Matrix
  const weights = apply(inverse(plain), white)
  return plain.map((row) => row.map((value, column) => value * weights[column]!)) as unknown as Matrix
}

function apply(matrix: Matrix, [a, b, c]: Triple): Triple {
  return matrix.map(([x, y, z]) => x * a + y * b + z * c) as unknown as Triple
}

function inverse([[a, b, c], [d, e, f], [g, h, i]]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
  return [
    [(e * i - f * h) / determinant, (c * h - b * i) / determinant, (b * f - c * e) / determinant],
    [(f * g - d * i) / determinant, (a * i - c * g) / determinant, (c * d - a * f) / determinant],
    [(d * h - e * g) / determinant, (b * g - a * h) / determinant, (a * e - b * d) / determinant],
  ]
}
