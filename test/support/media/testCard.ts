// In charge of: an asymmetric test card, and reading decoded pixels as colour names.
// Not in charge of: expectations.
import { decodeRaw, ffmpeg, probeStream, lavfi } from './media.ts'

/** Red top left, green top right, blue bottom left, white bottom right. */
export async function makeTestCard(
  path: string,
  options: { width?: number; height?: number; sar?: string; flags?: string[] } = {},
): Promise<string> {
  const { width = 320, height = 180, sar = '1/1', flags = [] } = options
  const field = (color: string, label: string) => `color=${color}:s=${width / 2}x${height / 2}:r=25:d=0.2[${label}]`
  const card = [
    field('red', 'a'),
    field('lime', 'b'),
    field('blue', 'c'),
    field('white', 'd'),
    '[a][b]hstack[t]',
    '[c][d]hstack[u]',
    `[t][u]vstack,setsar=${sar}`,
  ].join(';')
  await ffmpeg([...lavfi(card), '-c:v', 'libx264', '-qp', '4', '-pix_fmt', 'yuv420p', ...flags, path])
  return path
}

const names: [string, [number, number, number]][] = [
  ['black', [0, 0, 0]],
  ['grey', [128, 128, 128]],
  ['white', [255, 255, 255]],
  ['red', [255, 0, 0]],
  ['green', [0, 255, 0]],
  ['blue', [0, 0, 255]],
]

/**
 * The colours at the given fractions of width and height in the first frame; `?12,34,56` for a colour without a name.
 */
export async function colorsAt(path: string, points: readonly (readonly [number, number])[]): Promise<string[]> {
  const { width, height } = await probeStream(path, 'video')
  const raw = await decodeRaw(path, 'rgb24', ['-frames:v', '1'])
  return points.map(([x, y]) => {
    const at = 3 * (Math.floor(y * height) * width + Math.floor(x * width))
    const rgb = [...raw.subarray(at, at + 3)]
    const near = names.find(([, wanted]) => wanted.every((value, index) => Math.abs(value - (rgb[index] ?? 0)) <= 24))
    return near?.[0] ?? `?${rgb.join(',')}`
  })
}

/** Top left, top right, bottom left, bottom right, inside a video that fills this part of the frame. */
export function cornerPoints(part: { width?: number; height?: number } = {}): [number, number][] {
  const [x, y] = [0.25 * (part.width ?? 1), 0.25 * (part.height ?? 1)]
  return [
    [0.5 - x, 0.5 - y],
    [0.5 + x, 0.5 - y],
    [0.5 - x, 0.5 + y],
    [0.5 + x, 0.5 + y],
  ]
}
