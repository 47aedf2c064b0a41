// In charge of: the image of a logo, and single pixels of an output.
// Not in charge of: expectations.
import { readFile } from 'node:fs/promises'
import { decodeRaw, ffmpeg, probeStream, lavfi } from './media.ts'

/** The left half is red, the right half transparent. */
export async function makeLogoImage(path: string, flags: string[] = [], size = '200x200'): Promise<Buffer> {
  const half = (color: string, label: string) => `color=${color}:s=${size},format=rgba[${label}]`
  const graph = `${half('red', 'a')};${half('green@0', 'b')};[a][b]hstack`
  await ffmpeg([...lavfi(graph), '-frames:v', '1', ...flags, path])
  return readFile(path)
}

/** Y, Cb, Cr of one pixel of the last frame. */
export async function readYuvAt(path: string, x: number, y: number): Promise<number[]> {
  const { width, height } = await probeStream(path, 'video')
  const raw = await decodeRaw(path, 'yuv420p')
  const picture = raw.subarray(-(width * height * 3) / 2)
  const chroma = width * height + (y >> 1) * (width / 2) + (x >> 1)
  return [picture[y * width + x], picture[chroma], picture[chroma + (width * height) / 4]].map(Number)
}
